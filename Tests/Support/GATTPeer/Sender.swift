// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothLE
import BluetoothPackets

/// Sends numbered values without duplicates and gaps, as fast as the central accepts them.
struct Sender {
    let server: PeripheralServer
    let handle: AttributeHandle
    let total: UInt32
    private var sent: UInt32 = 0
    /// Centrals that had no room for the last value.
    private var missing: [GATTServer.PeerID] = []

    init(_ server: PeripheralServer, _ handle: AttributeHandle, total: UInt32) {
        self.server = server
        self.handle = handle
        self.total = total
    }

    /// Returns 20 bytes that contain the number and differ for each number.
    static func value(_ number: UInt32) -> [UInt8] {
        (0..<20).map { index in
            index < 4
                ? UInt8(truncatingIfNeeded: number >> (8 * UInt32(index)))
                : UInt8(truncatingIfNeeded: number &* 31 &+ UInt32(index))
        }
    }

    /// Sends as many values as fit; returns true if all were sent.
    mutating func advance() async throws(BluetoothError) -> Bool {
        if !missing.isEmpty {
            missing = try await server.updateValue(Self.value(sent &- 1), of: handle, for: missing)
        }
        while missing.isEmpty, sent < total {
            missing = try await server.updateValue(Self.value(sent), of: handle)
            sent += 1
        }
        return missing.isEmpty
    }
}
