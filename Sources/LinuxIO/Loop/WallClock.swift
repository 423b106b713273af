// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc

/// The date and time of day, for people and logs.
///
/// No timer uses it, because it jumps when the date is set; timers use `MonotonicClock`.
package enum WallClock {
    /// Seconds since 1970-01-01 00:00:00 UTC.
    ///
    /// The corresponding C function is `time`.
    package static var seconds: Int { VirtualClock.isOn ? Int(clamping: microseconds / 1_000_000) : time(nil) }

    /// Seconds since 1970-01-01 00:00:00 UTC at a moment of `MonotonicClock`, by today's time.
    package static func seconds(at moment: Duration) -> Int {
        seconds - Int(clamping: (MonotonicClock.now - moment).components.seconds)
    }

    /// Microseconds since 1970-01-01 00:00:00 UTC.
    ///
    /// The corresponding C function is `clock_gettime`.
    package static var microseconds: Int64 {
        guard !VirtualClock.isOn else { return VirtualClock.wallNanoseconds / 1000 }
        var time = timespec()
        // Sound: the structure lives for the call.
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000 &+ Int64(time.tv_nsec / 1000)
    }

    /// The form of RFC 3339 in UTC: `2026-11-21T10:00:00Z`.
    package static func universal(_ seconds: Int) -> String {
        var seconds = seconds
        var parts = unsafe tm()
        // Sound: both are locals.
        _ = unsafe gmtime_r(&seconds, &parts)
        return unsafe text(parts, "%Y-%m-%dT%H:%M:%SZ")
    }

    /// The form of RFC 3339 in UTC with microseconds: `2026-11-21T10:00:00.000001Z`.
    package static func universal(microseconds: Int64) -> String {
        let fraction = (microseconds % 1_000_000 + 1_000_000) % 1_000_000
        let seconds = (microseconds / 1_000_000) - (microseconds % 1_000_000 < 0 ? 1 : 0)
        let digits = String(fraction)
        let padding = String(repeating: "0", count: 6 - digits.count)
        return String(universal(Int(clamping: seconds)).dropLast()) + "." + padding + digits + "Z"
    }

    /// Local time as the LINBLE keyboard shows it: `2021/05/24 17:07:59`.
    package static func local(_ seconds: Int) -> String {
        var seconds = seconds
        var parts = unsafe tm()
        // Sound: both are locals.
        _ = unsafe localtime_r(&seconds, &parts)
        return unsafe text(parts, "%Y/%m/%d %H:%M:%S")
    }

    private static func text(_ parts: tm, _ format: String) -> String {
        var parts = unsafe parts
        var buffer = [UInt8](repeating: 0, count: 64)
        // Sound: strftime writes at most the buffer's length, and answers how much it wrote. The C library's headers
        // differ in whether its first argument may be null: a pointer that is never null suits both.
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            guard let start = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress else { return 0 }
            return unsafe strftime(start, bytes.count, format, &parts)
        }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}
