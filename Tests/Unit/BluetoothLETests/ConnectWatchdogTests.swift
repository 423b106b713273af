// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing

@testable import BluetoothAdapters

/// Evidence that the kernel is connecting.
@Suite(.timeLimit(.minutes(10))) struct ConnectWatchdogTests {
    private static func complete(_ opcode: HCIOpcode, status: UInt8 = 0) -> [UInt8] {
        [0x04, 0x0E, 0x04, 0x01, UInt8(truncatingIfNeeded: opcode.rawValue), UInt8(opcode.rawValue >> 8), status]
    }

    private static func status(_ opcode: HCIOpcode, status: UInt8 = 0) -> [UInt8] {
        [0x04, 0x0F, 0x04, status, 0x01, UInt8(truncatingIfNeeded: opcode.rawValue), UInt8(opcode.rawValue >> 8)]
    }

    @Test("Without a sign the discovery is to be ended after 3 s, and each 3 s more")
    func stalled() {
        var evidence = ConnectWatchdog(now: .seconds(10))
        #expect(evidence.deadline == .seconds(13))
        #expect(evidence.check(now: .seconds(12)) == .wait)
        #expect(evidence.check(now: .seconds(13)) == .endDiscovery)
        #expect(evidence.deadline == .seconds(16))
        #expect(evidence.check(now: .seconds(15)) == .wait)
        #expect(evidence.check(now: .seconds(17)) == .endDiscovery)
    }

    @Test(
        "What the kernel does first is a sign, whatever its version",
        arguments: [
            complete(.leAddDeviceToFilterAcceptList), complete(.leSetScanEnable), complete(.leSetExtendedScanEnable),
            status(.leCreateConnection), status(.leExtendedCreateConnection),
        ]
    )
    func begun(_ packet: [UInt8]) {
        var evidence = ConnectWatchdog(now: .zero)
        evidence.handle(packet.span)
        #expect(evidence.isBegun && evidence.deadline == nil)
        #expect(evidence.check(now: .seconds(60)) == .wait)
    }

    @Test(
        "What is refused, and what has nothing to do with a connection, is none",
        arguments: [
            complete(.leSetExtendedScanEnable, status: 0x0C), status(.leExtendedCreateConnection, status: 0x0C),
            complete(.leSetAdvertisingEnable), complete(.readLocalSupportedCommands),
            [0x04, 0x0E, 0x03, 0x01, 0x42, 0x20],
            [0x04, 0x0E], [],
        ]
    )
    func notBegun(_ packet: [UInt8]) {
        var evidence = ConnectWatchdog(now: .zero)
        evidence.handle(packet.span)
        #expect(!evidence.isBegun && evidence.check(now: .seconds(3)) == .endDiscovery)
    }
}
