// SPDX-License-Identifier: GPL-2.0-or-later

/// Set of numbers from 0 up to a limit.
struct BitSet: Sendable {
    private var words: [UInt64]

    init(limit: Int) {
        words = Array(repeating: 0, count: (limit + 63) / 64)
    }

    /// Membership of `number`, which is below the limit.
    subscript(number: Int) -> Bool {
        get { words[number / 64] & 1 << UInt64(number % 64) != 0 }
        set {
            let mask: UInt64 = 1 << UInt64(number % 64)
            if newValue { words[number / 64] |= mask } else { words[number / 64] &= ~mask }
        }
    }

    mutating func removeAll() {
        for index in words.indices { words[index] = 0 }
    }
}
