// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO

/// Makes a bounded number of reports out of any number of received values: the first at once, then ten a second at most.
package struct ReceivedMeter: Sendable {
    /// The values received since the last report.
    package struct Report: Equatable, Sendable {
        package var values: Int
        package var bytes: Int

        package init(values: Int, bytes: Int) {
            self.values = values
            self.bytes = bytes
        }
    }

    /// The time between two reports.
    package static let interval = Duration.milliseconds(100)

    private var since = Report(values: 0, bytes: 0)
    private var last: Duration?

    /// A meter that has counted nothing.
    package init() {}

    /// When what was counted is to be reported; nil while there is nothing.
    package var deadline: Duration? {
        since.values == 0 ? nil : last.map { $0 + Self.interval } ?? .zero
    }

    /// Counts a value of so many bytes.
    package mutating func add(_ length: Int) {
        since.values &+= 1
        since.bytes &+= length
    }

    /// The report that is due; nil before its time.
    package mutating func take(now: Duration) -> Report? {
        guard let deadline, now >= deadline else { return nil }
        return takeAll(now: now)
    }

    /// The report of all that was counted since the last one, due or not; nil where no value was received.
    package mutating func takeAll(now: Duration) -> Report? {
        guard since.values > 0 else { return nil }
        defer { since = Report(values: 0, bytes: 0) }
        last = now
        return since
    }
}

/// The reports of what the device sends, on a loop; and the last value of all.
final class ReceivedReporter {
    /// Told how much was received: at once, then ten times a second at most.
    var onReport: ((ReceivedMeter.Report) -> Void)?
    /// The time and the length of the last value; nil before the first.
    var last: (time: Duration, length: Int)? { lastValue.map { (.nanoseconds($0.time), $0.length) } }

    private let loop: EventLoop
    private var lastValue: (time: Int64, length: Int)?
    private var meter = ReceivedMeter()
    private let timer = LoopTimer()

    /// Nothing was received yet.
    init(on loop: EventLoop) { self.loop = loop }

    /// Takes a value of that length; where nobody `isTold`, there is no report, and no timer that wakes for one.
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

    /// Tells what was received and not told, and wakes no more for it.
    func flush() {
        timer.cancel()
        if let rest = meter.takeAll(now: MonotonicClock.now) { onReport?(rest) }
    }
}
