// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import LinuxIO
package import SystemPackage

package enum ScanError: Error, Equatable {
    /// A system call failed; the values are the operation, worded so that it can follow "cannot", and the error.
    case system(String, Errno)
    /// The process lacks these capabilities, which are required for sending HCI commands.
    case notPermitted(missing: [Capability])
    /// The controller has neither the legacy nor the extended scan commands.
    case unsupported
    /// The controller rejected a command or did not answer it.
    case controller(Scanner.Failure)
    case adapterGone

    /// The cause, in one English sentence.
    package var cause: String {
        switch self {
        case .system(let what, let error): AdapterErrorDescription.system(what, "\(error)")
        case .notPermitted(let missing) where missing.isEmpty: AdapterErrorDescription.scanRefused
        case .notPermitted(let missing):
            AdapterErrorDescription.scanWithoutRights(missing.map(\.rawValue).joined(separator: " and "))
        case .unsupported: AdapterErrorDescription.scanUnsupported
        case .controller(let failure): "\(failure)"
        case .adapterGone: AdapterErrorDescription.gone
        }
    }

    /// The remedy, in one English sentence; nil if none is known.
    package var remedy: String? {
        switch self {
        case .notPermitted: AdapterError.notPermitted(missing: []).remedy
        case .controller: AdapterErrorDescription.Remedy.otherScan
        case .system, .unsupported, .adapterGone: nil
        }
    }
}

/// A scan on the event loop over the kernel's raw HCI sockets.
///
/// One socket carries commands and their responses, and another carries advertising reports, so that a flood of reports
/// cannot push out a response.
package final class AdapterScanner: DeviceScanner {
    private let adapter: KernelAdapter
    private let loop: EventLoop
    private let commands: KernelCommands<Scanner>
    private let reportSocket: HCISocket
    private var registration: EventLoop.Registration?
    private let packets = PacketBatch(size: HCISocket.packetCapacity)
    private var faults = RepeatedFaults()

    /// The steps for stopping a scan, in order.
    private enum Ending {
        /// Waiting until the start of the scan has succeeded or failed.
        case awaitingStart
        /// Waiting until the kernel has processed the start, and has stopped the discovery it infers from the scan.
        case askingKernel
        /// Waiting for the controller to disable the scan, if the kernel has not done so.
        case disabling
        /// Waiting until the kernel has processed the events that end the scan.
        case catchingUp
    }

    private var wanted: (parameters: ScanParameters, devices: DeviceTable)?
    private var didScanActively = false
    private var ending: Ending?
    private var onStopped: (() -> Void)?

    /// The handler of reports that pass the filter.
    package var onUpdate: ((DeviceTable.Update) -> Void)?
    /// The handler that is called once after each `start`, as soon as the controller is scanning.
    package var onStarted: (() -> Void)?
    /// The handler that is called when the scan fails, which ends it.
    package var onFailure: ((ScanError) -> Void)?
    package var onDisturbed: (() -> Void)?
    package var onPacket: ((Span<UInt8>, _ now: Duration) -> Void)?
    /// Number of commands from other programs that have already been reported to `onDisturbed`.
    private var foreignCommands: UInt64 = 0

    /// Size of the receive queue for reports in bytes: room for about 10,000 short reports.
    private static let reportBuffer: Int32 = 1 << 22
    /// Event codes that the report socket receives: only LE Meta (Core 6.0, Vol 4, Part E, 7.7.65).
    private static let reportEvents: [UInt8] = [0x3E]

    /// Opens the sockets; the scan begins when `start` is called.
    package convenience init(_ adapter: KernelAdapter, on loop: EventLoop) throws(ScanError) {
        do throws(Errno) {
            let index = adapter.index.rawValue
            try self.init(
                adapter,
                commands: try HCISocket(controller: index, events: KernelCommands<Scanner>.events),
                reports: try HCISocket(controller: index, events: Self.reportEvents, receiveBuffer: Self.reportBuffer),
                on: loop
            )
        } catch {
            throw Self.error(error, "open a raw HCI socket on \(adapter.name)")
        }
    }

    /// Creates a scanner from a socket for commands and their responses, and a socket for advertising reports.
    package init(
        _ adapter: KernelAdapter,
        commands: consuming HCISocket,
        reports: consuming HCISocket,
        on loop: EventLoop
    ) throws(Errno) {
        self.adapter = adapter
        self.loop = loop
        self.commands = try KernelCommands(commands, on: loop)
        reportSocket = reports
        registration = try loop.watch(reportSocket.descriptor, for: .readable) { [weak self] _ in
            self?.readReportSocket()
        }
        listen()
    }

    private func listen() {
        commands.onPrepared = { [weak self] in self?.begin() }
        commands.onStep = { [weak self] in
            self?.tellOfForeignCommands()
            self?.settle()
        }
        commands.onFailure = { [weak self] failure in self?.fail(Self.error(failure)) }
    }

    deinit { close() }

    /// Devices heard since the scan was started.
    package var devices: DeviceTable { commands.procedure?.devices ?? wanted?.devices ?? DeviceTable() }

    /// Number of reports that the kernel dropped because they were not read in time.
    package var droppedReports: UInt32 { reportSocket.descriptor.droppedPacketCount }

    /// Removes devices that have not been heard recently (LK-3); called before the devices are shown.
    package func expireDevices() {
        _ = commands.procedure?.devices.expire(now: MonotonicClock.now)
    }

    /// Starts a scan, replacing a running one; does nothing while a scan is being stopped.
    package func start(_ parameters: ScanParameters, devices: DeviceTable) {
        guard ending == nil else { return }
        wanted = (parameters, devices)
        if commands.procedure == nil { commands.prepare() } else { begin() }
        commands.pump()
    }

    /// Stops the scan.
    ///
    /// `completion` is called when the controller has stopped scanning or failed to answer; after that, a connection
    /// can be made.
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

    /// Closes the sockets immediately, in any state.
    package func close() {
        commands.close()
        if let registration { loop.unwatch(registration, reportSocket.descriptor) }
        registration = nil
    }

    private func begin() {
        guard let (parameters, devices) = wanted else { return }
        commands.procedure?.devices = devices
        // The kernel resolves private addresses only for its own use, not for raw sockets.
        commands.procedure?.devices.resolver = adapter.resolver
        commands.procedure?.start(parameters)
        if parameters.type == .active { didScanActively = true }
    }

    private func readReportSocket() {
        do throws(Errno) {
            var updates: [DeviceTable.Update] = []
            let packets = packets
            for _ in 0..<(HCISocket.batch / PacketBatch.places) {
                guard case .done(let count) = try reportSocket.receive(into: packets) else { return }
                faults.clear()
                let now = MonotonicClock.now
                for index in 0..<count {
                    let packet = packets[index]
                    // A closed socket always returns an empty packet.
                    if packet.isEmpty { return }
                    commands.procedure?.handle(packet, now: now) { update in updates.append(update) }
                    // The updates are passed on after `handle` has returned, because a handler may stop the scan.
                    if !updates.isEmpty {
                        for update in updates { onUpdate?(update) }
                        updates.removeAll(keepingCapacity: true)
                    }
                    onPacket?(packet, now)
                }
                // A batch that is not full means that the queue is now empty.
                if count < PacketBatch.places { return }
            }
        } catch {
            // Unless the scan fails here, the rest of the queue is read the next time the socket is ready.
            if !faults.allow(error, of: .hci) { fail(Self.error(error, "read advertising reports")) }
        }
    }

    private func tellOfForeignCommands() {
        guard let count = commands.procedure?.foreignCommands, count != foreignCommands else { return }
        foreignCommands = count
        // When a scan ends, the kernel sends commands of its own; these do not count as a disturbance.
        if ending == nil { onDisturbed?() }
    }

    /// Performs the next step, unless the scanner is still starting or stopping.
    private func settle() {
        switch commands.procedure?.state {
        case .starting, .stopping, nil: return
        // The handler may stop the scan, which calls this method again.
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
        case .read(let error): Self.error(error, "read the answers to HCI commands")
        case .send(let error): Self.error(error, "send an HCI command")
        case .unsupported: .unsupported
        case .refused(let opcode, let status): .controller(.refused(opcode, status))
        case .unreadable(let opcode), .noAnswer(let opcode): .controller(.noAnswer(opcode))
        }
    }

    private static func error(_ error: Errno, _ what: String) -> ScanError {
        switch error.recovery(of: .hci) {
        case .forbidden: .notPermitted(missing: Capability.missing)
        case .adapterLost: .adapterGone
        default: .system(what, error)
        }
    }
}
