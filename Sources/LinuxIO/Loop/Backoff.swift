// SPDX-License-Identifier: GPL-2.0-or-later

/// A pause that doubles with each use up to a longest.
package struct Backoff: Hashable, Sendable {
    private let pauses: ClosedRange<Duration>
    /// The pause that `next` returns next.
    package private(set) var pause: Duration

    /// A back-off whose first pause is the lower bound, and whose longest is the upper.
    package init(_ pauses: ClosedRange<Duration>) {
        self.pauses = pauses
        pause = pauses.lowerBound
    }

    /// The longest pause.
    package var longest: Duration { pauses.upperBound }

    /// Returns the pause, and doubles the next.
    @discardableResult
    package mutating func next() -> Duration {
        defer { pause = min(pause * 2, longest) }
        return pause
    }

    /// Makes the next pause the first again.
    package mutating func reset() { pause = pauses.lowerBound }
}
