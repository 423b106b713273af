// SPDX-License-Identifier: GPL-2.0-or-later
//
// The modules of the packets and of the protocol, exported again so that a program needs one import only.

@_exported public import BluetoothHost
@_exported public import BluetoothPackets
