// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import TestSupport
import Testing

@testable import Typing

@Suite("Turns on a shared keyboard")
struct KeyboardTurnsTests {
    /// Turns with a manual clock; all times are milliseconds.
    private final class Bench {
        var turns: KeyboardTurns
        var now: Int64 = 0

        init(separation: Int64 = 0, longestTurn: Int64 = 250) {
            turns = KeyboardTurns(separation: separation * 1_000_000, longestTurn: longestTurn * 1_000_000)
        }

        /// Returns nil if the lane may write, or the time at which it must ask again, rounded down.
        func ask(_ lane: Int, at time: Int64) -> Int64? {
            now = time
            return turns.claim(lane: lane, now: time * 1_000_000).map { $0 / 1_000_000 }
        }

        /// Reports a write; returns the lanes to wake.
        @discardableResult
        func wrote(_ lane: Int, keystrokes: Int = 1, ends: Bool = false, isWhole: Bool = true) -> [Int] {
            turns.wrote(
                lane: lane,
                now: now * 1_000_000,
                keystrokes: keystrokes,
                endsBarcode: ends,
                isBetweenKeystrokes: isWhole
            )
        }

        /// Asks and writes; returns false if the lane must wait.
        func write(
            _ lane: Int,
            at time: Int64,
            keystrokes: Int = 1,
            ends: Bool = false,
            isWhole: Bool = true
        ) -> Bool {
            guard ask(lane, at: time) == nil else { return false }
            wrote(lane, keystrokes: keystrokes, ends: ends, isWhole: isWhole)
            return true
        }

        func cuts(_ lane: Int) -> UInt64 { turns.cuts[lane] ?? 0 }
    }

    @Test("D-42: a turn lasts until its barcode is complete, and the next lane is woken")
    func terminator() {
        let bench = Bench()
        #expect(bench.write(0, at: 0) && bench.ask(1, at: 1) != nil && bench.turns.next == nil)
        #expect(bench.write(0, at: 2))
        #expect(bench.ask(0, at: 3) == nil && bench.wrote(0, ends: true) == [1])
        #expect(bench.turns.next == 1 && bench.write(1, at: 3, ends: true) && bench.turns.next == nil)
        #expect(bench.write(0, at: 4, ends: true) && bench.cuts(0) == 0 && bench.cuts(1) == 0)
    }

    @Test("D-42: the press of the terminator does not end a turn, its release does")
    func releasedTerminator() {
        let bench = Bench()
        #expect(bench.write(0, at: 0, ends: true, isWhole: false))
        #expect(bench.ask(1, at: 5) != nil)
        #expect(bench.ask(0, at: 10) == nil && bench.wrote(0, keystrokes: 0, ends: true) == [1])
        #expect(bench.write(1, at: 10))
    }

    @Test("D-42: a turn ends 100 ms after the last write of a lane that has nothing to write; that is no cut")
    func gap() {
        let bench = Bench()
        #expect(bench.write(0, at: 0))
        bench.turns.rest(lane: 0)
        #expect(bench.ask(1, at: 40) == 100)
        #expect(bench.write(0, at: 50))
        bench.turns.rest(lane: 0)
        #expect(bench.ask(1, at: 100) == 150 && bench.ask(1, at: 149) == 150 && bench.write(1, at: 150))
        #expect(bench.cuts(0) == 0)
    }

    @Test("D-42: after a gap, the lane goes behind those that wait; if none waits, it begins a new turn")
    func returnAfterGap() {
        let bench = Bench()
        #expect(bench.write(0, at: 0, keystrokes: 600))
        bench.turns.rest(lane: 0)
        #expect(bench.ask(1, at: 99) == 100)
        #expect(bench.ask(0, at: 100) != nil && bench.turns.next == 1 && bench.cuts(0) == 0)
        #expect(bench.write(1, at: 100, ends: true) && bench.write(0, at: 101, keystrokes: 511))
        bench.turns.rest(lane: 0)
        // The keystrokes before the gap do not count.
        #expect(bench.write(0, at: 300) && bench.ask(1, at: 301) != nil && bench.write(0, at: 302))
        #expect(bench.cuts(0) == 0)
    }

    @Test("D-42: while the holder has more to write, or a key may be down, the gap is 1 s")
    func longGap() {
        for isWhole in [true, false] {
            let bench = Bench()
            #expect(bench.write(0, at: 0, isWhole: isWhole))
            if !isWhole { bench.turns.rest(lane: 0) }
            #expect(bench.ask(1, at: 950) == 1000 && bench.ask(1, at: 999) == 1000)
            #expect(bench.write(1, at: 1000) && bench.cuts(0) == 0)
        }
    }

    @Test("D-42: no lane may write while another writes, however long that takes")
    func writing() {
        let bench = Bench()
        #expect(bench.write(0, at: 0))
        bench.turns.rest(lane: 0)
        #expect(bench.ask(0, at: 1) == nil)
        for time in stride(from: Int64(10), through: 5010, by: 50) { #expect(bench.ask(1, at: time) == time + 100) }
        #expect(bench.wrote(0, ends: true) == [1] && bench.write(1, at: 5011))
    }

    @Test("D-42: a turn of 512 keystrokes is cut and counted when another lane waits", arguments: [511, 512])
    func keystrokes(count: Int) {
        let bench = Bench()
        for key in 1...count { #expect(bench.write(0, at: Int64(key) / 100)) }
        #expect(bench.ask(1, at: 6) != nil)
        let mayGoOn = bench.ask(0, at: 7) == nil
        #expect(mayGoOn == (count == 511) && bench.cuts(0) == (mayGoOn ? 0 : 1))
        guard !mayGoOn else { return }
        #expect(bench.turns.next == 1 && bench.write(1, at: 7, ends: true))
        // The rest is a new turn.
        #expect(bench.write(0, at: 8) && bench.ask(1, at: 9) != nil && bench.write(0, at: 10) && bench.cuts(0) == 1)
    }

    @Test("D-42: a turn is cut and counted 250 ms after another lane began to wait, but never within a keystroke")
    func waiting() {
        let bench = Bench()
        #expect(bench.write(0, at: 0) && bench.write(0, at: 90) && bench.write(0, at: 180))
        for time in stride(from: Int64(200), to: 449, by: 40) {
            #expect(bench.ask(1, at: time) != nil && bench.write(0, at: time))
        }
        #expect(bench.write(0, at: 449, isWhole: false) && bench.cuts(0) == 0)
        #expect(bench.ask(1, at: 449) != nil)
        // The release is still written.
        #expect(bench.write(0, at: 460) && bench.cuts(0) == 0)
        #expect(bench.ask(0, at: 461) != nil && bench.cuts(0) == 1 && bench.cuts(1) == 0)
        #expect(bench.turns.next == 1 && bench.write(1, at: 461, ends: true) && bench.write(0, at: 462))
    }

    @Test("D-42: while no lane waits, no turn is cut, whatever its length")
    func alone() {
        let bench = Bench()
        for key in 0..<2000 { #expect(bench.write(0, at: Int64(key) * 50)) }
        #expect(bench.cuts(0) == 0)
    }

    @Test("D-42: a wait during earlier turns does not shorten a turn")
    func earlierWait() {
        let bench = Bench()
        #expect(bench.write(0, at: 0))
        for lane in [1, 2] { #expect(bench.ask(lane, at: 1) != nil) }
        for time in stride(from: Int64(20), through: 240, by: 20) {
            #expect(bench.write(0, at: time, ends: time == 240))
            for lane in [1, 2] where time < 240 { #expect(bench.ask(lane, at: time) != nil) }
        }
        #expect(bench.write(1, at: 241))
        for time in stride(from: Int64(260), through: 480, by: 20) {
            #expect(bench.ask(2, at: time) != nil && bench.write(1, at: time))
        }
        #expect(bench.cuts(1) == 0)
        #expect(bench.ask(2, at: 490) != nil && bench.ask(1, at: 491) != nil && bench.cuts(1) == 1)
    }

    @Test("D-42: 48 shifted keystrokes fit into a turn at every pace")
    func longestTurn() throws {
        let limits = try Pace.Profile.allCases.flatMap { profile in
            try ReaderQueue.allCases.map { queue in
                let pace = try Pace(profile, queue: queue)
                var turns = KeyboardTurns()
                turns.extend(separation: pace.stall, longestTurn: pace.longestTime(ofKeystrokes: 48))
                #expect(turns.separation == pace.stall)
                return turns.longestTurn / 1_000_000
            }
        }
        // console, kms, desktop, scanner, slow; each with the small and the large queue.
        #expect(limits == [250, 250, 250, 250, 480, 250, 768, 768, 1440, 1440])
        var turns = KeyboardTurns(separation: 5, longestTurn: 300_000_000)
        turns.extend(separation: 3, longestTurn: 200_000_000)
        #expect(turns.separation == 5 && turns.longestTurn == 300_000_000)
    }

    @Test("D-42: seven lanes have their turns in order, although the eighth floods")
    func fairness() {
        let bench = Bench()
        var order: [Int] = []
        #expect(bench.write(0, at: 0))
        for lane in [3, 5, 1, 7, 2, 6, 4] { #expect(bench.ask(lane, at: 1) != nil) }
        #expect(bench.write(0, at: 2, ends: true))
        var time: Int64 = 2
        while order.count < 16 {
            time += 1
            // The flooding lane always asks first.
            let lanes = [0, 4, 6, 2, 7, 1, 5, 3]
            for lane in lanes where bench.write(lane, at: time, ends: true) { order.append(lane) }
        }
        #expect(Array(order.prefix(8)) == [3, 5, 1, 7, 2, 6, 4, 0])
        for lane in 0..<8 { #expect(order.prefix(16).count { $0 == lane } == 2, "lane \(lane)") }
    }

    @Test("A lane that does not ask again loses its place after 50 ms, and until then keeps it")
    func staleWaiter() {
        let bench = Bench()
        #expect(bench.write(0, at: 0) && bench.ask(1, at: 1) == 101 && bench.ask(2, at: 2) == 102)
        #expect(bench.ask(0, at: 10) == nil && bench.wrote(0, ends: true) == [1])
        // Lane 1 was woken at 10 ms, and has until 60 ms.
        #expect(bench.ask(2, at: 10) == 60 && bench.ask(0, at: 11) == 60)
        #expect(bench.ask(2, at: 59) == 60 && bench.turns.next == 1)
        #expect(bench.write(2, at: 61, ends: true))
        #expect(bench.turns.next == 0 && bench.write(0, at: 62, ends: true))
        // Lane 1 has lost its place, but not its right to ask.
        #expect(bench.turns.next == nil && bench.write(1, at: 63))
    }

    @Test("A lane whose only competitor has nothing to write any more is not cut")
    func staleCompetitor() {
        let bench = Bench()
        #expect(bench.write(0, at: 0) && bench.ask(1, at: 1) == 101)
        for time in stride(from: Int64(20), through: 1000, by: 20) { #expect(bench.write(0, at: time)) }
        #expect(bench.cuts(0) == 0)
    }

    @Test("D-13: a lane writes no earlier than the separation after the write of another lane")
    func separation() {
        let bench = Bench(separation: 100)
        #expect(bench.write(0, at: 0, ends: true))
        #expect(bench.ask(1, at: 5) == 100 && bench.ask(1, at: 99) == 100)
        // The first lane could write at once, but another one waits.
        #expect(bench.ask(0, at: 99) != nil)
        #expect(bench.write(1, at: 100) && bench.write(1, at: 101, ends: true))
        #expect(bench.ask(0, at: 150) == 201 && bench.write(0, at: 201, ends: true))
        #expect(bench.write(0, at: 202, ends: true))
    }

    @Test("After a replacement, the turn goes on, and its gap begins when the keyboard can be used")
    func restart() {
        let bench = Bench()
        #expect(bench.write(0, at: 0) && bench.ask(1, at: 1) != nil && bench.ask(0, at: 2) == nil)
        bench.turns.restart(at: 5_000_000_000)
        #expect(bench.ask(1, at: 5000) == 5100 && bench.ask(0, at: 5001) == nil)
        bench.turns.restart(at: 6_000_000_000)
        bench.turns.rest(lane: 0)
        #expect(bench.ask(1, at: 6099) == 6100 && bench.write(1, at: 6100))
    }

    @Test("A lane that leaves frees the keyboard, and its count is forgotten with its number")
    func leaving() {
        let bench = Bench()
        #expect(bench.write(0, at: 0, keystrokes: 512) && bench.ask(1, at: 1) != nil && bench.ask(0, at: 2) != nil)
        #expect(bench.cuts(0) == 1 && bench.write(1, at: 3) && bench.ask(0, at: 4) != nil)
        bench.turns.leave(lane: 1, now: 5_000_000)
        #expect(bench.turns.next == 0)
        bench.turns.remove(lane: 0, now: 5_000_000)
        #expect(bench.turns.next == nil && bench.cuts(0) == 0 && bench.write(1, at: 6))
    }

    @Test("D-42: with random lanes, a barcode is left only at its end, after its gap, or by a cut that is counted")
    func random() {
        var generator = SeededGenerator(seed: 0xD42)
        for _ in 0..<40 {
            let bench = Bench(separation: Int64.random(in: 0...30, using: &generator))
            var rest = (0..<8).map { _ in Int.random(in: 0...120, using: &generator) }
            var due = [Int64](repeating: 0, count: 8)
            var isOpen = [Bool](repeating: false, count: 8)
            var (last, lastTime, seen) = (-1, Int64(-1000), [UInt64](repeating: 0, count: 8))
            var time: Int64 = 0
            while rest.contains(where: { $0 > 0 }), time < 1_000_000 {
                for lane in (0..<8).shuffled(using: &generator) where rest[lane] > 0 && due[lane] <= time {
                    if let later = bench.ask(lane, at: time) {
                        #expect(later >= time)
                        due[lane] = max(time + 1, later)
                        continue
                    }
                    if last != lane {
                        #expect(last < 0 || time - lastTime >= bench.turns.separation / 1_000_000)
                        if last >= 0, isOpen[last], time - lastTime < 100 { #expect(bench.cuts(last) > seen[last]) }
                        if last >= 0 { seen[last] = bench.cuts(last) }
                    }
                    rest[lane] -= 1
                    let ends = Int.random(in: 0..<8, using: &generator) == 0
                    for woken in bench.wrote(lane, ends: ends) { due[woken] = min(due[woken], time) }
                    isOpen[lane] = !ends
                    if rest[lane] == 0 { bench.turns.rest(lane: lane) }
                    (last, lastTime) = (lane, time)
                    due[lane] = time + Int64.random(in: 0...60, using: &generator)
                }
                if let next = bench.turns.next { due[next] = min(due[next], time + 1) }
                time += 1
            }
            #expect(rest.allSatisfy { $0 == 0 })
        }
    }
}
