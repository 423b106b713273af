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

    /// Begins or resumes a scan.
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
