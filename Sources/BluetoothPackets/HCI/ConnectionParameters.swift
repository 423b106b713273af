// SPDX-License-Identifier: GPL-2.0-or-later

/// The timing of a connection: for making one, or for changing one (Core 6.0, Vol 4, Part E, 7.8.12 and Vol 3, Part A,
/// 4.20).
public struct ConnectionParameters: Hashable, Sendable {
    /// The shortest interval, in units of 1.25 ms: 0x0006 … 0x0C80 (7.5 ms … 4 s).
    public var minimumInterval: UInt16
    /// The longest interval, in the same units and range.
    public var maximumInterval: UInt16
    /// The number of connection events that the peripheral may skip: 0 … 499.
    public var latency: UInt16
    /// The silence after which the peer counts as gone, in units of 10 ms: 0x000A … 0x0C80 (100 ms … 32 s).
    public var supervisionTimeout: UInt16

    /// The range of an interval.
    public static let intervals: ClosedRange<UInt16> = 0x0006...0x0C80
    /// The range of a latency.
    public static let latencies: ClosedRange<UInt16> = 0...0x01F3
    /// The range of a supervision time-out.
    public static let supervisionTimeouts: ClosedRange<UInt16> = 0x000A...0x0C80

    /// Parameters, in the specification's units.
    public init(minimumInterval: UInt16, maximumInterval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    /// 15 ms to 30 ms, no latency, 4 s: fast enough for a typed line, and what most peripherals ask for.
    public static let standard = ConnectionParameters(
        minimumInterval: 0x000C,
        maximumInterval: 0x0018,
        latency: 0,
        supervisionTimeout: 0x0190
    )

    /// True when every value is in its range and the time-out is longer than twice the longest silence that is allowed.
    ///
    /// In milliseconds: timeout × 10 > (1 + latency) × interval × 1.25 × 2.
    public var isValid: Bool {
        Self.intervals.contains(minimumInterval) && Self.intervals.contains(maximumInterval)
            && minimumInterval <= maximumInterval
            && Self.latencies.contains(latency) && Self.supervisionTimeouts.contains(supervisionTimeout)
            && UInt32(supervisionTimeout) &* 4 > (1 &+ UInt32(latency)) &* UInt32(maximumInterval)
    }

    /// Reads the four values in the order that HCI and L2CAP share; their ranges are not checked.
    @_lifetime(reader: copy reader)
    init(from reader: inout ByteReader) throws(DecodingError) {
        minimumInterval = try reader.readUInt16("Interval_Min")
        maximumInterval = try reader.readUInt16("Interval_Max")
        latency = try reader.readUInt16("Latency")
        supervisionTimeout = try reader.readUInt16("Timeout")
    }

    /// Writes the four values in that order.
    func write(to writer: inout ByteWriter) {
        writer.write(minimumInterval)
        writer.write(maximumInterval)
        writer.write(latency)
        writer.write(supervisionTimeout)
    }
}

/// The timing that is in force on a connection (Core 6.0, Vol 4, Part E, 7.7.65.1 and 7.7.65.3).
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
