// SPDX-License-Identifier: GPL-2.0-or-later

import SystemPackage

/// The decision when a scan that runs is armed again, and when the adapter is restarted, on the caller's clock.
///
/// A scan that was switched off by somebody else, by a suspend or by a fault of the controller looks like a room in
/// which nobody advertises. So a scan in which nothing at all was heard is armed again after `Periods.quiet`, and the
/// adapter is restarted after `Periods.stuck`; both ever more seldom while that does not help. A scan that another
/// program was seen to switch is armed again after `Periods.disturbed`, ever later in a quarrel.
struct ScanWatch: Sendable {
    /// The times of a watch; each is doubled from its first value up to its longest.
    struct Periods: Sendable {
        /// The silence after which a scan is armed again.
        var quiet = (first: Duration.seconds(30), longest: Duration.seconds(60))
        /// The time from another program's command to the scan's arming.
        var disturbed = (first: Duration.seconds(1), longest: Duration.seconds(60))
        /// The silence, in all scans together, after which the adapter is restarted.
        var stuck = (first: Duration.seconds(600), longest: Duration.seconds(6 * 3600))
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

    private let periods: Periods
    private var failures = 0
    private var failureLimit = Self.failureLimit
    /// The counts since the start.
    var counts = RadioCounts()
    /// The time of the scan's arming, and the number of its reports then; nil while none runs.
    private var armed: (time: Duration, reports: UInt64)?
    /// The time of a disturbed scan's arming.
    private var mending: Duration?
    private var lastDisturbance: Duration?
    private var quietPeriod: Duration
    private var disturbedPeriod: Duration
    private var stuckPeriod: Duration
    /// The scanning time since the last report, up to `armed`.
    private var silence = Duration.zero

    init(_ periods: Periods = Periods()) {
        self.periods = periods
        quietPeriod = periods.quiet.first
        disturbedPeriod = periods.disturbed.first
        stuckPeriod = periods.stuck.first
    }

    /// The time at which `check` is to be called; nil while no scan runs.
    var deadline: Duration? {
        guard let armed else { return nil }
        let due = armed.time + min(quietPeriod, max(.zero, stuckPeriod - silence))
        return mending.map { min($0, due) } ?? due
    }

    /// Notes that a scan runs from now on, which has heard this many reports.
    mutating func begin(reports: UInt64, now: Duration) {
        armed = (now, reports)
        mending = nil
        quietPeriod = periods.quiet.first
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
        if let lastDisturbance, now - lastDisturbance <= periods.disturbed.longest {
            disturbedPeriod = min(disturbedPeriod * 2, periods.disturbed.longest)
        } else {
            disturbedPeriod = periods.disturbed.first
        }
        mending = now + disturbedPeriod
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
        stuckPeriod = periods.stuck.first
    }

    /// Decides what is to be done now, of a scan that has heard this many reports.
    mutating func check(reports: UInt64, now: Duration) -> Step {
        guard let deadline, now >= deadline else { return .wait }
        let isMending = mending.map { now >= $0 } ?? false
        let hasHeard = note(reports, now)
        armed = (now, reports)
        if silence >= stuckPeriod {
            silence = .zero
            stuckPeriod = min(stuckPeriod * 2, periods.stuck.longest)
            return .restart
        }
        if isMending {
            mending = nil
            counts.armed &+= 1
            return .arm
        }
        if hasHeard { return .wait }
        quietPeriod = min(quietPeriod * 2, periods.quiet.longest)
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
            (quietPeriod, stuckPeriod) = (periods.quiet.first, periods.stuck.first)
            return true
        }
        silence += now - armed.time
        return false
    }
}
