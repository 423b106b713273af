// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
import LinuxIO
import Synchronization

/// Clock that advances only while all threads sleep, for programs that simulate weeks of the product's use.
///
/// `begin` installs a clock as the time of `MonotonicClock` and `WallClock` in the whole process; `SystemTime.ofTask`
/// sets the clock of one test and its threads. `EventLoop.run`, `Waker.wait` and `LocalStream.wait` sleep with it. When
/// all threads (the first one and those of `SystemThread`) sleep and none of their descriptors is ready, the clock
/// jumps to the earliest deadline and wakes its thread; with equal deadlines, it wakes the thread that has slept
/// longest. A thread that is blocked elsewhere counts as awake and stops the clock.
package final class VirtualClock: ProcessTime {
    /// Sleeping thread.
    private struct Sleeper {
        let number: UInt64
        let entry: pollfd
        let deadline: Int64?
        /// Eventfd that wakes the thread at its deadline.
        let alarm: Int32
    }

    private struct State {
        /// Number of participating threads that are awake.
        var awake = 1
        var sleepers: [Sleeper] = []
        var freeAlarms: [Int32] = []
        var nextNumber: UInt64 = 0
        var leaps: UInt64 = 0
    }

    private let time: Atomic<Int64>
    private let wallOffset: Atomic<Int64>
    private let state = Mutex(State())

    /// Number of jumps of the clock.
    package var leaps: UInt64 { state.withLock { $0.leaps } }

    /// Creates a clock for a single thread that is awake.
    ///
    /// `start` is the initial value of `MonotonicClock` in nanoseconds, which must be positive; `wallSeconds` is that
    /// of `WallClock`, in seconds since 1970-01-01 UTC.
    package init(at start: Int64 = 1_000_000_000, wallSeconds: Int64 = 1_700_000_000) {
        time = Atomic(start)
        wallOffset = Atomic(wallSeconds &* 1_000_000_000 &- start)
    }

    deinit { state.withLock { for alarm in $0.freeAlarms { close(alarm) } } }

    /// Installs a clock permanently for the process.
    ///
    /// Call this only once, on the only thread, before the time is read.
    @discardableResult
    package static func begin(at start: Int64 = 1_000_000_000, wallSeconds: Int64 = 1_700_000_000) -> VirtualClock {
        precondition(!SystemTime.isReplaced, "time is virtual already")
        let clock = VirtualClock(at: start, wallSeconds: wallSeconds)
        SystemTime.replace(with: clock)
        return clock
    }

    /// Advances the clock at once, as if the machine were suspended: deadlines that pass are handled late.
    package func suspend(for duration: Duration) {
        _ = time.add(max(0, Self.nanoseconds(duration)), ordering: .relaxed)
    }

    /// Sets the date forward or back.
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

    /// Waits until the descriptor is ready or the alarm fires; returns true if the descriptor is ready.
    private func wait(_ sleeper: Sleeper) -> Bool {
        var entries = [sleeper.entry, pollfd(fd: sleeper.alarm, events: Int16(POLLIN), revents: 0)]
        // Sound: the array has two entries. A signal is handled like any other wake-up.
        _ = unsafe blewedge_ppoll(&entries, 2, nil)
        state.withLock { state in
            if let place = state.sleepers.firstIndex(where: { $0.number == sleeper.number }) {
                state.sleepers.remove(at: place)
                state.awake += 1
            } else {
                var count: UInt64 = 0
                // Sound: reads eight bytes into a local variable.
                _ = unsafe read(sleeper.alarm, &count, 8)
            }
            state.freeAlarms.append(sleeper.alarm)
        }
        return entries[0].revents != 0
    }

    /// Advances the clock to the earliest deadline if all threads sleep and none is about to wake up.
    ///
    /// Returns true if the deadline belongs to the caller, which has not started to wait.
    private func leap(_ state: inout State, caller: UInt64?) -> Bool {
        // The descriptor of a sleeping thread may already be ready; that thread then continues and later advances the
        // clock.
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
        // Sound: writes eight bytes of a local variable.
        _ = unsafe write(sleeper.alarm, &one, 8)
        return false
    }

    private static func isAnyReady(_ entries: [pollfd]) -> Bool {
        var entries = entries
        let count = nfds_t(entries.count)
        // Sound: `count` is the number of entries in the array.
        return unsafe poll(&entries, count, 0) > 0
    }

    private static func makeAlarm() -> Int32 {
        let alarm = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        precondition(alarm >= 0, "no descriptor is left for the virtual clock")
        return alarm
    }
}
