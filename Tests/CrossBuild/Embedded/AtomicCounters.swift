// SPDX-License-Identifier: GPL-2.0-or-later

import Synchronization

/// Atomic counters at 0, in memory that is never given back: a part of the module Keystrokes in Embedded Swift.
struct AtomicCounters: ~Copyable, @unchecked Sendable {
    private let start: UnsafeMutablePointer<Atomic<UInt64>>

    init(count: Int) {
        unsafe start = .allocate(capacity: count)
        for index in 0..<count { unsafe (start + index).initialize(to: Atomic(0)) }
    }

    subscript(index: Int) -> Atomic<UInt64> {
        _read { yield unsafe start[index] }
    }
}
