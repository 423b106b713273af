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

    @Test("All counts of a new account are zero, and each call of the producer adds to its own counts")
    func producer() {
        let none = Ledger.Snapshot()
        #expect(integersOtherThanZero(in: none).isEmpty && none.losses.count == 6 && none.rejections.count == 6)
        for handsOver in [false, true] {
            let ledger = Ledger(handsOver: handsOver)
            #expect(ledger.snapshot() == none && !ledger.endsInMissingBytes)
            ledger.addFrames(wrapping: 1, bad: 2)
            ledger.addWithheld(4)
            ledger.addGated(8)
            ledger.addReceived(2000)
            ledger.addRingFull(16)
            #expect(ledger.endsInMissingBytes)
            ledger.missingBytesFollowed()
            ledger.settle(delivered: 32, undelivered: 64)
            for (fate, count) in [(Ledger.Fate.typed, 128), (.withheld, 256), (.gated, 512), (.cut, 0)] {
                ledger.add(count, to: fate)
            }
            var account = none
            account.received = 2015
            // Bytes that are on their way to another output are not typed before they are delivered.
            account.typed = handsOver ? 32 : 160
            account.discarded = 261
            account.withheld = 260
            account.rejections[Ledger.Rejection.frame.rawValue] = 2
            account.gated = 520
            account.losses[Ledger.Loss.ringFull.rawValue] = 16
            account.losses[Ledger.Loss.undelivered.rawValue] = 64
            account.waiting = handsOver ? 1120 : 992
            #expect(ledger.snapshot() == account && !ledger.endsInMissingBytes)
        }
    }

    @Test("Each outcome of the consumer has its own count")
    func consumer() {
        let fates: [(Ledger.Fate, WritableKeyPath<Ledger.Snapshot, UInt64>)] = [
            (.typed, \.typed), (.discarded, \.discarded), (.gated, \.gated), (.untypable, \.rejections[0]),
            (.tooShort, \.rejections[1]), (.tooLong, \.rejections[2]), (.duplicate, \.rejections[3]),
            (.cut, \.rejections[4]), (.writeFailed, \.losses[1]), (.tooOld, \.losses[2]),
            (.disconnected, \.losses[3]), (.switched, \.losses[4]),
        ]
        for (fate, count) in fates {
            let ledger = Ledger()
            ledger.addReceived(10)
            ledger.add(3, to: fate)
            var account = Ledger.Snapshot()
            account.received = 10
            account[keyPath: count] = 3
            account.waiting = 7
            #expect(ledger.snapshot() == account, "\(fate)")
        }
        #expect(
            Ledger.Rejection.allCases.map { Ledger.Fate($0) } == [
                .untypable, .tooShort, .tooLong, .duplicate, .cut, nil,
            ]
        )
        #expect(
            Ledger.Loss.allCases.map { Ledger.Fate($0) } == [nil, .writeFailed, .tooOld, .disconnected, .switched, nil]
        )
    }
}
