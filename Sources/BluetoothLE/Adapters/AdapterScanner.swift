// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import LinuxIO
package import SystemPackage

/// Why a scan ended by itself.
package enum ScanError: Error, Equatable {
    /// A system call failed.
    case system(String, Errno)
    /// The process may not send HCI commands.
    case notPermitted(missing: [Capability])
    /// The controller knows no scan command of either generation.
    case unsupported
    /// The controller refused, or did not answer.
    case controller(Scanner.Failure)
    /// The adapter is gone.
    case adapterGone

    /// What is wrong, in one sentence.
    package var cause: String {
        switch self {
        case .system(let what, let error): AdapterSentence.system(what, "\(error)")
        case .notPermitted(let missing) where missing.isEmpty: AdapterSentence.scanRefused
        case .notPermitted(let missing):
            AdapterSentence.scanWithoutRights(missing.map(\.rawValue).joined(separator: " and "))
        case .unsupported: AdapterSentence.scanUnsupported
        case .controller(let failure): "\(failure)"
        case .adapterGone: AdapterSentence.gone
        }
    }

    /// What mends it, in one sentence.
    package var remedy: String? {
        switch self {
        case .notPermitted: AdapterError.notPermitted(missing: []).remedy
        case .controller: AdapterSentence.Remedy.otherScan
        case .system, .unsupported, .adapterGone: nil
        }
    }
}

/// A scan on the event loop: raw HCI commands on one socket, advertising reports on another, so that a flood of reports
/// cannot push out the answer to a command.
///
/// To be used on the loop's thread.
package final class AdapterScanner: DeviceScanner {
    private let adapter: KernelAdapter
    private let loop: EventLoop
    private let commands: KernelCommands<Scanner>
    private let reportSocket: HCISocket
    private var registration: EventLoop.Registration?
    private var buffer = [UInt8](repeating: 0, count: HCISocket.packetCapacity)

    /// How the end of a scan goes on, in this order.
    private enum Ending {
        /// It must have begun, or failed.
        case awaitingStart
        /// The kernel sees that it has begun, and ends what it takes for a discovery of its own.
        case askingKernel
        /// The controller is told, where the kernel has not done that.
        case disabling
        /// The kernel sees that it has ended.
        case catchingUp
    }

    private var wanted: (parameters: ScanParameters, devices: DeviceTable)?
    private var didScanActively = false
    private var ending: Ending?
    private var onStopped: (() -> Void)?

    /// Called for each report that the filter lets through.
    package var onUpdate: ((DeviceTable.Update) -> Void)?
    /// Called once scanning has begun, after each start.
    package var onStarted: (() -> Void)?
    /// Called when the scan has failed; it has ended.
    package var onFailure: ((ScanError) -> Void)?

    /// The bytes that reports may wait in: about 10,000 short ones.
    private static let reportBuffer: Int32 = 1 << 22
    /// LE Meta.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.
    private static let reportEvents: [UInt8] = [0x3E]

    /// A scanner that does not scan yet.
    package init(_ adapter: KernelAdapter, on loop: EventLoop) throws(ScanError) {
        self.adapter = adapter
        self.loop = loop
        do {
            commands = try KernelCommands(controller: adapter.index, on: loop)
            reportSocket = try HCISocket(
                controller: adapter.index.rawValue,
                events: Self.reportEvents,
                receiveBuffer: Self.reportBuffer
            )
            registration = try loop.watch(reportSocket.descriptor, for: .readable) { [weak self] _ in
                self?.readReportSocket()
            }
        } catch {
            throw Self.error(error, "open a raw HCI socket on \(adapter.name)")
        }
        commands.onPrepared = { [weak self] in self?.begin() }
        commands.onStep = { [weak self] in self?.settle() }
        commands.onFailure = { [weak self] failure in self?.fail(Self.error(failure)) }
    }

    deinit { close() }

    /// The devices heard since the start.
    package var devices: DeviceTable { commands.procedure?.devices ?? wanted?.devices ?? DeviceTable() }

    /// Reports that the kernel dropped because they were not read in time.
    package var droppedReports: UInt32 { reportSocket.descriptor.droppedPacketCount }

    /// Forgets devices that have not been heard for long (LK-3); call it before showing them.
    package func expireDevices() {
        _ = commands.procedure?.devices.expire(now: MonotonicClock.now)
    }

    /// Begins to scan, replacing a scan that runs; not while it stops.
    package func start(_ parameters: ScanParameters, devices: DeviceTable) {
        guard ending == nil else { return }
        wanted = (parameters, devices)
        if commands.procedure == nil { commands.prepare() } else { begin() }
        commands.pump()
    }

    /// Ends the scan and calls `completion` when the controller has stopped, or does not answer; then connecting works.
    package func stop(completion: @escaping () -> Void) {
        wanted = nil
        guard commands.procedure != nil, registration != nil else {
            completion()
            return
        }
        onStopped = completion
        if ending == nil { ending = .awaitingStart }
        settle()
    }

    /// Lets go of the sockets, whatever goes on.
    package func close() {
        commands.close()
        if let registration { loop.unwatch(registration, reportSocket.descriptor) }
        registration = nil
    }

    private func begin() {
        guard let (parameters, devices) = wanted else { return }
        commands.procedure?.devices = devices
        commands.procedure?.start(parameters)
        if parameters.type == .active { didScanActively = true }
    }

    private func readReportSocket() {
        do throws(Errno) {
            while case .done(let packet) = try reportSocket.descriptor.receive(into: &buffer), packet.count > 0 {
                // Handed on after the scanner has returned: who hears of a device may stop the scan.
                var updates: [DeviceTable.Update] = []
                commands.procedure?.handle(buffer.span.extracting(first: packet.count), now: MonotonicClock.now) {
                    update in
                    updates.append(update)
                }
                for update in updates { onUpdate?(update) }
            }
        } catch {
            fail(.adapterGone)
        }
    }

    /// Goes on when the scanner has come to rest.
    private func settle() {
        switch commands.procedure?.state {
        case .starting, .stopping, nil: return
        // Who hears of the start may stop the scan, which goes through here again.
        case .scanning where ending == nil:
            let handler = onStarted
            onStarted = nil
            handler?()
            return
        case .failed(let failure) where ending == nil: return fail(.controller(failure))
        case .scanning, .idle, .failed: break
        }
        switch ending {
        case .awaitingStart: askKernel()
        case .disabling: awaitKernel()
        case .askingKernel, .catchingUp, nil: break
        }
    }

    private func askKernel() {
        ending = .askingKernel
        guard didScanActively else { return disable() }
        didScanActively = false
        commands.catchUp { [weak self] in
            self?.adapter.endDiscovery { [weak self] isScanOff in
                guard let self, ending == .askingKernel else { return }
                guard isScanOff else { return disable() }
                commands.procedure?.noteStop()
                finishStopping()
            }
        }
    }

    private func disable() {
        ending = .disabling
        commands.procedure?.stop()
        commands.pump()
        settle()
    }

    private func awaitKernel() {
        ending = .catchingUp
        commands.catchUp { [weak self] in self?.finishStopping() }
    }

    private func finishStopping() {
        ending = nil
        let completion = onStopped
        onStopped = nil
        completion?()
    }

    private func fail(_ error: ScanError) {
        close()
        if onStopped != nil { finishStopping() } else { onFailure?(error) }
    }

    private static func error(_ failure: KernelCommands<Scanner>.Failure) -> ScanError {
        switch failure {
        // The first error of a raw socket is the adapter's end.
        case .read: .adapterGone
        case .send(let error): Self.error(error, "send an HCI command")
        case .unsupported: .unsupported
        case .refused(let opcode, let status): .controller(.refused(opcode, status))
        case .unreadable(let opcode), .noAnswer(let opcode): .controller(.noAnswer(opcode))
        }
    }

    private static func error(_ error: Errno, _ what: String) -> ScanError {
        switch error {
        case .notPermitted, .permissionDenied: .notPermitted(missing: Capability.missing)
        case .operationNotSupportedByDevice, .brokenPipe: .adapterGone
        default: .system(what, error)
        }
    }
}
