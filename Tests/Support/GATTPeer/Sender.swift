// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothLE
import BluetoothPackets

/// Sends numbered values, none twice and none skipped, as fast as the central takes them.
struct Sender {
    let server: PeripheralServer
    let handle: AttributeHandle
    let total: UInt32
    private var sent: UInt32 = 0
    /// The centrals that had no room for the value that was sent last.
    private var missing: [GATTServer.PeerID] = []

    init(_ server: PeripheralServer, _ handle: AttributeHandle, total: UInt32) {
        self.server = server
        self.handle = handle
        self.total = total
    }

    /// 20 bytes that bear their number, and that no other number's are.
    static func value(_ number: UInt32) -> [UInt8] {
        (0..<20).map { index in
            index < 4
                ? UInt8(truncatingIfNeeded: number >> (8 * UInt32(index)))
                : UInt8(truncatingIfNeeded: number &* 31 &+ UInt32(index))
        }
    }

    /// Sends what there is room for; true when all is sent.
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
