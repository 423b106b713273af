// SPDX-License-Identifier: GPL-2.0-or-later

/// How long a peer that failed to pair has to wait: twice as long after each failure.
///
/// Core 6.0, Vol 3, Part H, 2.3.6.
public struct PairingBackoff: Hashable, Sendable {
    /// The first wait, and the longest.
    public static let waits: ClosedRange<Duration> = .seconds(1)...Duration.seconds(64)

    /// The wait after the last failure; zero without one.
    public private(set) var wait = Duration.zero
    /// The time before which no attempt is made or accepted; nil without a failure.
    public private(set) var end: Duration?

    /// Nothing has failed.
    public init() {}

    /// True while a peer has to wait.
    public func isWaiting(at now: Duration) -> Bool { end.map { now < $0 } ?? false }

    /// Takes a failure.
    mutating func fail(at now: Duration) {
        wait = min(max(wait * 2, Self.waits.lowerBound), Self.waits.upperBound)
        end = now + wait
    }

    /// Takes a success: the next failure is a first one.
    mutating func succeed() {
        self = PairingBackoff()
    }
}
