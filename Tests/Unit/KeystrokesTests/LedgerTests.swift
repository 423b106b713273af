// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@testable import Keystrokes

@Suite("X-1: the ledger")
struct LedgerTests {
    @Test(
        "100,000 random steps: the account balances, and agrees with what the device saw",
        arguments: [1, 2, 3, 4]
    )
    func balances(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let stall: Int64 = seed % 2 == 0 ? 0 : 2_000_000
        let path = try Path(stall: stall, capacity: 128, startingAt: UInt.max - 10_000)
        var epoch: UInt32 = 1
        var received: UInt64 = 0
        var refused: UInt64 = 0
        var broken = 0
        for _ in 0..<25_000 {
            switch Int.random(in: 0...19, using: &random) {
            case 0...7:
                // Without line feeds, the number of typed bytes equals the number of keystrokes.
                let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    Bool.random(using: &random)
                        ? UInt8.random(in: 0x20...0x7E, using: &random) : UInt8.random(in: 11...255, using: &random)
                }
                if path.receive(bytes, epoch: epoch) == .lost { refused += UInt64(bytes.count) }
                received += UInt64(bytes.count)
            case 8...14: _ = try path.typeDue()
            case 15:
                guard path.next() == .write else { break }
                let events = path.outputEvents()
                let accepted = Int.random(in: 0...events.count, using: &random)
                let before = path.keyboard.keystrokes
                for event in events.prefix(accepted) { try path.keyboard.take(event) }
                let whole = events.prefix(accepted).count { $0 == .report } / 2
                path.halfKeystrokes += path.keyboard.keystrokes - before - whole
                path.fail(accepted: accepted)
                broken += 1
                path.keyboard.goes()
            case 16: if Int.random(in: 0...3, using: &random) == 0 { path.gate.close() }
            case 17: path.gate.open(now: path.now)
            case 18:
                if Int.random(in: 0...9, using: &random) == 0 { path.gate.drop(through: epoch, .disconnected) }
                epoch += 1
            default:
                let isLong = Int.random(in: 0...29, using: &random) == 0
                path.now += isLong ? 6_000_000_000 : Int64.random(in: 0...30_000_000, using: &random)
            }
            let account = path.ledger.snapshot()
            try #require(account.received == received && account.lost(.ringFull) == refused)
            let sum =
                account.typed + account.discarded + account.rejected + account.gated + account.lost + account.waiting
            try #require(account.received == sum && account.waiting <= 128)
        }
        path.gate.open(now: path.now)
        try path.typeAll()
        let account = path.ledger.snapshot()
        #expect(account.waiting == 0)
        #expect(broken > 20 && account.typed > 100 && account.gated > 0 && account.lost(.tooOld) > 0)
        #expect(account.lost(.writeFailed) > 0 && account.lost(.disconnected) > 0 && refused > 0)
        #expect(account.discarded > 0)
        // The device received each typed byte once, and one more press for each write that was cut within a keystroke.
        #expect(path.keyboard.keystrokes - path.halfKeystrokes == Int(account.typed))
    }
}
