// SPDX-License-Identifier: GPL-2.0-or-later

import Testing

@testable import Keystrokes

@Suite("A typist beside others on one keyboard")
struct SharedTypistTests {
    /// Typist with the writing end of its ring.
    private final class Bench {
        var feed: Feed
        var typist: Typist
        let gate = Gate()
        let light = CapsLockLight()
        let ledger = Ledger()

        init(_ profile: Pace.Profile, separatesBarcodes: Bool = true, maximumAge: Int64? = nil) throws {
            let ring = try ByteRing(capacity: 1 << 12)
            guard let producer = ring.takeProducer(), let consumer = ring.takeConsumer() else { throw NoHandle() }
            feed = Feed(producer, ledger: ledger)
            typist = Typist(
                consumer,
                table: try CompiledTable(.linble),
                pacer: Pacer(try Pace(profile, queue: .large)),
                maximumAge: maximumAge,
                gate: gate,
                light: light,
                separatesBarcodes: separatesBarcodes,
                ledger: ledger
            )
        }

        func receive(_ text: String, now: Int64) {
            _ = feed.receive(Array(text.utf8).span.bytes, epoch: 1, now: now)
        }
    }

    @Test("D-42: without a pace, each barcode is a write of its own, and its end is known", arguments: [false, true])
    func separated(isShared: Bool) throws {
        let bench = try Bench(.console, separatesBarcodes: isShared)
        bench.receive("12\r345\r6", now: 0)
        var writes: [(keystrokes: Int, ends: Bool)] = []
        while bench.typist.next(now: 1) == .write {
            writes.append((bench.typist.outputKeystrokes, bench.typist.endsBarcode))
            bench.typist.commit(now: 1)
        }
        #expect(writes.map(\.keystrokes) == (isShared ? [3, 4, 1] : [8]))
        #expect(writes.map(\.ends) == (isShared ? [true, true, false] : [false]))
        #expect(bench.ledger.snapshot().typed == 8)
    }

    @Test("D-42: each keystroke counts once, at its press, and it ends with its release")
    func spread() throws {
        let bench = try Bench(.slow)
        bench.receive("A1\r", now: 0)
        var (now, keystrokes, between): (Int64, [Int], [Bool]) = (1, [], [])
        while true {
            switch bench.typist.next(now: now) {
            case .write:
                keystrokes.append(bench.typist.outputKeystrokes)
                bench.typist.commit(now: now)
                between.append(bench.typist.isBetweenKeystrokes)
                continue
            case .wait(let time):
                now = time
                continue
            case .sleep: break
            }
            break
        }
        #expect(keystrokes == [0, 1, 0, 1, 0, 1, 0])
        #expect(between == [false, false, true, false, true, false, true])
    }

    @Test("D-42, D-1: a withdrawn write is decided anew: CapsLock, the gate and the bytes that have come")
    func withdrawn() throws {
        let bench = try Bench(.console)
        bench.receive("a", now: 0)
        #expect(bench.typist.next(now: 1) == .write && bench.typist.outputEvents == 4)
        bench.typist.withdraw()
        bench.light.set(true)
        bench.receive("\r", now: 2)
        #expect(bench.typist.next(now: 3) == .write)
        #expect(bench.typist.outputEvents == 10 && bench.typist.endsBarcode)
        bench.typist.withdraw()
        bench.gate.close()
        #expect(bench.typist.next(now: 4) == .sleep && bench.ledger.snapshot().gated == 2)
    }

    @Test("A withdrawn write that continues a keystroke is written nevertheless")
    func begun() throws {
        let bench = try Bench(.slow)
        bench.receive("1", now: 0)
        #expect(bench.typist.next(now: 1) == .write)
        bench.typist.commit(now: 1)
        bench.gate.close()
        guard case .wait(let time) = bench.typist.next(now: 2) else {
            Issue.record("the release is written at once")
            return
        }
        #expect(bench.typist.next(now: time) == .write)
        bench.typist.withdraw()
        #expect(bench.typist.next(now: time) == .write && bench.typist.outputEvents == 2)
        bench.typist.commit(now: time)
        #expect(bench.typist.isBetweenKeystrokes && bench.ledger.snapshot().typed == 1)
    }
}
