// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing

@testable import BluetoothAdapters

@Suite(.timeLimit(.minutes(10))) struct StaleConnectAttemptsTests {
    private func device(_ last: UInt64) throws -> ManagementAddress {
        ManagementAddress(try #require(BluetoothAddress("F0:F1:F2:F3:F4:\(String(last + 0x10, radix: 16))")), .leRandom)
    }

    @Test("A link to a device whose attempt failed is nobody's, once; no other link is")
    func orphan() throws {
        var attempts = StaleConnectAttempts()
        let (chosen, other) = (try device(1), try device(2))
        attempts.noteBeginning(chosen)
        var taken = [attempts.takesLink(chosen)]
        attempts.noteFailure(chosen)
        for link in [other, ManagementAddress(chosen.address, .lePublic), chosen, chosen] {
            taken.append(attempts.takesLink(link))
        }
        #expect(taken == [false, false, false, true, false])
    }

    @Test("The link that the next attempt brings is its own")
    func repeated() throws {
        var attempts = StaleConnectAttempts()
        let chosen = try device(1)
        for _ in 0..<3 {
            attempts.noteFailure(chosen)
            attempts.noteBeginning(chosen)
            let isTaken = attempts.takesLink(chosen)
            #expect(!isTaken)
        }
    }

    @Test("Of many devices whose attempts failed the last sixteen are remembered")
    func bounded() throws {
        var attempts = StaleConnectAttempts()
        for last in 0..<40 { attempts.noteFailure(try device(UInt64(last))) }
        var taken: [Int] = []
        for last in 0..<40 where attempts.takesLink(try device(UInt64(last))) { taken.append(last) }
        #expect(taken == Array(24..<40))
    }
}
