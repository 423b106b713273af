// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
import LinuxIO
import Synchronization

/// A time that passes only while every thread sleeps, for programs that show what the product does in weeks.
///
/// `begin` makes one the time of `MonotonicClock` and `WallClock` in the whole process; one that is `SystemTime.ofTask` is
/// that of a test and its threads. `EventLoop.run`, `Waker.wait` and `LocalStream.wait` sleep through it. When all threads
/// sleep (the first, and those of `SystemThread`) and nothing that they wait for is ready, time leaps to the earliest
/// deadline, and the thread that has it is woken; of several, the one that has slept longest. A thread that is blocked
/// elsewhere is awake: time stands still until it goes on.
package final class VirtualClock: ProcessTime {
    /// One thread's sleep.
    private struct Sleeper {
        let number: UInt64
        let entry: pollfd
        let deadline: Int64?
        /// The eventfd that wakes it at its deadline.
        let alarm: Int32
    }

    private struct State {
        /// The threads that take part and do not sleep.
        var awake = 1
        var sleepers: [Sleeper] = []
        var freeAlarms: [Int32] = []
        var nextNumber: UInt64 = 0
        var leaps: UInt64 = 0
    }

    private let time: Atomic<Int64>
    private let wallOffset: Atomic<Int64>
    private let state = Mutex(State())

    /// How often time has leapt.
    package var leaps: UInt64 { state.withLock { $0.leaps } }

    /// A clock whose one thread is awake.
    ///
    /// `start` is the first time of `MonotonicClock`, in nanoseconds, above zero; `wallSeconds` is what `WallClock` says then,
    /// since 1970-01-01 UTC.
    package init(at start: Int64 = 1_000_000_000, wallSeconds: Int64 = 1_700_000_000) {
        time = Atomic(start)
        wallOffset = Atomic(wallSeconds &* 1_000_000_000 &- start)
    }

    deinit { state.withLock { for alarm in $0.freeAlarms { close(alarm) } } }

    /// Makes a clock that of the process, for good.
    ///
    /// To be called once, by the only thread, before anything has read the time.
    @discardableResult
    package static func begin(at start: Int64 = 1_000_000_000, wallSeconds: Int64 = 1_700_000_000) -> VirtualClock {
        precondition(!SystemTime.isReplaced, "time is virtual already")
        let clock = VirtualClock(at: start, wallSeconds: wallSeconds)
        SystemTime.replace(with: clock)
        return clock
    }

    /// Lets time pass at once, as while the machine is suspended: what was due meanwhile is late.
    package func suspend(for duration: Duration) {
        _ = time.add(max(0, Self.nanoseconds(duration)), ordering: .relaxed)
    }

    /// Sets the date forward, or back.
    package func jumpWallClock(by duration: Duration) {
        _ = wallOffset.add(Self.nanoseconds(duration), ordering: .relaxed)
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        Int64(clamping: duration.attoseconds / 1_000_000_000)
    }

    package var nanoseconds: Int64 { time.load(ordering: .relaxed) }

    package var wallNanoseconds: Int64 { nanoseconds &+ wallOffset.load(ordering: .relaxed) }

    package func sleep(on descriptor: Int32, for events: Int16, until deadline: Int64?) -> Bool {
        let entry = pollfd(fd: descriptor, events: events, revents: 0)
        if let deadline, deadline <= nanoseconds { return Self.isAnyReady([entry]) }
        let sleeper = state.withLock { state -> Sleeper? in
            let alarm = state.freeAlarms.popLast() ?? Self.makeAlarm()
            let sleeper = Sleeper(number: state.nextNumber, entry: entry, deadline: deadline, alarm: alarm)
            state.nextNumber &+= 1
            state.sleepers.append(sleeper)
            state.awake -= 1
            guard leap(&state, caller: sleeper.number) else { return sleeper }
            state.freeAlarms.append(alarm)
            return nil
        }
        return sleeper.map(wait) ?? false
    }

    package func addThread() { state.withLock { $0.awake += 1 } }

    package func removeThread() {
        state.withLock { state in
            state.awake -= 1
            _ = leap(&state, caller: nil)
        }
    }

    /// Waits until the descriptor is ready or the alarm rings; true if the descriptor is ready.
    private func wait(_ sleeper: Sleeper) -> Bool {
        var entries = [sleeper.entry, pollfd(fd: sleeper.alarm, events: Int16(POLLIN), revents: 0)]
        // Sound: two entries of an array of two. A signal's interruption is a wake-up like any other.
        _ = unsafe blewedge_ppoll(&entries, 2, nil)
        state.withLock { state in
            if let place = state.sleepers.firstIndex(where: { $0.number == sleeper.number }) {
                state.sleepers.remove(at: place)
                state.awake += 1
            } else {
                var count: UInt64 = 0
                // Sound: eight bytes of a local are written.
                _ = unsafe read(sleeper.alarm, &count, 8)
            }
            state.freeAlarms.append(sleeper.alarm)
        }
        return entries[0].revents != 0
    }

    /// Lets time leap to the earliest deadline, if nobody is awake or about to be; true if it is the caller's, which has
    /// not begun to wait.
    private func leap(_ state: inout State, caller: UInt64?) -> Bool {
        // A wake-up may have come to a thread that sleeps already: that one goes on, and leaps in its turn.
        guard state.awake == 0, !Self.isAnyReady(state.sleepers.map(\.entry)) else { return false }
        var next: (place: Int, deadline: Int64)?
        for (place, sleeper) in state.sleepers.enumerated() {
            guard let deadline = sleeper.deadline else { continue }
            if let next, next.deadline <= deadline { continue }
            next = (place, deadline)
        }
        guard let next else { return false }
        if next.deadline > time.load(ordering: .relaxed) {
            time.store(next.deadline, ordering: .relaxed)
            state.leaps &+= 1
        }
        let sleeper = state.sleepers.remove(at: next.place)
        state.awake += 1
        guard sleeper.number != caller else { return true }
        var one: UInt64 = 1
        // Sound: eight bytes of a local are read.
        _ = unsafe write(sleeper.alarm, &one, 8)
        return false
    }

    private static func isAnyReady(_ entries: [pollfd]) -> Bool {
        var entries = entries
        let count = nfds_t(entries.count)
        // Sound: as many entries as the array has.
        return unsafe poll(&entries, count, 0) > 0
    }

    private static func makeAlarm() -> Int32 {
        let alarm = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        precondition(alarm >= 0, "no descriptor is left for the virtual clock")
        return alarm
    }
}
