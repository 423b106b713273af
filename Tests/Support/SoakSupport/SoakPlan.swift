// SPDX-License-Identifier: GPL-2.0-or-later

import Measuring

/// Number of events per day of a soak test, and the seed of their random order.
///
/// A day consists of a shift of 16 hours, in which the barcode reader is used, and a night, in which it is off and
/// other devices pass by.
package struct SoakPlan: Sendable {
    /// The length of a shift.
    package static let shift = Duration.seconds(16 * 3600)
    /// The length of a day including the night.
    package static let day = Duration.seconds(24 * 3600)

    /// The number of days.
    package var days = 30
    /// The seed of the random numbers.
    package var seed: UInt64 = 1
    /// The number of barcodes per day.
    package var barcodes = 10_000
    /// The number of lost links per day.
    package var losses = 67
    /// How many times per day the adapter is unplugged and plugged in again.
    package var replugs = 7
    /// How many times per day the machine is suspended.
    package var suspends = 2
    /// How many times per day the date is changed.
    package var jumps = 1
    /// The number of addresses that pass by each night.
    package var passersBy = 3000

    /// Creates the full plan: 30 days.
    package init() {}
}

/// Random decisions that are determined by a seed.
struct Chance {
    private var generator: SplitMix

    init(seed: UInt64) { generator = SplitMix(seed: seed) }

    /// Returns a random number in the range.
    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    /// Returns true with a probability of one in `times`.
    mutating func once(in times: Int) -> Bool { number(1...times) == 1 }

    /// Returns a random duration in a range of milliseconds.
    mutating func time(_ milliseconds: ClosedRange<Int>) -> Duration { .milliseconds(number(milliseconds)) }
}
