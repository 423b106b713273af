// SPDX-License-Identifier: GPL-2.0-or-later

import ClockSupport
import Glibc
import LinuxIO
import Synchronization
import Testing

/// Tests that use the clock of the process run in separate processes.
@Suite("Virtual time", .timeLimit(.minutes(10)))
struct VirtualClockTests {
    /// Starts a thread that waits for one deadline after another, and reports each wake-up.
    private static func startWaiter(
        _ waker: Waker,
        deadlines: [Int64],
        onWake: @escaping @Sendable (Int64) -> Void
    ) throws {
        _ = try SystemThread(name: "waiter") {
            for deadline in deadlines {
                waker.wait(until: deadline)
                onWake(MonotonicClock.nanoseconds)
            }
        }
    }

    private static let day: Int64 = 86_400_000_000_000

    @Test("A month of timers is over at once, each at its very time")
    func month() async {
        await #expect(processExitsWith: .success) {
            let clock = VirtualClock.begin(at: 5, wallSeconds: 1_000_000)
            let loop = try EventLoop()
            var fired: [Duration] = []
            for number in [30, 1, 7] {
                _ = loop.schedule(at: .seconds(number * 86_400) + .nanoseconds(number)) {
                    fired.append(MonotonicClock.now)
                    if number == 30 { loop.stop() }
                }
            }
            #expect(MonotonicClock.nanoseconds == 5)
            try loop.run()
            #expect(fired == [1, 7, 30].map { .seconds($0 * 86_400) + .nanoseconds($0) })
            #expect(WallClock.seconds == 1_000_000 + 30 * 86_400)
            #expect(clock.leaps == 3)
        }
    }

    #if DEBUG
        @Test("The time of a task is that of its threads too; beside it that of the process goes on")
        func ofTask() throws {
            let clock = VirtualClock(at: 5)
            let before = MonotonicClock.now
            let waker = try Waker()
            let times = Mutex<[Int64]>([])
            try SystemTime.$ofTask.withValue(clock) {
                let loop = try EventLoop()
                try Self.startWaiter(waker, deadlines: [Self.day, 3 * Self.day]) { time in
                    times.withLock { $0.append(time) }
                }
                _ = loop.schedule(at: .seconds(2 * 86_400)) { times.withLock { $0.append(MonotonicClock.nanoseconds) } }
                _ = loop.schedule(at: .seconds(4 * 86_400)) { loop.stop() }
                try loop.run()
                #expect(MonotonicClock.now == .seconds(4 * 86_400) && clock.leaps == 4)
            }
            #expect(times.withLock { $0 } == [Self.day, 2 * Self.day, 3 * Self.day])
            #expect(MonotonicClock.now >= before && MonotonicClock.now - before < .seconds(600))
            #expect(!SystemTime.isReplaced)
        }
    #endif

    @Test("A deadline between two nanoseconds is over at the second")
    func fractions() async {
        await #expect(processExitsWith: .success) {
            VirtualClock.begin(at: 5)
            let loop = try EventLoop()
            _ = loop.schedule(at: .nanoseconds(10) + Duration(secondsComponent: 0, attosecondsComponent: 1)) {
                loop.stop()
            }
            try loop.run()
            #expect(MonotonicClock.nanoseconds == 11)
        }
    }

    @Test("Two threads have their turns in the order of their deadlines, and time stands still while one works")
    func twoThreads() async {
        await #expect(processExitsWith: .success) {
            VirtualClock.begin(at: 5)
            let turns = Mutex<[Int64]>([])
            let (loop, waker) = (try EventLoop(), try Waker())
            try Self.startWaiter(waker, deadlines: (1...1000).map { Int64($0) * 10 * Self.day }) { now in
                turns.withLock { $0.append(now) }
            }
            for turn in 1...1000 {
                let time = (Int64(turn) * 10 + 5) * Self.day
                _ = loop.schedule(at: .nanoseconds(time)) {
                    turns.withLock { $0.append(MonotonicClock.nanoseconds) }
                    if turn == 1000 { loop.stop() }
                }
            }
            try loop.run()
            turns.withLock { #expect($0 == (2...2001).map { Int64($0) * 5 * Self.day }) }
        }
    }

    @Test("A woken thread runs before the virtual clock advances, even if it was registered as sleeping")
    func wokenBeforeTheLeap() async {
        await #expect(processExitsWith: .success) {
            VirtualClock.begin(at: 5)
            let late = Atomic<Int>(0)
            let (loop, waker) = (try EventLoop(), try Waker())
            let woken = Atomic<Int64>(5)
            try Self.startWaiter(waker, deadlines: Array(repeating: .max, count: 1000)) { now in
                if now != woken.load(ordering: .relaxed) { late.add(1, ordering: .relaxed) }
            }
            func next(_ turn: Int) {
                guard turn < 1000 else { return loop.stop() }
                _ = loop.schedule(at: MonotonicClock.now + .seconds(1)) {
                    woken.store(MonotonicClock.nanoseconds, ordering: .relaxed)
                    waker.wake()
                    // If the clock skipped the woken thread, that thread would wake only at this deadline.
                    _ = loop.schedule(at: MonotonicClock.now + .seconds(1)) { next(turn + 1) }
                }
            }
            next(0)
            try loop.run()
            #expect(late.load(ordering: .relaxed) == 0)
        }
    }

    @Test("A thread that was started has its first turn before time leaps, and one that has ended holds up nothing")
    func threadsThatBeginAndEnd() async {
        await #expect(processExitsWith: .success) {
            VirtualClock.begin(at: 5)
            let loop = try EventLoop()
            let late = Atomic<Int>(0)
            func next(_ turn: Int) throws {
                guard turn < 100 else { return loop.stop() }
                let now = MonotonicClock.nanoseconds
                _ = try SystemThread(name: "short") {
                    if MonotonicClock.nanoseconds != now { late.add(1, ordering: .relaxed) }
                }
                _ = loop.schedule(at: .nanoseconds(now + Self.day)) { try? next(turn + 1) }
            }
            try next(0)
            try loop.run()
            #expect(late.load(ordering: .relaxed) == 0)
            #expect(MonotonicClock.nanoseconds == 5 + 100 * Self.day)
        }
    }

    @Test("After a suspend what was due is late; a jump of the date moves no timer")
    func suspendAndJump() async {
        await #expect(processExitsWith: .success) {
            let clock = VirtualClock.begin(at: 1_000_000_000, wallSeconds: 1_000_000)
            let loop = try EventLoop()
            var times: [Int64] = []
            _ = loop.schedule(at: .seconds(10)) {
                clock.suspend(for: .seconds(3600))
                clock.jumpWallClock(by: .seconds(-100_000))
            }
            for seconds in [60, 3700] {
                _ = loop.schedule(at: .seconds(seconds)) {
                    times.append(MonotonicClock.nanoseconds / 1_000_000_000)
                    if seconds == 3700 { loop.stop() }
                }
            }
            try loop.run()
            #expect(times == [3610, 3700])
            #expect(WallClock.seconds == 1_000_000 + 3699 - 100_000)
        }
    }
}
