// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
package import BluetoothPackets
package import LinuxIO

/// The owner of an adapter's radio: every scan, connection, pairing and advertisement goes through it.
///
/// One scan runs at a time: the newest active scan, or the newest passive scan if no scan is active. The other scans
/// receive its reports, each with its own filter and table, so no scan blocks another. All scans are paused while a
/// connection is being made (BT-4); connecting starts when the controller has stopped scanning. Connections are made
/// one after another. A pairing has priority over scans and connections; while it runs, all scans are paused and no
/// connection is made. Only one server can advertise.
///
/// A running scan is monitored, and restarted when it may have been disabled (`ScanWatch`). An operation that the
/// adapter does not complete in time is abandoned (`Limits`).
///
/// Every method is called on the loop's thread, and so is every handler.
package final class RadioArbiter {
    /// The loop whose thread calls all methods and handlers.
    package let loop: EventLoop
    package private(set) var adapter: (any LowEnergyAdapter)?
    /// The error thrown while there is no adapter.
    package var absence = BluetoothError.unavailable(.unknown, cause: "Bluetooth is not ready yet", remedy: nil)
    /// The handler that is called when a scan detects that the adapter was removed, before the system reports it.
    var onAdapterGone: (() -> Void)?

    /// True if the arbiter may restart an adapter that receives nothing for a long time or rejects every scan.
    ///
    /// A restart makes the adapter's scans fail. Set this only in a program that reopens the adapter and uses it
    /// exclusively.
    package var restartsAdapter = false

    private var radio = Radio.idle
    /// The requested scans and the running scan.
    private let scans: RadioScans
    private let limits: Limits
    /// Timer for the time-out of the adapter's current operation.
    private let limitTimer = LoopTimer()
    /// Queue of connection attempts.
    private var attempts: [RadioAttempt] = []
    /// Queue of pairings.
    private var pairings: [RadioPairing] = []
    private let pauseTimer = LoopTimer()
    /// Handlers to be called when the controller has stopped scanning.
    private var onQuiet: [() -> Void] = []
    /// Number of `together` calls in progress; `arbitrate` does nothing until they return.
    private var holds = 0
    /// The server that has advertised on this adapter; nil once the server is deallocated.
    private weak var server: ServerCore?

    /// Creates an arbiter for an adapter; without an adapter, scans and connections wait until `use` is called.
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

    /// Counts of recovery measures for the radio.
    package var counts: RadioCounts {
        var counts = scans.watch.counts
        if let adapter { counts.controllers.add(adapter.controllerCounts) }
        return counts
    }

    // MARK: The adapter

    /// Starts using an adapter, and starts the operations that are waiting for an adapter.
    package func use(_ adapter: any LowEnergyAdapter) {
        self.adapter = adapter
        scans.watch.counts.noteOpened(adapter.name, adapter.address)
        adapter.onWake = { [weak self] in self?.scans.resume() }
        adapter.onStalledConnection = { [weak self] in self?.scans.watch.counts.stalledConnections &+= 1 }
        arbitrate()
    }

    /// Returns the adapter; throws `absence` if there is none.
    package func ready() throws(BluetoothError) -> any LowEnergyAdapter {
        guard let adapter else { throw absence }
        return adapter
    }

    /// Drops the adapter, which was lost.
    ///
    /// Every scan fails with `ScanError.adapterGone`, and every connection attempt with `LinkFailure.adapterLost` and
    /// the cause. Every pairing ends with a call of `onLoss`. The server's connections end.
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

    /// Runs `body`, and arbitrates once afterwards instead of after each call that `body` makes.
    package func together(_ body: () -> Void) {
        holds += 1
        body()
        holds -= 1
        arbitrate()
    }

    // MARK: Scanning

    /// Adds a scan; if the scan is already in the list, it becomes the newest.
    package func start(_ scan: RadioScan) {
        scans.add(scan)
        arbitrate()
        scans.noteOverheard(by: scan)
    }

    /// Stops a scan; its handlers are not called afterwards.
    ///
    /// `completion` is called when the controller has stopped scanning, or immediately if other scans keep the
    /// controller scanning.
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

    /// Cancels an attempt without calling its completion handler.
    ///
    /// `completion` is called asynchronously when the controller has cancelled the connection.
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

    /// Ends the connection with a device immediately; `completion` is called asynchronously when the controller has
    /// ended it.
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
            // Move the attempt to the end of the queue.
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

    /// Adds a pairing, which has priority over every scan and over connections that have not started.
    package func start(_ pairing: RadioPairing) {
        pairings.append(pairing)
        arbitrate()
    }

    /// Ends a pairing and its link, in any state; its handlers are not called afterwards.
    ///
    /// If `forgetting` is true, the device's keys are removed from the kernel or the host stack too. `completion` is
    /// called once, asynchronously, when the radio is free again.
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
    /// `completion` is called once, asynchronously. Throws `unavailable` if there is no adapter, and `serverExists` if
    /// another server that has advertised here still exists.
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

    /// Stops advertising; existing connections stay open.
    ///
    /// `completion` is called when the controller has stopped.
    func stopAdvertising(completion: @escaping () -> Void) {
        guard let adapter else { return completion() }
        adapter.stopAdvertising(completion: completion)
    }

    // MARK: Arbitration

    /// Starts the next step that leads from the current use of the radio to the requested use; called after each step.
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

    /// Calls `handler` from the loop, after the current call has returned.
    private func later(_ handler: @escaping () -> Void) { _ = loop.schedule(at: .zero, handler: handler) }

    /// Calls the handlers waiting for the controller to stop scanning.
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
            // Close the scanner: an open one would receive every report of the scans that the kernel runs for
            // connecting.
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

    // MARK: Operation time-outs

    /// Calls `next` if the adapter does not complete the current operation within `time`.
    ///
    /// In that case, the adapter's state is unknown, so the adapter is restarted if `restartsAdapter` is set.
    private func limit(_ time: Duration, orElse next: @escaping () -> Void) {
        limitTimer.set(on: loop, after: time) { [weak self] in
            guard let self else { return }
            scans.watch.counts.overdue &+= 1
            next()
            restart(AdapterErrorDescription.endsNothing)
        }
    }

    /// Restarts the adapter; returns false if restarting is not allowed.
    @discardableResult
    private func restart(_ cause: (String) -> String) -> Bool {
        // A controller that has a link is working, and keeping the link is more important than scanning.
        guard restartsAdapter, let adapter, !adapter.isConnected else { return false }
        noteRestart()
        adapter.restart(cause(adapter.name))
        return true
    }

    func noteRestart() { scans.watch.counts.restarts &+= 1 }
}
