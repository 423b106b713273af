// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO

/// The decision when a scan that runs is armed again, and when the adapter is restarted, on the caller's clock.
///
/// A scan that was switched off by somebody else, by a suspend or by a fault of the controller looks like a room in
/// which nobody advertises. So a scan in which nothing at all was heard is armed again after `Periods.quiet`, and the
/// adapter is restarted after `Periods.stuck`; both ever more seldom while that does not help. A scan that another
/// program was seen to switch is armed again after `Periods.disturbed`, ever later in a quarrel.
struct ScanWatch: Sendable {
    /// The times of a watch.
    struct Periods: Sendable {
        /// The silence after which a scan is armed again.
        var quiet = Backoff(.seconds(30)...Duration.seconds(60))
        /// The time from another program's command to the scan's arming.
        var disturbed = Backoff(.seconds(1)...Duration.seconds(60))
        /// The silence, in all scans together, after which the adapter is restarted.
        var stuck = Backoff(.seconds(600)...Duration.seconds(6 * 3600))
    }

    /// What is to be done at a deadline.
    enum Step: Equatable, Sendable {
        /// Nothing before the next deadline.
        case wait
        /// Arm the scan again.
        case arm
        /// Restart the adapter.
        case restart
    }

    /// The failures of scans, one after another, after which the adapter is restarted.
    private static let failureLimit = 3

    private var periods: Periods
    private var failures = 0
    private var failureLimit = Self.failureLimit
    /// The counts since the start.
    var counts = RadioCounts()
    /// The time of the scan's arming, and the number of its reports then; nil while none runs.
    private var armed: (time: Duration, reports: UInt64)?
    /// The time of a disturbed scan's arming.
    private var mending: Duration?
    private var lastDisturbance: Duration?
    /// The scanning time since the last report, up to `armed`.
    private var silence = Duration.zero

    init(_ periods: Periods = Periods()) { self.periods = periods }

    /// The time at which `check` is to be called; nil while no scan runs.
    var deadline: Duration? {
        guard let armed else { return nil }
        let due = armed.time + min(periods.quiet.pause, max(.zero, periods.stuck.pause - silence))
        return mending.map { min($0, due) } ?? due
    }

    /// Notes that a scan runs from now on, which has heard this many reports.
    mutating func begin(reports: UInt64, now: Duration) {
        armed = (now, reports)
        mending = nil
        periods.quiet.reset()
    }

    /// Notes that no scan runs any more.
    mutating func end(reports: UInt64, now: Duration) {
        note(reports, now)
        armed = nil
        mending = nil
    }

    /// Notes that another program, or the kernel, has switched the scan.
    mutating func disturb(now: Duration) {
        guard armed != nil else { return }
        counts.disturbed &+= 1
        defer { lastDisturbance = now }
        guard mending == nil else { return }
        if let lastDisturbance, now - lastDisturbance > periods.disturbed.longest { periods.disturbed.reset() }
        mending = now + periods.disturbed.next()
    }

    /// Notes that the machine, and its controller, have slept: the scan is armed at the next `check`.
    mutating func resume(now: Duration) {
        counts.resumed &+= 1
        if armed != nil { mending = now }
    }

    /// Notes that a scan failed; returns true if the adapter is to be restarted: after the third failure of the
    /// controller in a row, and after each doubling of their number.
    mutating func fail(byController: Bool) -> Bool {
        counts.failedScans &+= 1
        if byController { failures &+= 1 }
        guard byController, failures >= failureLimit else { return false }
        failureLimit = max(failureLimit, failureLimit &* 2)
        return true
    }

    /// Notes that the controller has begun to scan.
    mutating func noteStart() {
        failures = 0
        failureLimit = Self.failureLimit
    }

    /// Notes that something else has shown that the controller is alive.
    mutating func noteLife() {
        silence = .zero
        periods.stuck.reset()
    }

    /// Decides what is to be done now, of a scan that has heard this many reports.
    mutating func check(reports: UInt64, now: Duration) -> Step {
        guard let deadline, now >= deadline else { return .wait }
        let isMending = mending.map { now >= $0 } ?? false
        let hasHeard = note(reports, now)
        armed = (now, reports)
        if silence >= periods.stuck.pause {
            silence = .zero
            periods.stuck.next()
            return .restart
        }
        if isMending {
            mending = nil
            counts.armed &+= 1
            return .arm
        }
        if hasHeard { return .wait }
        periods.quiet.next()
        counts.armed &+= 1
        counts.quiet &+= 1
        return .arm
    }

    /// Adds the time since the arming to the silence, or ends the silence; returns whether something was heard.
    @discardableResult
    private mutating func note(_ reports: UInt64, _ now: Duration) -> Bool {
        guard let armed else { return false }
        guard reports == armed.reports else {
            silence = .zero
            periods.quiet.reset()
            periods.stuck.reset()
            return true
        }
        silence += now - armed.time
        return false
    }
}
