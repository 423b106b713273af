// SPDX-License-Identifier: GPL-2.0-or-later
//
// One import gives a user of the library the packets' values and the protocol's too.

@_exported public import BluetoothHost
@_exported public import BluetoothPackets
