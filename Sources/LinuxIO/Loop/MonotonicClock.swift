// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import SwiftGlibc

/// The clock of everything that waits: CLOCK_BOOTTIME, which no change of the date moves, and which goes on while the
/// machine is suspended; or `VirtualClock`, once that has begun.
package enum MonotonicClock {
    /// The time since an arbitrary beginning, in nanoseconds.
    ///
    /// The corresponding C function is `clock_gettime`.
    package static var nanoseconds: Int64 {
        guard !VirtualClock.isOn else { return VirtualClock.nanoseconds }
        var time = timespec()
        // Sound: the structure lives for the call.
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// The time since an arbitrary beginning.
    package static var now: Duration { .nanoseconds(nanoseconds) }
}

extension Duration {
    /// The number of these units, rounded up, so that no wait ends before its deadline; at most `Int64.max`.
    func rounded(to unit: Duration) -> Int64 {
        let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: unit.attoseconds)
        return Int64(clamping: whole + (rest > 0 ? 1 : 0))
    }
}

extension timespec {
    /// A length of time that is not negative; a fraction of a nanosecond is cut off.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(tv_sec: Int(clamping: seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    }
}
