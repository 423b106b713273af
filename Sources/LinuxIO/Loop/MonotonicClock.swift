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
