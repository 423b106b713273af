// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import LinuxIO

/// The scans of a `RadioArbiter`: those that are wanted, and the one that runs.
///
/// The running one is overheard by the others, watched, and armed again when it may have been switched off (`ScanWatch`). It
/// is used on the loop's thread.
final class RadioScans {
    /// The watch over the running scan, with the arbiter's counts.
    var watch: ScanWatch
    /// Called when the running scan has failed, which ends it; the scan stays wanted.
    var onFailure: ((RadioScan, ScanError) -> Void)?
    /// Called when nothing is heard for long; true if the adapter was restarted.
    var onSilence: (() -> Bool)?

    private let loop: EventLoop
    private let timer = LoopTimer()
    /// In the order of their starts.
    private var wanted: [RadioScan] = []
    private var running: (scanner: any DeviceScanner, scan: RadioScan)?
    /// True from the moment when the controller has begun the running scan.
    private var isArmed = false

    init(_ watch: ScanWatch, on loop: EventLoop) {
        self.watch = watch
        self.loop = loop
    }

    /// The scan that is to have the radio: who asks devices for more hears all that others would.
    var leading: RadioScan? { wanted.last { $0.parameters.type == .active } ?? wanted.last }

    func contains(_ scan: RadioScan) -> Bool { wanted.contains { $0 === scan } }

    /// Adds a scan as the newest, also where it was wanted before.
    func add(_ scan: RadioScan) {
        remove(scan)
        wanted.append(scan)
    }

    func remove(_ scan: RadioScan) { wanted.removeAll { $0 === scan } }

    /// Removes all wanted scans, and returns them.
    func removeAll() -> [RadioScan] {
        defer { wanted = [] }
        return wanted
    }

    /// Calls, later, `onStarted` of a scan that overhears one which the controller has begun.
    func noteOverheard(by scan: RadioScan) {
        guard let running, running.scan !== scan, isArmed else { return }
        _ = loop.schedule(at: .zero) { [weak self] in
            guard let self, isArmed, contains(scan) else { return }
            scan.noteStart()
        }
    }

    /// Counts the failure of a scan; true if the adapter is to be restarted.
    func noteFailure(_ error: ScanError) -> Bool {
        if case .system = error { watch.counts.rebuiltSockets &+= 1 }
        let isByController = if case .controller = error { true } else { false }
        return watch.fail(byController: isByController)
    }

    func begin(_ scan: RadioScan, on scanner: any DeviceScanner) {
        running = (scanner, scan)
        // A scanner that kept itself would keep its sockets, and the number of an adapter that is gone.
        scanner.onFailure = { [weak self, weak scanner] error in
            guard let self, let scanner, self.running?.scanner === scanner else { return }
            end()
            scanner.close()
            onFailure?(scan, error)
        }
        scanner.onDisturbed = { [weak self] in
            self?.watch.disturb(now: MonotonicClock.now)
            self?.setTimer()
        }
        scan.onArmed = { [weak self] in
            guard let self else { return }
            watch.noteStart()
            isArmed = true
            for scan in wanted { scan.noteStart() }
        }
        isArmed = false
        shareReports(of: scanner, scan)
        scan.begin(scanner)
        watch.begin(reports: scanner.devices.counters.reports, now: MonotonicClock.now)
        setTimer()
    }

    /// Goes on with the running scan, or with another on its scanner.
    func goOn(with scan: RadioScan) {
        guard let running else { return }
        if scan === running.scan { return shareReports(of: running.scanner, scan) }
        end()
        begin(scan, on: running.scanner)
    }

    /// Pauses the running scan, and returns its scanner; nil where none runs.
    @discardableResult
    func end() -> (any DeviceScanner)? {
        guard let (scanner, scan) = running else { return nil }
        running = nil
        watch.end(reports: scanner.devices.counters.reports, now: MonotonicClock.now)
        isArmed = false
        scanner.onDisturbed = nil
        setTimer()
        scan.rest()
        return scanner
    }

    /// Notes that the machine, and its controller, have slept.
    func resume() {
        watch.resume(now: MonotonicClock.now)
        setTimer()
    }

    /// Lets the other scans hear what the running one hears.
    private func shareReports(of scanner: any DeviceScanner, _ running: RadioScan) {
        guard wanted.count > 1 || running.onPacket != nil else { return scanner.onPacket = nil }
        scanner.onPacket = { [weak self, weak running] packet, now in
            guard let self else { return }
            for scan in wanted where scan !== running || scan.onPacket != nil { scan.overhear(packet, now: now) }
        }
    }

    private func setTimer() {
        timer.set(on: loop, at: watch.deadline) { [weak self] in self?.check() }
    }

    private func check() {
        guard let (scanner, scan) = running else { return }
        switch watch.check(reports: scanner.devices.counters.reports, now: MonotonicClock.now) {
        case .wait: break
        case .arm: scan.arm()
        case .restart: if onSilence?() != true { scan.arm() }
        }
        setTimer()
    }
}

/// The decision when a scan that runs is armed again, and when the adapter is restarted, on the caller's clock.
///
/// A scan that was switched off by somebody else, by a suspend or by a fault of the controller looks like a room in
/// which nobody advertises. So a scan in which nothing at all was heard is armed again after `Periods.quiet`, and the
/// adapter is restarted after `Periods.stuck`; both ever more seldom while that does not help. A scan that another
/// program was seen to switch is armed again after `Periods.disturbed`, ever later in a quarrel.
struct ScanWatch: Sendable {
    struct Periods: Sendable {
        /// The silence after which a scan is armed again.
        var quiet = Backoff(.seconds(30)...Duration.seconds(60))
        /// The time from another program's command to the scan's arming.
        var disturbed = Backoff(.seconds(1)...Duration.seconds(60))
        /// The silence, in all scans together, after which the adapter is restarted.
        var stuck = Backoff(.seconds(600)...Duration.seconds(6 * 3600))
    }

    enum Step: Equatable, Sendable {
        /// Nothing before the next deadline.
        case wait
        case arm
        case restart
    }

    /// The failures of scans, one after another, after which the adapter is restarted.
    private static let failureLimit = 3

    private var periods: Periods
    private var failures = 0
    private var failureLimit = Self.failureLimit
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

/// The counts of what was done so that the radio goes on, since the start.
package struct RadioCounts: Equatable, Sendable {
    package var opened: UInt64 = 0
    /// Of these, the times that the one before came back under another name.
    package var moved: UInt64 = 0
    package var lost: UInt64 = 0
    /// The times that a running scan was armed again, for any reason.
    package var armed: UInt64 = 0
    /// Of these, the times because nothing was heard.
    package var quiet: UInt64 = 0
    /// The times that another program, or the kernel, switched a running scan.
    package var disturbed: UInt64 = 0
    /// The times that the machine woke from sleep.
    package var resumed: UInt64 = 0
    package var failedScans: UInt64 = 0
    package var failedAttempts: UInt64 = 0
    /// The connections that the kernel had not begun to make some seconds after it was asked.
    package var stalledConnections: UInt64 = 0
    /// The steps that the adapter told no end of, and that were given up.
    package var overdue: UInt64 = 0
    /// The attempts that were given up: their time was over, or nobody wanted them any more.
    package var cancelledAttempts: UInt64 = 0
    /// The times that the sockets of a scan failed, so that others were made.
    package var rebuiltSockets: UInt64 = 0
    package var restarts: UInt64 = 0

    /// What the controllers of this process took, those that are lost included.
    package var controllers = ControllerCounts()

    package init() {}

    /// An adapter's name and address.
    private struct Place: Equatable {
        var name: String
        var address: BluetoothAddress
    }

    /// The adapter that was opened last.
    private var last: Place?

    /// Notes that an adapter was opened; without an address of its own nothing tells one from another.
    mutating func noteOpened(_ name: String, _ address: BluetoothAddress) {
        opened &+= 1
        if let last, last.address == address, last.name != name, address.rawValue != 0 { moved &+= 1 }
        last = Place(name: name, address: address)
    }

    /// Notes that an attempt to connect has failed.
    mutating func noteFailure(_ failure: LinkFailure) {
        failedAttempts &+= 1
        if case .timedOut = failure { cancelledAttempts &+= 1 }
    }
}

/// The counts of what was done so that a controller goes on.
///
/// All but the last stay 0 on an adapter of the kernel, which does such things by itself.
package struct ControllerCounts: Equatable, Sendable {
    /// The times that a silent controller in use was asked whether it is there.
    package var probes: UInt64 = 0
    /// The times that Reset was sent again because the one before was not answered.
    package var repeatedResets: UInt64 = 0
    /// The connections that could not be established (0x3E), and were tried again.
    package var repeatedConnections: UInt64 = 0
    /// The bytes on a line that came before the answer to Reset, and were dropped.
    package var droppedBytes: UInt64 = 0
    /// The peers' wishes for other connection parameters that were granted, as a whole or in part.
    package var grantedParameters: UInt64 = 0
    /// The peers' wishes for other connection parameters that were refused.
    package var refusedParameters: UInt64 = 0
    /// The L2CAP frames that were broken, or too long to be a value.
    package var badFrames: UInt64 = 0
    /// The links that were ended because they had come up as their attempt was given up and the kernel knew nothing of
    /// them.
    package var crossedLinks: UInt64 = 0

    package init() {}

    mutating func add(_ other: ControllerCounts) {
        probes &+= other.probes
        repeatedResets &+= other.repeatedResets
        repeatedConnections &+= other.repeatedConnections
        droppedBytes &+= other.droppedBytes
        grantedParameters &+= other.grantedParameters
        refusedParameters &+= other.refusedParameters
        badFrames &+= other.badFrames
        crossedLinks &+= other.crossedLinks
    }
}
