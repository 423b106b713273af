// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
package import BluetoothPackets
package import LinuxIO

/// Decides who uses an adapter's radio, and when: everything that scans, connects or advertises asks it.
///
/// One scan at a time: the newest has the radio, and the ones before rest. While a connection is being made every scan rests
/// (BT-4), and the connection begins when the controller has ended the scan. Connections are made one after another. One
/// server advertises. To be used on the loop's thread.
package final class RadioArbiter {
    private enum Radio {
        case idle
        case scanning(any DeviceScanner, RadioScan)
        case stopping(any DeviceScanner)
        case connecting(RadioAttempt)
    }

    /// How soon a device that is tried again and again has its next turn.
    private static let pause = Duration.seconds(1)

    /// The loop on whose thread everything happens.
    package let loop: EventLoop
    /// The adapter; nil while there is none.
    package private(set) var adapter: (any LowEnergyAdapter)?
    /// Why there is none.
    var absence = BluetoothError.unavailable(.unknown, cause: "Bluetooth is not ready yet", remedy: nil)
    /// Called when a scan finds the adapter gone, before the system says so.
    var onAdapterGone: (() -> Void)?

    private var radio = Radio.idle
    private var scans: [RadioScan] = []
    private var attempts: [RadioAttempt] = []
    private var pauseTimer: EventLoop.Timer?
    /// Called when the controller scans no more.
    private var onQuiet: [() -> Void] = []
    /// Wishes that change together are looked at together.
    private var holds = 0
    /// The server that advertises here.
    private weak var server: ServerCore?

    /// An arbiter of an adapter that is there already, or comes later.
    package init(on loop: EventLoop, using adapter: (any LowEnergyAdapter)? = nil) {
        self.loop = loop
        self.adapter = adapter
    }

    // MARK: The adapter

    /// An adapter is there.
    package func use(_ adapter: any LowEnergyAdapter) {
        self.adapter = adapter
        arbitrate()
    }

    /// The adapter, or why there is none.
    func ready() throws(BluetoothError) -> any LowEnergyAdapter {
        guard let adapter else { throw absence }
        return adapter
    }

    /// The adapter is gone: everything ends with the reason.
    package func lose(_ reason: String) {
        adapter = nil
        absence = .unavailable(.resetting, cause: reason, remedy: nil)
        cancelPause()
        switch radio {
        case .scanning(let scanner, _), .stopping(let scanner): scanner.close()
        case .idle, .connecting: break
        }
        radio = .idle
        let (lostScans, lostAttempts) = (scans, attempts)
        (scans, attempts) = ([], [])
        for scan in lostScans { scan.fail(.adapterGone) }
        for attempt in lostAttempts { attempt.finish(.failure(.adapterLost(reason))) }
        server?.adapterLost(reason)
        becomeQuiet()
    }

    /// Looks at what has changed within `body` when it returns, and not at each step of it.
    package func together(_ body: () -> Void) {
        holds += 1
        body()
        holds -= 1
        arbitrate()
    }

    // MARK: Scanning

    /// Begins a scan, or gives one that rests the radio again.
    package func start(_ scan: RadioScan) {
        scans.removeAll { $0 === scan }
        scans.append(scan)
        arbitrate()
    }

    /// Ends a scan; `completion` is called when the controller scans no more, or for others only.
    package func stop(_ scan: RadioScan, completion: @escaping () -> Void = {}) {
        scan.onUpdate = nil
        scan.onFailure = nil
        scans.removeAll { $0 === scan }
        onQuiet.append(completion)
        arbitrate()
    }

    private func fail(_ scan: RadioScan, _ scanner: any DeviceScanner, _ error: ScanError) {
        guard case .scanning(let current, _) = radio, current === scanner else { return }
        scan.rest()
        scanner.close()
        radio = .idle
        end(scan, error)
    }

    private func end(_ scan: RadioScan, _ error: ScanError) {
        scans.removeAll { $0 === scan }
        if error == .adapterGone, let onAdapterGone {
            scans.append(scan)
            return onAdapterGone()
        }
        scan.fail(error)
        arbitrate()
    }

    // MARK: Connecting

    /// Connects to a device; `completion` is called once, unless the attempt is cancelled.
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

    /// Gives an attempt up; `completion` is called, later, when there is nothing left of it.
    package func cancel(_ attempt: RadioAttempt, completion: @escaping () -> Void = {}) {
        attempts.removeAll { $0 === attempt }
        let isUnderWay = attempt.connection != nil
        attempt.abandon()
        if case .connecting(let current) = radio, current === attempt {
            cancelPause()
            radio = .idle
        }
        if isUnderWay { disconnect(attempt.device, completion: completion) } else { later(completion) }
        arbitrate()
    }

    /// Ends the connection with a device at once; `completion` is called, later, when it is no more.
    package func disconnect(_ device: DeviceAddress, completion: @escaping () -> Void) {
        guard let adapter else { return later(completion) }
        adapter.disconnect(device, completion: completion)
    }

    private func connected(_ attempt: RadioAttempt, _ result: Result<any ATTChannel, LinkFailure>) {
        attempt.connection = nil
        if case .failure(let failure) = result, attempt.isWorthTryingAgain(after: failure) {
            // The others have their turn first.
            attempts.removeAll { $0 === attempt }
            attempts.append(attempt)
            pauseTimer = loop.schedule(at: MonotonicClock.now + Self.pause) { [weak self] in
                guard let self else { return }
                pauseTimer = nil
                radio = .idle
                arbitrate()
            }
            return
        }
        attempts.removeAll { $0 === attempt }
        radio = .idle
        together { attempt.finish(result.map { ATTLink($0, on: loop) }) }
    }

    private func cancelPause() {
        if let pauseTimer { loop.cancel(pauseTimer) }
        pauseTimer = nil
    }

    // MARK: Advertising

    /// Advertises for a server; `completion` is called once, later.
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

    /// Advertises no more; connections stay.
    func stopAdvertising(completion: @escaping () -> Void) {
        guard let adapter else { return completion() }
        adapter.stopAdvertising(completion: completion)
    }

    // MARK: Who has the radio

    /// Brings the radio nearer to what is wanted of it; called again at the end of each step.
    private func arbitrate() {
        guard holds == 0 else { return }
        guard let adapter else { return becomeQuiet() }
        switch radio {
        case .idle:
            if let attempt = attempts.first {
                connect(attempt, adapter)
            } else if let scan = scans.last {
                begin(scan, adapter)
            }
        case .scanning(let scanner, let current):
            if attempts.isEmpty, let scan = scans.last {
                if scan !== current { exchange(current, for: scan, scanner) }
            } else {
                rest(scanner, current)
            }
        case .stopping, .connecting: break
        }
        if case .stopping = radio { return }
        becomeQuiet()
    }

    /// Calls `handler` from the loop, and not from within the call that leads to it.
    private func later(_ handler: @escaping () -> Void) { _ = loop.schedule(at: .zero, handler: handler) }

    /// Tells those who have ended a scan that it is over.
    private func becomeQuiet() {
        let waiting = onQuiet
        onQuiet = []
        for completion in waiting { completion() }
    }

    private func begin(_ scan: RadioScan, _ adapter: any LowEnergyAdapter) {
        do throws(ScanError) {
            let scanner = try adapter.makeScanner()
            begin(scan, scanner)
        } catch {
            later { [weak self] in
                guard let self, scans.contains(where: { $0 === scan }) else { return }
                end(scan, error)
            }
        }
    }

    private func begin(_ scan: RadioScan, _ scanner: any DeviceScanner) {
        radio = .scanning(scanner, scan)
        scanner.onFailure = { [weak self] error in self?.fail(scan, scanner, error) }
        scan.begin(scanner)
    }

    private func exchange(_ scan: RadioScan, for next: RadioScan, _ scanner: any DeviceScanner) {
        scan.rest()
        begin(next, scanner)
    }

    private func rest(_ scanner: any DeviceScanner, _ scan: RadioScan) {
        radio = .stopping(scanner)
        scan.rest()
        scanner.onFailure = nil
        scanner.stop { [weak self] in
            // Its sockets would hear every report of the kernel's own scans.
            scanner.close()
            guard let self, case .stopping = radio else { return }
            radio = .idle
            arbitrate()
        }
    }

    private func connect(_ attempt: RadioAttempt, _ adapter: any LowEnergyAdapter) {
        radio = .connecting(attempt)
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
}
