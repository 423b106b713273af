// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO

/// The scans of a `RadioArbiter`: the requested scans and the running scan.
///
/// The other scans receive the running scan's reports. The running scan is monitored, and restarted when it may have
/// been disabled (`ScanWatch`). Used on the loop's thread.
final class RadioScans {
    /// The monitor of the running scan, with the arbiter's counts.
    var watch: ScanWatch
    /// Called when the running scan fails, which ends it; the scan remains requested.
    var onFailure: ((RadioScan, ScanError) -> Void)?
    /// Called when nothing was received for a long time; returns true if the adapter was restarted.
    var onSilence: (() -> Bool)?

    private let loop: EventLoop
    private let timer = LoopTimer()
    /// Requested scans, in the order of their start.
    private var wanted: [RadioScan] = []
    private var running: (scanner: any DeviceScanner, scan: RadioScan)?
    /// True once the controller has started the running scan.
    private var isArmed = false

    init(_ watch: ScanWatch, on loop: EventLoop) {
        self.watch = watch
        self.loop = loop
    }

    /// The scan that should run: the newest active scan or, if no scan is active, the newest scan.
    ///
    /// The reports of an active scan include all reports of a passive scan.
    var leading: RadioScan? { wanted.last { $0.parameters.type == .active } ?? wanted.last }

    func contains(_ scan: RadioScan) -> Bool { wanted.contains { $0 === scan } }

    /// Adds a scan as the newest one, even if it is already requested.
    func add(_ scan: RadioScan) {
        remove(scan)
        wanted.append(scan)
    }

    func remove(_ scan: RadioScan) { wanted.removeAll { $0 === scan } }

    /// Removes all requested scans, and returns them.
    func removeAll() -> [RadioScan] {
        defer { wanted = [] }
        return wanted
    }

    /// Calls `onStarted`, asynchronously, for a scan that shares the reports of a scan that is already running.
    func noteOverheard(by scan: RadioScan) {
        guard let running, running.scan !== scan, isArmed else { return }
        _ = loop.schedule(at: .zero) { [weak self] in
            guard let self, isArmed, contains(scan) else { return }
            scan.noteStart()
        }
    }

    /// Counts a scan failure; returns true if the adapter should be restarted.
    func noteFailure(_ error: ScanError) -> Bool {
        if case .system = error { watch.counts.rebuiltSockets &+= 1 }
        let isByController = if case .controller = error { true } else { false }
        return watch.fail(byController: isByController)
    }

    func begin(_ scan: RadioScan, on scanner: any DeviceScanner) {
        running = (scanner, scan)
        // The scanner is captured weakly: if it were retained, its sockets would stay open and reserve the index of a
        // removed adapter.
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

    /// Continues the running scan, or replaces it with another scan that uses the same scanner.
    func goOn(with scan: RadioScan) {
        guard let running else { return }
        if scan === running.scan { return shareReports(of: running.scanner, scan) }
        end()
        begin(scan, on: running.scanner)
    }

    /// Pauses the running scan, and returns its scanner; returns nil if no scan runs.
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

    /// Records that the machine and its controller were suspended.
    func resume() {
        watch.resume(now: MonotonicClock.now)
        setTimer()
    }

    /// Passes the running scan's reports to the other scans.
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

/// The policy for restarting a running scan and the adapter, on the caller's clock.
///
/// A scan that was disabled by another program, by a suspend or by a controller fault cannot be distinguished from a
/// room without advertisers. Therefore, a scan that receives nothing is restarted after `Periods.quiet`, and the
/// adapter is restarted after `Periods.stuck`; both intervals become longer while the restarts do not help. If another
/// program has changed the state of a scan, the scan is restarted after `Periods.disturbed`, which becomes longer while
/// the interference continues.
struct ScanWatch: Sendable {
    struct Periods: Sendable {
        /// The time without any report after which a scan is restarted.
        var quiet = Backoff(.seconds(30)...Duration.seconds(60))
        /// The delay between another program's command and the restart of the scan.
        var disturbed = Backoff(.seconds(1)...Duration.seconds(60))
        /// The time without any report, across all scans, after which the adapter is restarted.
        var stuck = Backoff(.seconds(600)...Duration.seconds(6 * 3600))
    }

    enum Step: Equatable, Sendable {
        /// Wait until the next deadline.
        case wait
        case arm
        case restart
    }

    /// Number of consecutive scan failures after which the adapter is restarted.
    private static let failureLimit = 3

    private var periods: Periods
    private var failures = 0
    private var failureLimit = Self.failureLimit
    var counts = RadioCounts()
    /// The time when the scan was last started, and the number of reports received by then; nil while no scan runs.
    private var armed: (time: Duration, reports: UInt64)?
    /// The time at which a disturbed scan will be restarted.
    private var mending: Duration?
    private var lastDisturbance: Duration?
    /// Time spent scanning without a report, up to the time in `armed`.
    private var silence = Duration.zero

    init(_ periods: Periods = Periods()) { self.periods = periods }

    /// The time at which to call `check`; nil while no scan runs.
    var deadline: Duration? {
        guard let armed else { return nil }
        let due = armed.time + min(periods.quiet.pause, max(.zero, periods.stuck.pause - silence))
        return mending.map { min($0, due) } ?? due
    }

    /// Records the start of a scan; `reports` is the number of reports that it has received so far.
    mutating func begin(reports: UInt64, now: Duration) {
        armed = (now, reports)
        mending = nil
        periods.quiet.reset()
    }

    /// Records the end of the running scan.
    mutating func end(reports: UInt64, now: Duration) {
        note(reports, now)
        armed = nil
        mending = nil
    }

    /// Records that another program or the kernel has enabled or disabled scanning.
    mutating func disturb(now: Duration) {
        guard armed != nil else { return }
        counts.disturbed &+= 1
        defer { lastDisturbance = now }
        guard mending == nil else { return }
        if let lastDisturbance, now - lastDisturbance > periods.disturbed.longest { periods.disturbed.reset() }
        mending = now + periods.disturbed.next()
    }

    /// Records that the machine and its controller were suspended; the scan is restarted at the next `check`.
    mutating func resume(now: Duration) {
        counts.resumed &+= 1
        if armed != nil { mending = now }
    }

    /// Records a failed scan; returns true if the adapter should be restarted.
    ///
    /// The threshold starts at three consecutive controller failures, and doubles each time it is reached.
    mutating func fail(byController: Bool) -> Bool {
        counts.failedScans &+= 1
        if byController { failures &+= 1 }
        guard byController, failures >= failureLimit else { return false }
        failureLimit = max(failureLimit, failureLimit &* 2)
        return true
    }

    /// Records that the controller has started scanning.
    mutating func noteStart() {
        failures = 0
        failureLimit = Self.failureLimit
    }

    /// Records other evidence that the controller is working.
    mutating func noteLife() {
        silence = .zero
        periods.stuck.reset()
    }

    /// Returns the next step for a scan that has received this number of reports.
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

    /// Adds the time since the last start to the silence, or resets the silence if a report was received.
    ///
    /// Returns true if a report was received.
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

/// Counts of the measures taken to recover the radio since the program started.
package struct RadioCounts: Equatable, Sendable {
    package var opened: UInt64 = 0
    /// Number of times the same adapter was reopened under another name.
    package var moved: UInt64 = 0
    package var lost: UInt64 = 0
    /// Number of restarts of a running scan, for any reason.
    package var armed: UInt64 = 0
    /// Number of restarts of a running scan because it received nothing for too long.
    package var quiet: UInt64 = 0
    /// Number of times another program or the kernel enabled or disabled a running scan.
    package var disturbed: UInt64 = 0
    /// Number of times the machine resumed from suspend.
    package var resumed: UInt64 = 0
    package var failedScans: UInt64 = 0
    package var failedAttempts: UInt64 = 0
    /// Number of requested connections that the kernel did not start within `ConnectWatchdog.limit`.
    package var stalledConnections: UInt64 = 0
    /// Number of operations abandoned because the adapter did not complete them.
    package var overdue: UInt64 = 0
    /// Number of connection attempts that timed out or were cancelled.
    package var cancelledAttempts: UInt64 = 0
    /// Number of times a scan's sockets failed and were reopened.
    package var rebuiltSockets: UInt64 = 0
    package var restarts: UInt64 = 0

    /// Sum of the counts of all controllers that this process has used, including lost controllers.
    package var controllers = ControllerCounts()

    package init() {}

    /// An adapter's name and address.
    private struct Place: Equatable {
        var name: String
        var address: BluetoothAddress
    }

    /// The adapter that was opened last.
    private var last: Place?

    /// Records that an adapter was opened; an adapter without an address cannot be recognised.
    mutating func noteOpened(_ name: String, _ address: BluetoothAddress) {
        opened &+= 1
        if let last, last.address == address, last.name != name, address.rawValue != 0 { moved &+= 1 }
        last = Place(name: name, address: address)
    }

    /// Records a failed connection attempt.
    mutating func noteFailure(_ failure: LinkFailure) {
        failedAttempts &+= 1
        if case .timedOut = failure { cancelledAttempts &+= 1 }
    }
}

/// Counts of the measures taken to recover a controller.
///
/// All counts except `crossedLinks` stay 0 on a kernel adapter, because the kernel takes the other measures itself.
package struct ControllerCounts: Equatable, Sendable {
    /// Number of liveness probes sent to a silent controller in use.
    package var probes: UInt64 = 0
    /// Number of times Reset was sent again because it had not been answered.
    package var repeatedResets: UInt64 = 0
    /// Number of retries after a connection was not established (0x3E).
    package var repeatedConnections: UInt64 = 0
    /// Number of bytes discarded because they arrived before the response to Reset.
    package var droppedBytes: UInt64 = 0
    /// Number of peers' connection parameter requests that were accepted, fully or in part.
    package var grantedParameters: UInt64 = 0
    /// Number of peers' connection parameter requests that were rejected.
    package var refusedParameters: UInt64 = 0
    /// Number of L2CAP frames that were malformed or too long for a value.
    package var badFrames: UInt64 = 0
    /// Number of orphaned links that were ended.
    ///
    /// Each was established while its attempt was being cancelled, and the kernel did not know about it.
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
