// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@testable import Keystrokes

@Suite("X-2, D-13: pacing")
struct PacerTests {
    static let millisecond: Int64 = 1_000_000
    /// Maximum stall with an even pace.
    static let greatest: [ReaderQueue: Int64] = [.small: 499_999_990, .large: 2_099_999_958]
    static let stalls: [Int64] = [1, 17, 33, 50, 84, 100, 126, 250, 499].map { $0 * millisecond }

    @Test(
        "The model of the kernel's queue keeps one event less than its size",
        arguments: ReaderQueue.allCases
    )
    func queue(size: ReaderQueue) {
        for count in [2, 62, 63, 64, 65, 200, 254, 255, 256, 257, 600] {
            var queue = EventQueue(size)
            let events = (1...count).map {
                $0 == count ? .report : InputEvent.key(KeyCode(rawValue: 30), down: $0 % 2 == 1)
            }
            for event in events { queue.pass(event) }
            let read = queue.readAll()
            if count <= size.window {
                #expect(read == events)
            } else {
                #expect(read.first == EventQueue.dropped && read.count < size.window)
            }
        }
    }

    @Test("D-13: stalls beyond the greatest are refused with it; at it a shifted key takes 50 ms", arguments: greatest)
    func refused(queue: ReaderQueue, greatest: Int64) throws {
        for stall in [-1, greatest + 1, 2_100_000_000, Int64.max, Int64.min] {
            #expect(throws: Pace.StallError(stall: stall, greatest: greatest, queue: queue)) {
                try Pacer(stall: stall, queue: queue)
            }
        }
        var pacer = try Pacer(stall: greatest, queue: queue)
        pacer.record(events: 6, now: 0)
        #expect(pacer.pacedTime(forEvents: 6, now: 0) == Pace.longestGap)
    }

    @Test("A stall has 15 plain keys or 10 shifted ones with a queue of 64, and 63 or 42 with one of 256")
    func rates() throws {
        for (queue, plain, shifted) in [(ReaderQueue.small, Int64(15), Int64(10)), (.large, 63, 42)] {
            let stall = 100 * Self.millisecond
            var pacer = try Pacer(stall: stall, queue: queue)
            pacer.record(events: 4, now: 0)
            #expect(pacer.pacedTime(forEvents: 4, now: 0) == stall / plain + 1)
            pacer.record(events: 6, now: 1000 * stall)
            #expect(pacer.pacedTime(forEvents: 6, now: 1000 * stall) == 1000 * stall + stall / shifted + 1)
        }
    }

    @Test(
        "D-13: Q - 1 events may leave at once, and the next when the stall is over, not at its end",
        arguments: ReaderQueue.allCases
    )
    func window(queue: ReaderQueue) throws {
        let window = queue.window
        var pacer = try Pacer(stall: 100, queue: queue)
        #expect(pacer.allowance(now: 0) == window)
        pacer.record(events: window - 3, now: 0)
        #expect(pacer.allowance(now: 100) == 3)
        #expect(pacer.nextTime(forEvents: 3, now: 5) == 5)
        #expect(pacer.nextTime(forEvents: 4, now: 5) == 101)
        #expect(pacer.allowance(now: 101) == window)
        var free = try Pacer(stall: 0, queue: queue)
        free.record(events: 1_000_000, now: 0)
        #expect(free.allowance(now: 0) == Int.max && free.isUnlimited)
        #expect(free.pacedTime(forEvents: 6, now: 3) == 3)
    }

    @Test("D-13: more writes than the law allows are remembered too, at the later time")
    func flood() throws {
        var pacer = try Pacer(stall: 1000, queue: .small)
        for time in 0..<500 { pacer.record(events: 1, now: Int64(time)) }
        #expect(pacer.allowance(now: 1000) == 0)
        #expect(pacer.allowance(now: 1500) == 63)
    }

    /// Returns a random barcode of letters, digits and punctuation, usually with an end.
    static func barcode(_ random: inout SeededGenerator, ends: Bool = true) -> String {
        let alphabets = ["0123456789", "ABCXYZ", "aBcDeF", "Aa", "http://example.com/?Q=", "~!@#$%^&*()_+", "AAAaaa"]
        let alphabet = Array(alphabets.randomElement(using: &random) ?? "0")
        let length = Int.random(in: 1...(Bool.random(using: &random) ? 15 : 120), using: &random)
        return String((0..<length).map { _ in alphabet.randomElement(using: &random) ?? "0" }) + (ends ? "\r" : "")
    }

    /// Simulates an application that repeatedly does not read the kernel's queue for `away` nanoseconds, starting at
    /// `phase`, and reads just before the write at that moment.
    ///
    /// Returns the text that it receives, and the number of losses.
    static func reader(
        _ writes: [(time: Int64, events: [InputEvent])],
        _ queue: ReaderQueue,
        away: Int64,
        phase: Int64
    ) -> (text: String, drops: Int) {
        var queue = EventQueue(queue)
        var keyboard = DecodedKeyboard()
        var drops = 0
        var next = phase
        func read() {
            for event in queue.readAll() {
                if event == EventQueue.dropped { drops += 1 }
                if drops == 0 { try? keyboard.take(event) }
            }
        }
        for write in writes {
            if write.time >= next {
                read()
                next = write.time + away
            }
            for event in write.events { queue.pass(event) }
            // The stall ends just after this write, and the next one starts at once.
            if write.time == next {
                read()
                next = write.time + away
            }
        }
        read()
        return (keyboard.text, drops)
    }

    @Test(
        "D-13: no window of the stall has more events than the queue keeps, and no stalled reader loses any",
        arguments: stalls + [0],
        ReaderQueue.allCases
    )
    func survives(stall: Int64, queue: ReaderQueue) throws {
        var random = SeededGenerator(seed: UInt64(stall))
        let stall = stall == 0 ? try #require(Self.greatest[queue]) : stall
        for round in 0..<12 {
            let path = try Path(stall: stall, queue: queue, maximumAge: nil)
            var meant = ""
            for _ in 0..<12 {
                let barcode = Self.barcode(&random)
                meant += barcode.replacing("\r", with: "\n")
                path.receive(barcode.bytes)
                // Wake-ups are late, as in reality.
                try path.typeUntil(
                    path.now + Int64.random(in: 0...stall * 3, using: &random),
                    late: round % 3 == 0 ? 0 : 300_000
                )
            }
            try path.typeUntil(Int64.max, late: 0)
            #expect(path.keyboard.text == meant)
            let writes = path.recorded
            var last = 0
            var sum = 0
            for first in writes.indices {
                while last < writes.count, writes[last].time - writes[first].time <= stall {
                    sum += writes[last].events.count
                    last += 1
                }
                try #require(sum <= queue.window, "\(sum) events in a window")
                sum -= writes[first].events.count
            }
            let start = writes.first?.time ?? 0
            for _ in 0..<20 {
                let phase = start + Int64.random(in: 0...stall, using: &random)
                let seen = Self.reader(writes, queue, away: stall, phase: phase)
                try #require(seen.drops == 0 && seen.text == meant)
            }
        }
    }

    @Test(
        "A reader with twice the configured stall or the smaller queue loses events (control)",
        arguments: stalls,
        ReaderQueue.allCases
    )
    func overflows(stall: Int64, queue: ReaderQueue) throws {
        let path = try Path(stall: stall, queue: queue, maximumAge: nil)
        path.receive((String(repeating: "0123456789", count: 30) + "\r").bytes)
        try path.typeUntil(Int64.max, late: 0)
        let start = path.recorded.first?.time ?? 0
        #expect(Self.reader(path.recorded, queue, away: stall, phase: start).drops == 0)
        #expect(Self.reader(path.recorded, queue, away: stall * 2, phase: start).drops > 0)
        #expect(Self.reader(path.recorded, .small, away: stall, phase: start).drops > 0 || queue == .small)
    }

    @Test("D-13: a whole barcode that fits goes out at once; one that does not is paced evenly from its first key")
    func barcodes() throws {
        let stall = 100 * Self.millisecond
        let path = try Path(stall: stall)
        let start = path.now
        path.receive("12345678901234\r".bytes)
        _ = try path.typeDue()
        #expect(path.writes.map(\.events) == [60])
        path.now += 20 * Self.millisecond
        path.receive((String(repeating: "7", count: 40) + "\r").bytes)
        try path.typeAll()
        let times = path.writes.dropFirst().map(\.time)
        #expect(times.count == 41)
        #expect(times.first == start + stall + 1)
        for (one, next) in zip(times, times.dropFirst()) { #expect(next - one == stall / 15 + 1) }
    }

    @Test(
        "D-13: never more than 50 ms between two characters of a barcode, however it is cut into chunks",
        arguments: stalls,
        ReaderQueue.allCases
    )
    func gaps(stall: Int64, queue: ReaderQueue) throws {
        var random = SeededGenerator(seed: UInt64(stall) &+ 7)
        for _ in 0..<30 {
            let path = try Path(stall: stall, queue: queue, maximumAge: nil)
            // The window already contains an earlier barcode.
            path.receive(Self.barcode(&random).bytes)
            try path.typeUntil(path.now + Int64.random(in: 0...stall, using: &random), late: 0)
            while path.keyboard.text.last != "\n" { try path.typeUntil(path.now + Self.millisecond, late: 0) }
            let before = path.writes.count
            var rest = Self.barcode(&random).bytes
            let size = Int.random(in: 1...20, using: &random)
            while !rest.isEmpty {
                path.receive(Array(rest.prefix(size)))
                rest.removeFirst(min(size, rest.count))
                let until = path.now + Int64.random(in: 0...30, using: &random) * Self.millisecond
                try path.typeUntil(until, late: 0)
            }
            try path.typeAll()
            let times = path.writes.dropFirst(before).map(\.time)
            for (one, next) in zip(times, times.dropFirst()) {
                try #require(next - one <= Pace.longestGap, "\(next - one) ns")
            }
        }
    }
}
