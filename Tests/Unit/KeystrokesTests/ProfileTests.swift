// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@testable import Keystrokes

/// Tests the profiles with an exact model of the kernel's queue.
///
/// 10^5 characters per profile in the unit tests; 10^6 in a release build:
///
///     swift test -c release -Xswiftc -enable-testing --filter ProfileTests
@Suite("X-2, D-13: the profiles")
struct ProfileTests {
    static let characters = RunCount.isOptimized ? 1_000_000 : 100_000
    static let millisecond: Int64 = 1_000_000

    /// Application that repeatedly sleeps for `away` nanoseconds and then reads all events from the kernel's queue.
    ///
    /// It reads just before the write at the moment of waking, and just after it, so that both ends of the stall are
    /// covered.
    struct StallingReader {
        let away: Int64
        var next: Int64
        var queue: EventQueue
        var keyboard = DecodedKeyboard()
        var drops = 0

        init(_ queue: ReaderQueue, away: Int64, next: Int64) {
            self.queue = EventQueue(queue)
            self.away = away
            self.next = next
        }

        mutating func pass(_ events: [InputEvent], at time: Int64) {
            if time >= next { read(at: time) }
            for event in events { queue.pass(event) }
            if time == next { read(at: time) }
        }

        mutating func read(at time: Int64) {
            for event in queue.readAll() {
                if event == EventQueue.dropped { drops += 1 }
                if drops == 0 { try? keyboard.take(event) }
            }
            next = time + away
        }
    }

    /// Types `count` characters in barcodes of all kinds for an application with that stall; returns the losses and
    /// whether the text is correct.
    static func play(_ pace: Pace, count: Int, stall: Int64, seed: UInt64) throws -> (drops: Int, isMeant: Bool) {
        var random = SeededGenerator(seed: seed)
        let path = try Path(pace: pace, maximumAge: nil)
        var meant = 0
        var reader = StallingReader(pace.queue, away: stall, next: path.now)
        var isMeant = true
        while meant < count, isMeant, reader.drops == 0 {
            let barcode = PacerTests.barcode(&random)
            meant += barcode.count
            path.receive(barcode.bytes)
            if Int.random(in: 0...3, using: &random) > 0 { try path.typeAll() }
            path.now += Int64.random(in: 0...stall * 2, using: &random)
            for write in path.recorded { reader.pass(write.events, at: write.time) }
            path.recorded.removeAll(keepingCapacity: true)
        }
        try path.typeAll()
        for write in path.recorded { reader.pass(write.events, at: write.time) }
        reader.read(at: path.now)
        isMeant = reader.keyboard.text == path.keyboard.text && reader.keyboard.text.count == meant
        return (reader.drops, isMeant)
    }

    @Test(
        "At the profile's stall no event of many characters is lost",
        arguments: Pace.Profile.allCases.filter { $0 != .console },
        ReaderQueue.allCases
    )
    func survives(profile: Pace.Profile, queue: ReaderQueue) throws {
        let pace = try Pace(profile, queue: queue)
        try #require(pace.stall > 0)
        let result = try Self.play(pace, count: Self.characters, stall: pace.stall, seed: 11)
        #expect(result.drops == 0 && result.isMeant)
    }

    @Test("A console's reader is never away: all that has come leaves at once")
    func console() throws {
        let pace = try Pace(.console, queue: .large)
        let path = try Path(pace: pace, maximumAge: nil)
        let start = path.now
        let text = String(repeating: "aB", count: 500)
        path.receive(text.bytes)
        try path.typeAll()
        #expect(pace.stall == 0 && path.now == start && path.keyboard.text == text)
    }

    @Test(
        "At twice the profile's stall events are lost (control)",
        arguments: Pace.Profile.allCases,
        ReaderQueue.allCases
    )
    func overflows(profile: Pace.Profile, queue: ReaderQueue) throws {
        let pace = try Pace(profile, queue: queue)
        let stall = max(pace.stall * 2, Self.millisecond)
        #expect(try Self.play(pace, count: 20_000, stall: stall, seed: 12).drops > 0)
    }

    @Test(
        "D-13: no window of the stall has more events than the queue keeps, no gap is over 50 ms, Shift leads, keys are held",
        arguments: try ReaderQueue.allCases.flatMap { queue in
            let most: [Int64] = queue == .small ? [524, 349] : [2124, 1416]
            return [
                try Pace(.kms, queue: queue), try Pace(.desktop, queue: queue), try Pace(.scanner, queue: queue),
                try Pace(.slow, queue: queue), try Pace(.scanner, stall: 0, queue: queue),
                try Pace(.scanner, stall: most[0] * millisecond, queue: queue),
                try Pace(.slow, stall: most[1] * millisecond, queue: queue),
            ]
        }
    )
    func law(pace: Pace) throws {
        var random = SeededGenerator(seed: 13)
        let path = try Path(pace: pace, maximumAge: nil)
        var text = ""
        for _ in 0..<30 {
            let barcode = PacerTests.barcode(&random)
            text += barcode.replacing("\r", with: "\n")
            let before = path.recorded.count
            path.receive(barcode.bytes)
            try path.typeAll()
            let writes = path.recorded[before...]
            let presses = writes.filter { $0.events.contains { $0.value == 1 && $0.code != 42 } }.map(\.time)
            for (one, next) in zip(presses, presses.dropFirst()) { try #require(next - one <= Pace.longestGap) }
            guard pace.isSpread else { continue }
            for (one, next) in zip(writes, writes.dropFirst()) {
                try #require(one.events.count <= 3 && next.time - one.time >= min(pace.hold, pace.gap))
            }
        }
        #expect(path.keyboard.text == text && path.keyboard.down.isEmpty)
        var (last, sum) = (0, 0)
        for first in path.recorded.indices {
            while last < path.recorded.count, path.recorded[last].time - path.recorded[first].time <= pace.stall {
                sum += path.recorded[last].events.count
                last += 1
            }
            try #require(sum <= pace.queue.window)
            sum -= path.recorded[first].events.count
        }
    }

    @Test("A shifted key of the slow profile, write by write")
    func slow() throws {
        let path = try Path(pace: try Pace(.slow, queue: .large))
        let start = path.now
        path.receive("Ab".bytes)
        try path.typeAll()
        let (a, b) = (KeyCode(rawValue: 30), KeyCode(rawValue: 48))
        #expect(
            path.recorded.map(\.events) == [
                [.key(.leftShift, down: true), .report], [.key(a, down: true), .report],
                [.key(a, down: false), .key(.leftShift, down: false), .report],
                [.key(b, down: true), .report], [.key(b, down: false), .report],
            ]
        )
        #expect(path.recorded.map { ($0.time - start) / Self.millisecond } == [0, 10, 20, 30, 40])
    }

    @Test("D-13: a stall that would need more than 50 ms between two characters is refused, with the greatest")
    func refused() throws {
        let most: [ReaderQueue: (even: Int64, scanner: Int64, slow: Int64)] = [
            .small: (499_999_990, 524_999_979, 349_999_965), .large: (2_099_999_958, 2_124_999_915, 1_416_666_525),
        ]
        for (queue, stalls) in most {
            for profile in Pace.Profile.allCases {
                let greatest = profile == .slow ? stalls.slow : profile == .scanner ? stalls.scanner : stalls.even
                #expect(throws: Never.self) { try Pace(profile, stall: greatest, queue: queue) }
                for stall in [greatest + 1, -1, Int64.max, Int64.min] {
                    #expect(throws: Pace.StallError(stall: stall, greatest: greatest, queue: queue)) {
                        try Pace(profile, stall: stall, queue: queue)
                    }
                }
            }
        }
        #expect(Pace.greatestStall == 2_124_999_915)
    }

    @Test("The larger queue survives four times the stall where the rhythm is fixed, and keeps it")
    func fixedRhythms() throws {
        for profile in [Pace.Profile.scanner, .slow] {
            let (small, large) = (try Pace(profile, queue: .small), try Pace(profile, queue: .large))
            #expect(large.stall == 4 * small.stall)
            #expect([large.lead, large.hold, large.gap] == [small.lead, small.hold, small.gap])
        }
        for profile in [Pace.Profile.console, .kms, .desktop] {
            #expect(profile.stall(.large) == profile.stall(.small))
        }
    }

    @Test("Axes are declared for the larger queue only, nine of them, none by which programs know a pointer")
    func axes() {
        // REL_X, Y, HWHEEL, DIAL, WHEEL, WHEEL_HI_RES and HWHEEL_HI_RES.
        let pointer: Set<UInt16> = [0, 1, 6, 7, 8, 11, 12]
        #expect(ReaderQueue.small.axes.isEmpty)
        #expect(ReaderQueue.large.axes.reduce(0) { $0 | 1 << Int($1) } == 0xE63C)
        #expect(ReaderQueue.large.axes.count == 9 && pointer.isDisjoint(with: ReaderQueue.large.axes))
        #expect(ReaderQueue.allCases.map(\.window) == [63, 255] && ReaderQueue.allCases.map(\.paced) == [60, 252])
    }

    @Test("A keystroke that a failing device cuts is lost, whichever of its writes fails")
    func failure() throws {
        for failing in 0..<3 {
            let path = try Path(pace: try Pace(.slow, queue: .large))
            path.receive("A".bytes)
            for _ in 0..<failing {
                try #require(path.next() == .write)
                for event in path.outputEvents() { try path.keyboard.take(event) }
                path.commit()
                path.now += 10 * Self.millisecond
            }
            try #require(path.next() == .write)
            path.fail(accepted: 0)
            let account = path.ledger.snapshot()
            #expect(account.lost(.writeFailed) == 1 && account.typed == 0 && account.waiting == 0)
        }
    }
}
