// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux

// Lengths of time as the kernel takes them.

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
