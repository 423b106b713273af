// SPDX-License-Identifier: GPL-2.0-or-later

import Measuring

/// What happens in a soak: how much of it each day, and by which chance.
///
/// A day is a shift of 16 hours, in which the scanner is used, and a night, in which it is off and others pass by.
package struct SoakPlan: Sendable {
    /// The length of a shift.
    package static let shift = Duration.seconds(16 * 3600)
    /// The length of a day with its night.
    package static let day = Duration.seconds(24 * 3600)

    /// The number of days.
    package var days = 30
    /// The seed of all chance.
    package var seed: UInt64 = 1
    /// The barcodes of a day.
    package var barcodes = 10_000
    /// The link losses of a day.
    package var losses = 67
    /// How often the adapter is pulled and put back, a day.
    package var replugs = 7
    /// How often the machine is suspended, a day.
    package var suspends = 2
    /// How often the date is set, a day.
    package var jumps = 1
    /// The addresses that pass by in a night.
    package var passersBy = 3000

    /// The whole plan: 30 days.
    package init() {}
}

/// Chance that follows from a seed.
struct Chance {
    private var generator: SplitMix

    init(seed: UInt64) { generator = SplitMix(seed: seed) }

    /// A number in the range.
    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    /// True once in so many times.
    mutating func once(in times: Int) -> Bool { number(1...times) == 1 }

    /// A time in the range, in milliseconds.
    mutating func time(_ milliseconds: ClosedRange<Int>) -> Duration { .milliseconds(number(milliseconds)) }
}
