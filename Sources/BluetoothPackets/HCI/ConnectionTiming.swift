// SPDX-License-Identifier: GPL-2.0-or-later

/// The timing that is in force on a connection.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.1 and 7.7.65.3.
public struct ConnectionTiming: Hashable, Sendable {
    /// The interval in units of 1.25 ms.
    public var interval: UInt16
    /// The number of connection events that the peripheral may skip.
    public var latency: UInt16
    /// The supervision time-out in units of 10 ms.
    public var supervisionTimeout: UInt16

    /// A timing, in the specification's units.
    public init(interval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    /// The longest time for which the peripheral may be silent: the interval, and those that it skips.
    public var longestSilence: Duration { .microseconds(1250) * Int(interval) * (Int(latency) + 1) }

    /// The slowest timing within parameters that were asked for.
    public init(slowest parameters: ConnectionParameters) {
        self.init(
            interval: parameters.maximumInterval,
            latency: parameters.latency,
            supervisionTimeout: parameters.supervisionTimeout
        )
    }

    /// The timing with which a connection began.
    public init(_ event: LEConnectionComplete) {
        self.init(interval: event.interval, latency: event.latency, supervisionTimeout: event.supervisionTimeout)
    }

    /// The timing after a change that was carried out.
    public init(_ event: LEConnectionUpdateComplete) {
        self.init(interval: event.interval, latency: event.latency, supervisionTimeout: event.supervisionTimeout)
    }
}
