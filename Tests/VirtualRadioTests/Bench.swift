// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing
import VirtualRadio
