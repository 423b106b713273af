// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
package import BluetoothPackets
package import LinuxIO

/// The owner of an adapter's radio: every scan, connection, pairing and advertisement goes through it.
///
/// One scan runs at a time: the newest, an active one before a passive one; the others overhear it, each with its own
/// filter and table, so that nobody who scans keeps others from hearing. While a connection is being made every scan is
/// paused (BT-4); the connection begins when the controller has stopped scanning. Connections are made one
/// after another. A pairing comes before them, and while it runs every scan is paused and no connection is made. One server
/// can advertise.
///
/// A running scan is watched, and armed again when it may have been switched off (`ScanWatch`). What an adapter was asked
/// for and never tells the end of is given up (`Limits`).
///
/// Every method is called on the loop's thread, and so is every handler.
package final class RadioArbiter {
    /// The loop on whose thread all methods and handlers are called.
    package let loop: EventLoop
    package private(set) var adapter: (any LowEnergyAdapter)?
    /// The error that is thrown while there is no adapter.
    var absence = BluetoothError.unavailable(.unknown, cause: "Bluetooth is not ready yet", remedy: nil)
    /// The handler that is called when a scan finds the adapter gone, before the system reports it.
    var onAdapterGone: (() -> Void)?

    /// True to restart an adapter that hears nothing for long, or refuses every scan; every scan on it fails then.
    ///
    /// For who opens it again and goes on, and has it alone.
    package var restartsAdapter = false

    private var radio = Radio.idle
    /// The scans that are wanted, and the one that runs.
    private let scans: RadioScans
    private let limits: Limits
    /// The limit of the step that the adapter was asked for.
    private let limitTimer = LoopTimer()
    /// The connections that are wanted; the first one is made first.
    private var attempts: [RadioAttempt] = []
    /// The pairings that are wanted; the first one is made first.
    private var pairings: [RadioPairing] = []
    private let pauseTimer = LoopTimer()
    /// The handlers to be called when the controller has stopped scanning.
    private var onQuiet: [() -> Void] = []
    /// The number of `together` calls under way, during which `arbitrate` does nothing.
    private var holds = 0
    /// The server that has advertised on this adapter, if it still exists.
    private weak var server: ServerCore?

    /// Makes an arbiter of an adapter; without one, scans and connections wait for `use`.
    package convenience init(on loop: EventLoop, using adapter: (any LowEnergyAdapter)? = nil) {
        self.init(on: loop, using: adapter, ScanWatch())
    }

    init(
        on loop: EventLoop,
        using adapter: (any LowEnergyAdapter)? = nil,
        _ watch: ScanWatch,
        _ limits: Limits = Limits()
    ) {
        self.loop = loop
        self.limits = limits
        scans = RadioScans(watch, on: loop)
        scans.onFailure = { [weak self] scan, error in
            self?.radio = .idle
            self?.end(scan, error)
        }
        scans.onSilence = { [weak self] in self?.restart(AdapterErrorDescription.nothingHeard) ?? false }
        if let adapter { use(adapter) }
    }

    /// The counts of what was done so that the radio goes on.
    package var counts: RadioCounts {
        var counts = scans.watch.counts
        if let adapter { counts.controllers.add(adapter.controllerCounts) }
        return counts
    }

    // MARK: The adapter

    /// Takes over an adapter, and begins what waits for one.
    package func use(_ adapter: any LowEnergyAdapter) {
        self.adapter = adapter
        scans.watch.counts.noteOpened(adapter.name, adapter.address)
        adapter.onWake = { [weak self] in self?.scans.resume() }
        adapter.onStalledConnection = { [weak self] in self?.scans.watch.counts.stalledConnections &+= 1 }
        arbitrate()
    }

    /// The adapter; throws `absence` without one.
    func ready() throws(BluetoothError) -> any LowEnergyAdapter {
        guard let adapter else { throw absence }
        return adapter
    }

    /// Drops the adapter after its loss: every scan fails with `ScanError.adapterGone`, every connection attempt with
    /// `LinkFailure.adapterLost` and the cause, every pairing ends with `onLoss`, and the server's connections end.
    package func lose(_ loss: AdapterLoss) {
        if let adapter { scans.watch.counts.controllers.add(adapter.controllerCounts) }
        adapter?.onWake = nil
        adapter?.onStalledConnection = nil
        adapter = nil
        scans.watch.counts.lost &+= 1
        absence = .unavailable(loss.state, cause: loss.cause, remedy: loss.remedy)
        pauseTimer.cancel()
        limitTimer.cancel()
        switch radio {
        case .scanning: scans.end()?.close()
        case .stopping(let scanner): scanner.close()
        case .idle, .connecting, .pairing: break
        }
        radio = .idle
        let (lostScans, lostAttempts, lostPairings) = (scans.removeAll(), attempts, pairings)
        (attempts, pairings) = ([], [])
        for scan in lostScans { scan.fail(.adapterGone) }
        for attempt in lostAttempts { attempt.finish(.failure(.adapterLost(loss.cause))) }
        for pairing in lostPairings { pairing.lose(loss) }
        server?.adapterLost(loss.cause)
        becomeQuiet()
    }

    /// Runs `body`, and decides about the radio once, after it, instead of at each of the calls within it.
    package func together(_ body: () -> Void) {
        holds += 1
        body()
        holds -= 1
        arbitrate()
    }

    // MARK: Scanning

    /// Adds a scan; one that was started before becomes the newest.
    package func start(_ scan: RadioScan) {
        scans.add(scan)
        arbitrate()
        scans.noteOverheard(by: scan)
    }

    /// Ends a scan, whose handlers are not called any more.
    ///
    /// `completion` is called when the controller has stopped scanning, or at once if it scans for other scans only.
    package func stop(_ scan: RadioScan, completion: @escaping () -> Void = {}) {
        scan.onUpdate = nil
        scan.onPacket = nil
        scan.onFailure = nil
        scans.remove(scan)
        onQuiet.append(completion)
        arbitrate()
    }

    private func end(_ scan: RadioScan, _ error: ScanError) {
        scans.remove(scan)
        if error == .adapterGone, let onAdapterGone {
            scans.add(scan)
            return onAdapterGone()
        }
        let isRestartDue = scans.noteFailure(error)
        scan.fail(error)
        if isRestartDue { restart(AdapterErrorDescription.scanFailsAlways) }
        arbitrate()
    }

    // MARK: Connecting

    /// Adds a connection attempt to the queue.
    ///
    /// `completion` is called once, on the loop's thread, unless the attempt is cancelled.
    package func connect(
        to device: DeviceAddress,
        _ patience: RadioAttempt.Patience,
        completion: @escaping (Result<ATTLink, LinkFailure>) -> Void
    ) -> RadioAttempt {
        let attempt = RadioAttempt(device, patience, completion)
        attempts.append(attempt)
        arbitrate()
        return attempt
    }

    /// Cancels an attempt, whose completion handler is not called.
    ///
    /// `completion` is called, later, when the controller has given up the connection.
    package func cancel(_ attempt: RadioAttempt, completion: @escaping () -> Void = {}) {
        attempts.removeAll { $0 === attempt }
        let isUnderWay = attempt.connection != nil
        attempt.abandon()
        if case .connecting(let current) = radio, current === attempt {
            pauseTimer.cancel()
            limitTimer.cancel()
            radio = .idle
        }
        if isUnderWay {
            scans.watch.counts.cancelledAttempts &+= 1
            disconnect(attempt.device, completion: completion)
        } else {
            later(completion)
        }
        arbitrate()
    }

    /// Ends the connection with a device at once; `completion` is called, later, when the controller has ended it.
    package func disconnect(_ device: DeviceAddress, completion: @escaping () -> Void) {
        guard let adapter else { return later(completion) }
        adapter.disconnect(device, completion: completion)
    }

    private func connected(_ attempt: RadioAttempt, _ result: Result<any ATTChannel, LinkFailure>) {
        limitTimer.cancel()
        attempt.connection = nil
        switch result {
        case .success: scans.watch.noteLife()
        case .failure(let failure): scans.watch.counts.noteFailure(failure)
        }
        attempts.removeAll { $0 === attempt }
        if case .failure(let failure) = result, attempt.isWorthTryingAgain(after: failure) {
            // The other attempts come first.
            attempts.append(attempt)
            pauseTimer.set(on: loop, after: RadioAttempt.pause) { [weak self] in
                self?.radio = .idle
                self?.arbitrate()
            }
            return
        }
        radio = .idle
        together { attempt.finish(result.map { ATTLink($0, on: loop) }) }
    }

    // MARK: Pairing

    /// Adds a pairing, which comes before every scan and every connection that has not begun.
    package func start(_ pairing: RadioPairing) {
        pairings.append(pairing)
        arbitrate()
    }

    /// Ends a pairing and its link, in any state, with `forgetting` without a key left below this process; its handlers are
    /// not called any more.
    ///
    /// `completion` is called once, later, when the radio is free for others.
    package func end(_ pairing: RadioPairing, forgetting: Bool, completion: @escaping () -> Void) {
        let isRunning = if case .pairing(let current) = radio { current === pairing } else { false }
        if isRunning {
            limitTimer.cancel()
            limit(limits.stop) { pairing.noteClosed() }
        }
        pairing.close(forgetting: forgetting) { [weak self] in
            guard let self else { return }
            pairings.removeAll { $0 === pairing }
            if case .pairing(let current) = radio, current === pairing {
                limitTimer.cancel()
                radio = .idle
            }
            later(completion)
            arbitrate()
        }
    }

    // MARK: Advertising

    /// Advertises for a server.
    ///
    /// `completion` is called once, later. Throws `unavailable` without an adapter, and `serverExists` if another
    /// server that has advertised here still exists.
    func advertise(
        _ advertisement: Advertisement,
        for server: ServerCore,
        onConnection: @escaping (any ATTChannel) -> Void,
        completion: @escaping (Result<Void, AdapterError>) -> Void
    ) throws(BluetoothError) {
        if let other = self.server, other !== server { throw .serverExists }
        let adapter = try ready()
        self.server = server
        adapter.advertise(advertisement, onConnection: onConnection, completion: completion)
    }

    /// Ends the advertising; connections stay.
    ///
    /// `completion` is called when the controller has stopped.
    func stopAdvertising(completion: @escaping () -> Void) {
        guard let adapter else { return completion() }
        adapter.stopAdvertising(completion: completion)
    }

    // MARK: Who has the radio

    /// Makes the next step from the present use of the radio to the wanted one; called again at the end of each step.
    private func arbitrate() {
        guard holds == 0 else { return }
        guard let adapter else { return becomeQuiet() }
        switch radio {
        case .idle:
            if let pairing = pairings.first {
                begin(pairing, adapter)
            } else if let attempt = attempts.first {
                connect(attempt, adapter)
            } else if let scan = scans.leading {
                begin(scan, adapter)
            }
        case .scanning:
            if attempts.isEmpty, pairings.isEmpty, let scan = scans.leading { scans.goOn(with: scan) } else { rest() }
        case .stopping, .connecting, .pairing: break
        }
        if case .stopping = radio { return }
        becomeQuiet()
    }

    /// Calls `handler` from the loop, after the present call has returned.
    private func later(_ handler: @escaping () -> Void) { _ = loop.schedule(at: .zero, handler: handler) }

    /// Calls the handlers that wait until the controller has stopped scanning.
    private func becomeQuiet() {
        let waiting = onQuiet
        onQuiet = []
        for completion in waiting { completion() }
    }

    private func begin(_ scan: RadioScan, _ adapter: any LowEnergyAdapter) {
        do throws(ScanError) {
            let scanner = try adapter.makeScanner()
            radio = .scanning
            scans.begin(scan, on: scanner)
        } catch {
            later { [weak self] in
                guard let self, scans.contains(scan) else { return }
                end(scan, error)
            }
        }
    }

    private func rest() {
        guard let scanner = scans.end() else { return }
        radio = .stopping(scanner)
        scanner.onFailure = nil
        let rested = { [weak self, weak scanner] in
            // An open scanner would receive every report of the scans that the kernel makes to connect.
            scanner?.close()
            guard let self, case .stopping(let current) = radio, current === scanner else { return }
            limitTimer.cancel()
            radio = .idle
            arbitrate()
        }
        limit(limits.stop, orElse: rested)
        scanner.stop(completion: rested)
    }

    private func connect(_ attempt: RadioAttempt, _ adapter: any LowEnergyAdapter) {
        radio = .connecting(attempt)
        limit(attempt.timeout + limits.connection) { [weak self] in
            attempt.connection?.cancel()
            self?.connected(attempt, .failure(.timedOut(attempt.timeout)))
        }
        do throws(LinkFailure) {
            attempt.connection = try adapter.connect(to: attempt.device, timeout: attempt.timeout) {
                [weak self] result in
                self?.connected(attempt, result)
            }
        } catch {
            later { [weak self] in
                guard let self, case .connecting(let current) = radio, current === attempt else { return }
                connected(attempt, .failure(error))
            }
        }
    }

    private func begin(_ pairing: RadioPairing, _ adapter: any LowEnergyAdapter) {
        radio = .pairing(pairing)
        limit(pairing.wish.limit + limits.pairing) { pairing.giveUp() }
        pairing.begin(on: adapter)
    }

    // MARK: The limit of a step

    /// Goes on with `next` where the adapter has not told of the end of its step within `time`.
    ///
    /// Such an adapter is restarted where that is wanted: what it does next cannot be known.
    private func limit(_ time: Duration, orElse next: @escaping () -> Void) {
        limitTimer.set(on: loop, after: time) { [weak self] in
            guard let self else { return }
            scans.watch.counts.overdue &+= 1
            next()
            restart(AdapterErrorDescription.endsNothing)
        }
    }

    /// Restarts the adapter; false where it is left alone.
    @discardableResult
    private func restart(_ cause: (String) -> String) -> Bool {
        // A controller with a link is alive, and a link is worth more than what may be heard.
        guard restartsAdapter, let adapter, !adapter.isConnected else { return false }
        noteRestart()
        adapter.restart(cause(adapter.name))
        return true
    }

    func noteRestart() { scans.watch.counts.restarts &+= 1 }
}
