// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
import SwiftGlibc
import Synchronization

/// The clock for all deadlines: CLOCK_BOOTTIME, or the replacement set in `SystemTime`.
///
/// It does not depend on the date, and advances while the machine is suspended.
package enum MonotonicClock {
    /// Time since an arbitrary starting point, in nanoseconds (C: `clock_gettime`).
    package static var nanoseconds: Int64 {
        guard !SystemTime.isReplaced else { return SystemTime.nanoseconds }
        var time = timespec()
        // Sound: the structure is a local variable that outlives the call.
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// Time since an arbitrary starting point.
    package static var now: Duration { .nanoseconds(nanoseconds) }
}

extension Duration {
    /// Returns the duration in multiples of `unit`, rounded up so that no wait ends before its deadline; at most
    /// `Int64.max`.
    func rounded(to unit: Duration) -> Int64 {
        let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: unit.attoseconds)
        return Int64(clamping: whole + (rest > 0 ? 1 : 0))
    }
}

extension timespec {
    /// Converts a duration, which must not be negative; truncates fractions of a nanosecond.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(tv_sec: Int(clamping: seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    }
}

/// The date and time of day, for display and logs.
///
/// No timer uses it, because it jumps when the date is set; timers use `MonotonicClock`.
package enum WallClock {
    /// Seconds since 1970-01-01 00:00:00 UTC (C: `time`).
    package static var seconds: Int { SystemTime.isReplaced ? Int(clamping: microseconds / 1_000_000) : time(nil) }

    /// Converts a time of `MonotonicClock` to seconds since 1970-01-01 00:00:00 UTC, based on the current date.
    package static func seconds(at moment: Duration) -> Int {
        seconds - Int(clamping: (MonotonicClock.now - moment).components.seconds)
    }

    /// Microseconds since 1970-01-01 00:00:00 UTC (C: `clock_gettime`).
    package static var microseconds: Int64 {
        guard !SystemTime.isReplaced else { return SystemTime.wallNanoseconds / 1000 }
        var time = timespec()
        // Sound: the structure is a local variable that outlives the call.
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000 &+ Int64(time.tv_nsec / 1000)
    }

    /// Formats a time as in RFC 3339, in UTC: `2026-11-21T10:00:00Z`.
    package static func universal(_ seconds: Int) -> String {
        var seconds = seconds
        var parts = unsafe tm()
        // Sound: both pointers refer to local variables that outlive the call.
        _ = unsafe gmtime_r(&seconds, &parts)
        return unsafe text(parts, "%Y-%m-%dT%H:%M:%SZ")
    }

    /// Formats a time as in RFC 3339, in UTC with microseconds: `2026-11-21T10:00:00.000001Z`.
    package static func universal(microseconds: Int64) -> String {
        let fraction = (microseconds % 1_000_000 + 1_000_000) % 1_000_000
        let seconds = (microseconds / 1_000_000) - (microseconds % 1_000_000 < 0 ? 1 : 0)
        let digits = String(fraction)
        let padding = String(repeating: "0", count: 6 - digits.count)
        return String(universal(Int(clamping: seconds)).dropLast()) + "." + padding + digits + "Z"
    }

    /// Formats a time as local time, in the format of the LINBLE keyboard: `2021/05/24 17:07:59`.
    package static func local(_ seconds: Int) -> String {
        var seconds = seconds
        var parts = unsafe tm()
        // Sound: both pointers refer to local variables that outlive the call.
        _ = unsafe localtime_r(&seconds, &parts)
        return unsafe text(parts, "%Y/%m/%d %H:%M:%S")
    }

    private static func text(_ parts: tm, _ format: String) -> String {
        var parts = unsafe parts
        var buffer = [UInt8](repeating: 0, count: 64)
        // Sound: strftime writes at most the buffer's length, and returns the number of bytes written. Some C library
        // headers do not allow its first argument to be null; this pointer is never null.
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            guard let start = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress else { return 0 }
            return unsafe strftime(start, bytes.count, format, &parts)
        }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}

/// A replacement for the kernel's time, for programs that simulate weeks of operation in minutes.
package protocol ProcessTime: Sendable {
    /// The time of `MonotonicClock`, in nanoseconds.
    var nanoseconds: Int64 { get }
    /// The time of `WallClock`, in nanoseconds since 1970-01-01 00:00:00 UTC.
    var wallNanoseconds: Int64 { get }
    /// Sleeps until the descriptor is ready for `events` (as in poll(2)) or `deadline` has passed.
    ///
    /// Returns true if the descriptor is ready.
    func sleep(on descriptor: Int32, for events: Int16, until deadline: Int64?) -> Bool
    /// Registers a thread that is about to start, so that the simulated time does not advance before the thread runs.
    func addThread()
    /// Unregisters a thread that has ended or could not be started.
    func removeThread()
}

/// The source of the process's time: the kernel, or the replacement that a test program has set.
package enum SystemTime {
    private static let flag = Atomic<Bool>(false)
    private static let stored = Mutex<(any ProcessTime)?>(nil)

    #if DEBUG
        /// Replacement for one task and the threads that it starts, for parallel tests; nil to use the process's time.
        @TaskLocal package static var ofTask: (any ProcessTime)?
    #endif

    package static var isReplaced: Bool {
        #if DEBUG
            if ofTask != nil { return true }
        #endif
        return flag.load(ordering: .relaxed)
    }

    /// Replacement for the kernel's time; nil if it is not replaced.
    static var replacement: (any ProcessTime)? {
        #if DEBUG
            if let ofTask { return ofTask }
        #endif
        return isReplaced ? stored.withLock { $0 } : nil
    }

    /// The replacement's time; it is a separate property because reading the kernel's time is on the hot path.
    @inline(never) static var nanoseconds: Int64 { replacement?.nanoseconds ?? 0 }
    @inline(never) static var wallNanoseconds: Int64 { replacement?.wallNanoseconds ?? 0 }

    /// Replaces the kernel's time permanently; call it before the time is read and before a second thread is started.
    package static func replace(with time: some ProcessTime) {
        stored.withLock { $0 = time }
        flag.store(true, ordering: .relaxed)
    }
}
