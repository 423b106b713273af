// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO
import SystemPackage

/// A device was heard: what it says, and what of that is new.
public typealias Discovery = DeviceTable.Update

/// The central's part of an adapter: one scan, connections, and who may use the radio when.
///
/// The scan rests while a connection is being made (BT-4); attempts to several devices take turns. To be used on the
/// loop's thread.
final class CentralCore {
    /// A scan that somebody reads.
    struct Scan {
        var identifier: UInt64
        var parameters: ScanParameters
        var filter: ScanFilter
        var reportsDuplicates: Bool
        var source: BoundedSequence<Discovery>.Source
    }

    private enum Radio {
        case idle
        case scanning(any DeviceScanner, scan: UInt64)
        case stopping(any DeviceScanner)
        case connecting
    }

    private struct Attempt {
        var identifier: UInt64
        var device: DeviceAddress
        var reply: Reply<Void>
    }

    /// How long one device is tried before it is the next one's turn.
    private static let turn = Duration.seconds(10)
    /// How soon a device is tried again.
    private static let pause = Duration.seconds(1)

    private unowned let adapter: AdapterCore
    private var radio = Radio.idle
    private var scan: Scan?
    private var attempts: [Attempt] = []
    private var connection: (any ConnectionAttempt)?
    private var timer: EventLoop.Timer?
    private var lastIdentifier: UInt64 = 0
    private(set) var peripherals: [DeviceAddress: PeripheralCore] = [:]

    init(_ adapter: AdapterCore) {
        self.adapter = adapter
    }

    var loop: EventLoop { adapter.loop }

    func makeIdentifier() -> UInt64 {
        lastIdentifier &+= 1
        return lastIdentifier
    }

    /// What is known of a device, connected or not.
    func peripheral(_ device: DeviceAddress) -> PeripheralCore {
        if let known = peripherals[device] { return known }
        let peripheral = PeripheralCore(device, self)
        peripherals[device] = peripheral
        return peripheral
    }

    // MARK: Scanning

    /// Begins a scan, which ends the one before (CB-2).
    func start(_ scan: Scan) throws(BluetoothError) {
        _ = try adapter.ready()
        self.scan?.source.finish()
        self.scan = scan
        arbitrate()
    }

    /// Ends a scan, unless another has taken its place.
    func stopScan(_ identifier: UInt64? = nil) {
        guard let scan, identifier == nil || scan.identifier == identifier else { return }
        scan.source.finish()
        self.scan = nil
        arbitrate()
    }

    private func scanFailed(_ error: ScanError) {
        if case .scanning(let scanner, _) = radio {
            scanner.close()
            radio = .idle
        }
        scan?.source.finish(BluetoothError(error))
        scan = nil
        arbitrate()
    }

    // MARK: Connecting

    /// Connects for as long as it takes (CB-6); the number is for `cancel`.
    func connect(_ device: DeviceAddress, _ reply: Reply<Void>) throws(BluetoothError) -> UInt64 {
        _ = try adapter.ready()
        let identifier = makeIdentifier()
        if peripheral(device).isConnected {
            reply.give(.success(()))
        } else {
            attempts.append(Attempt(identifier: identifier, device: device, reply: reply))
            arbitrate()
        }
        return identifier
    }

    /// Gives an attempt up.
    func cancel(_ identifier: UInt64) {
        guard let index = attempts.firstIndex(where: { $0.identifier == identifier }) else { return }
        let attempt = attempts.remove(at: index)
        // The one that is being tried is the first one's device.
        guard index == 0, attempts.first?.device != attempt.device else { return }
        endAttempt()
        adapter.backend?.disconnect(attempt.device) {}
        arbitrate()
    }

    /// Ends the connection with a device, or what is under way of it.
    func disconnect(_ device: DeviceAddress, completion: @escaping () -> Void) {
        guard let backend = adapter.backend else { return completion() }
        backend.disconnect(device, completion: completion)
    }

    private func endAttempt() {
        connection?.cancel()
        connection = nil
        if let timer { loop.cancel(timer) }
        timer = nil
        if case .connecting = radio { radio = .idle }
    }

    private func connected(_ device: DeviceAddress, _ result: Result<any ATTChannel, LinkFailure>) {
        connection = nil
        switch result {
        case .success(let channel):
            radio = .idle
            let replies = attempts.filter { $0.device == device }.map(\.reply)
            attempts.removeAll { $0.device == device }
            peripheral(device).connected(channel, replies)
            arbitrate()
        case .failure(let failure) where failure.isWorthTryingAgain:
            let waiting = attempts.filter { $0.device == device }
            attempts.removeAll { $0.device == device }
            attempts += waiting
            timer = loop.schedule(at: MonotonicClock.now + Self.pause) { [weak self] in
                self?.endAttempt()
                self?.arbitrate()
            }
        case .failure(let failure):
            radio = .idle
            let replies = attempts.filter { $0.device == device }.map(\.reply)
            attempts.removeAll { $0.device == device }
            for reply in replies { reply.give(.failure(.connectionFailed(DisconnectReason(failure)))) }
            arbitrate()
        }
    }

    // MARK: Who may use the radio

    /// Brings the radio nearer to what is wanted of it; called again at the end of each step.
    private func arbitrate() {
        guard let backend = adapter.backend else { return }
        switch radio {
        case .idle:
            if let attempt = attempts.first {
                connect(attempt.device, backend)
            } else if let scan {
                begin(scan, backend)
            }
        case .scanning(let scanner, let identifier):
            if let scan, attempts.isEmpty {
                if scan.identifier != identifier { begin(scan, scanner) }
            } else {
                radio = .stopping(scanner)
                scanner.onUpdate = nil
                scanner.stop { [weak self] in
                    scanner.close()
                    guard let self, case .stopping = radio else { return }
                    radio = .idle
                    arbitrate()
                }
            }
        case .stopping, .connecting: break
        }
    }

    private func begin(_ scan: Scan, _ backend: any LowEnergyAdapter) {
        do throws(ScanError) {
            let scanner = try backend.makeScanner()
            scanner.onFailure = { [weak self] error in self?.scanFailed(error) }
            begin(scan, scanner)
        } catch {
            scanFailed(error)
        }
    }

    private func begin(_ scan: Scan, _ scanner: any DeviceScanner) {
        radio = .scanning(scanner, scan: scan.identifier)
        scanner.onUpdate = { update in scan.source.send(update) }
        scanner.start(
            scan.parameters,
            devices: DeviceTable(filter: scan.filter, reportsDuplicates: scan.reportsDuplicates)
        )
    }

    private func connect(_ device: DeviceAddress, _ backend: any LowEnergyAdapter) {
        radio = .connecting
        do throws(LinkFailure) {
            connection = try backend.connect(to: device, timeout: Self.turn) { [weak self] result in
                self?.connected(device, result)
            }
        } catch {
            connected(device, .failure(error))
        }
    }

    /// The adapter is gone: everything ends with the reason.
    func adapterLost(_ reason: String) {
        let error = BluetoothError.unavailable(.resetting, cause: reason, remedy: nil)
        switch radio {
        case .scanning(let scanner, _), .stopping(let scanner): scanner.close()
        case .idle, .connecting: break
        }
        endAttempt()
        radio = .idle
        let waiting = attempts
        attempts = []
        scan?.source.finish(error)
        scan = nil
        for attempt in waiting { attempt.reply.give(.failure(error)) }
        for peripheral in peripherals.values { peripheral.closed(.adapterLost(reason)) }
    }
}

extension LinkFailure {
    /// True where the device may only be away, or the controller busy.
    fileprivate var isWorthTryingAgain: Bool {
        switch self {
        case .timedOut, .closedByPeer: true
        case .system(let error):
            switch error {
            case .timedOut, .connectionRefused, .connectionReset, .connectionAbort, .hostIsDown, .noRouteToHost,
                .resourceBusy, .alreadyInProcess:
                true
            default: false
            }
        case .bearer: false
        }
    }
}
