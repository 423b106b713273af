// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Devices
import SystemPackage
import TestSupport
import Testing

@Suite("`gatt` and the keys of a device", .timeLimit(.minutes(10)))
struct BondedGATTTests {
    private static let device = "C0:FF:EE:01:00:03"

    /// Reads the name of a device that does not have the keys of its bond with the adapter.
    private func read(adapter: UInt64) throws -> Outcome {
        let home = try TestDirectory()
        let key = LongTermKey(
            (1...16).map { UInt8($0) },
            isAuthenticated: false,
            isSecureConnections: true,
            role: .central
        )
        let bond = Bond(
            identityAddress: DeviceAddress(try #require(BluetoothAddress(Self.device)), .public),
            localAddress: BluetoothAddress(rawValue: adapter),
            longTermKeys: [key].compactMap(\.self),
            identityResolvingKey: nil
        )
        try BondStore(FilePath(home("bonds"))).add(try #require(bond))
        let command = ["gatt", Self.device, "read", "2A00", "--adapter", "memory:"]
        return try withExtendedLifetime(home) { try run(command, environment: home.environment) }
    }

    @Test("A paired device that does not prove its keys is not read, and the failure names the fix")
    func wrongKeys() throws {
        let outcome = try read(adapter: 0xC0FF_EE00_0002)
        #expect(outcome.status == 77 && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.error.contains("`blewedge forget \(Self.device)`"), "\(outcome)")
    }

    @Test("A bond with another adapter changes nothing")
    func otherAdapter() throws {
        let outcome = try read(adapter: 0x00AA_0100_0042)
        #expect(outcome.status == 0 && outcome.output.contains("SCALE-15K"), "\(outcome)")
    }
}
