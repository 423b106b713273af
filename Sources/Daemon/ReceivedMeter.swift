// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO

/// Rate limiter for reports of received values: the first report is immediate, then at most ten per second follow.
package struct ReceivedMeter: Sendable {
    /// Number of values and number of bytes received since the last report.
    package struct Report: Equatable, Sendable {
        package var values: Int
        package var bytes: Int

        package init(values: Int, bytes: Int) {
            self.values = values
            self.bytes = bytes
        }
    }

    /// Shortest interval between two reports.
    package static let interval = Duration.milliseconds(100)

    private var since = Report(values: 0, bytes: 0)
    private var last: Duration?

    /// Creates a meter with counts of zero.
    package init() {}

    /// Time of the next report; nil if no value has been counted since the last one.
    package var deadline: Duration? {
        since.values == 0 ? nil : last.map { $0 + Self.interval } ?? .zero
    }

    /// Counts a value of `length` bytes.
    package mutating func add(_ length: Int) {
        since.values &+= 1
        since.bytes &+= length
    }

    /// Returns a report if one is due; nil otherwise.
    package mutating func take(now: Duration) -> Report? {
        guard let deadline, now >= deadline else { return nil }
        return takeAll(now: now)
    }

    /// Returns a report of all values since the last one, even if it is not due; nil if no value was received.
    package mutating func takeAll(now: Duration) -> Report? {
        guard since.values > 0 else { return nil }
        defer { since = Report(values: 0, bytes: 0) }
        last = now
        return since
    }
}

/// Reporter of received values on an event loop.
///
/// It also stores the time and length of the last value.
final class ReceivedReporter {
    /// Handler for the reports: called immediately for the first value, then at most ten times per second.
    var onReport: ((ReceivedMeter.Report) -> Void)?
    /// Time and length of the last value; nil before the first.
    var last: (time: Duration, length: Int)? { lastValue.map { (.nanoseconds($0.time), $0.length) } }

    private let loop: EventLoop
    private var lastValue: (time: Int64, length: Int)?
    private var meter = ReceivedMeter()
    private let timer = LoopTimer()

    /// Creates a reporter that has received no values.
    init(on loop: EventLoop) { self.loop = loop }

    /// Records a value of `length` bytes; if `isTold` is false, nothing is reported.
    func received(_ length: Int, isTold: Bool) {
        lastValue = (MonotonicClock.nanoseconds, length)
        guard isTold else { return }
        meter.add(length)
        report()
    }

    private func report() {
        guard !timer.isSet, let deadline = meter.deadline else { return }
        if let report = meter.take(now: MonotonicClock.now) {
            onReport?(report)
        } else {
            timer.set(on: loop, at: deadline) { [unowned self] in report() }
        }
    }

    /// Reports the values that have not been reported yet, and cancels the timer.
    func flush() {
        timer.cancel()
        if let rest = meter.takeAll(now: MonotonicClock.now) { onReport?(rest) }
    }
}
