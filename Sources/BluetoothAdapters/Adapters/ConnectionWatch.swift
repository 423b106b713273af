// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
package import BluetoothPackets
import LinuxIO
import SystemPackage

/// A raw HCI socket that monitors how the kernel makes a connection, and reports a stall.
///
/// Used on the event loop's thread, from before the connection is requested until the attempt ends.
final class ConnectionWatch {
    /// The handler that is called each time the kernel has been inactive for `ConnectWatchdog.limit`.
    var onStalled: (() -> Void)?

    private let loop: EventLoop
    private let socket: HCISocket
    private var registration: EventLoop.Registration?
    private let timer = LoopTimer()
    private var evidence: ConnectWatchdog
    private var buffer = [UInt8](repeating: 0, count: HCISocket.packetCapacity)

    convenience init(controller index: ControllerIndex, on loop: EventLoop) throws(Errno) {
        let events = [HCIEvent.Code.commandComplete, HCIEvent.Code.commandStatus]
        try self.init(try HCISocket(controller: index.rawValue, events: events), on: loop)
    }

    /// Creates a watch that uses a socket whose filter lets command responses through.
    init(_ socket: consuming HCISocket, on loop: EventLoop) throws(Errno) {
        self.loop = loop
        self.socket = socket
        evidence = ConnectWatchdog(now: MonotonicClock.now)
        registration = try loop.watch(self.socket.descriptor, for: .readable) { [weak self] _ in self?.read() }
        setTimer()
    }

    deinit { close() }

    /// Closes the socket; no handler is called afterwards.
    func close() {
        onStalled = nil
        timer.cancel()
        if let registration { loop.unwatch(registration, socket.descriptor) }
        registration = nil
    }

    private func read() {
        do throws(Errno) {
            for _ in 0..<HCISocket.batch {
                guard case .done(let packet) = try socket.descriptor.receive(into: &buffer), packet.count > 0 else {
                    return
                }
                evidence.handle(buffer.span.extracting(first: packet.count))
                // Once the kernel has started connecting, the controller's later responses are irrelevant.
                if evidence.isBegun { return close() }
            }
        } catch {
            // The adapter was removed; the management channel reports this.
            close()
        }
    }

    private func setTimer() {
        timer.set(on: loop, at: evidence.deadline) { [weak self] in
            guard let self else { return }
            if evidence.check(now: MonotonicClock.now) == .endDiscovery { onStalled?() }
            if registration != nil { setTimer() }
        }
    }
}

/// A connection that was requested from the kernel, with a watch that checks that the kernel starts connecting.
final class KernelAttempt: ConnectionAttempt {
    private let channel: KernelATTChannel
    private let watch: ConnectionWatch?
    private let onCancel: () -> Void

    /// Creates an attempt; `onCancel` is called before it is cancelled.
    init(_ channel: KernelATTChannel, _ watch: ConnectionWatch?, onCancel: @escaping () -> Void) {
        self.channel = channel
        self.watch = watch
        self.onCancel = onCancel
    }

    deinit { watch?.close() }

    func cancel() {
        watch?.close()
        if channel.isConnecting { onCancel() }
        channel.cancel()
    }
}

/// A watchdog that checks that the kernel starts a requested connection, on the caller's clock.
///
/// The kernel accepts a connect as soon as the device is on its list, and starts connecting with the next change of its
/// own passive scan. If it assumes that a discovery is running, for example after another program's active scan
/// (kernels from 6.12 on), it never starts, and reports no error. In every version its first step is a command: to scan
/// for the devices on its list, to add the device to the controller's list, or to connect. A response to one of these
/// commands proves that the kernel has started. The corresponding C functions are `hci_connect_le_scan` and
/// `hci_update_passive_scan_sync`.
struct ConnectWatchdog: Sendable {
    enum Step: Equatable, Sendable {
        /// Wait until the next deadline.
        case wait
        /// Stop the discovery that the kernel assumes to be running.
        case endDiscovery
    }

    /// Maximum time for the kernel to start.
    static let limit = Duration.seconds(3)

    /// The time at which to call `check`; nil once the kernel has started.
    private(set) var deadline: Duration?

    /// Creates a watchdog for a connection that is being requested now.
    init(now: Duration) {
        deadline = now + Self.limit
    }

    private(set) var isBegun = false

    /// Handles an event packet from a raw socket; the first byte is its H4 indicator.
    mutating func handle(_ packet: Span<UInt8>) {
        guard !isBegun, let event = try? HCIEvent(packet) else { return }
        switch event {
        case .commandComplete(_, let opcode, let returnParameters)
        where !returnParameters.isEmpty && returnParameters[0] == HCIStatus.success.rawValue:
            note(opcode)
        case .commandStatus(.success, _, let opcode): note(opcode)
        default: break
        }
    }

    private mutating func note(_ opcode: HCIOpcode) {
        switch opcode {
        case .leAddDeviceToFilterAcceptList, .leSetScanEnable, .leSetExtendedScanEnable, .leCreateConnection,
            .leExtendedCreateConnection:
            isBegun = true
            deadline = nil
        default: break
        }
    }

    /// Returns the next step; it is `endDiscovery` whenever another `limit` has passed and the kernel has not started.
    mutating func check(now: Duration) -> Step {
        guard let deadline, now >= deadline else { return .wait }
        self.deadline = now + Self.limit
        return .endDiscovery
    }
}

/// Devices whose last connection attempt failed, and to which the kernel may still connect.
///
/// Linux 5.10 reports to the socket that the controller rejected the connection, but then retries by itself. The
/// resulting link belongs to no socket and lasts until the device ends it. Until then the device does not advertise, so
/// no scan can find it. The corresponding C function is `hci_le_conn_failed`.
package struct StaleConnectAttempts: Sendable {
    /// Maximum number of stored devices; on overflow the oldest is evicted.
    package static let capacity = 16

    private var devices: [ManagementAddress] = []

    package init() {}

    /// Records the start of an attempt; if a link with the device is established, it belongs to this attempt.
    package mutating func noteBeginning(_ device: ManagementAddress) {
        devices.removeAll { $0 == device }
    }

    package mutating func noteFailure(_ device: ManagementAddress) {
        if devices.count == Self.capacity { devices.removeFirst() }
        devices.append(device)
    }

    /// Records a new link; returns true, once per failed attempt, if the link belongs to no attempt.
    package mutating func takesLink(_ device: ManagementAddress) -> Bool {
        guard let place = devices.firstIndex(of: device) else { return false }
        devices.remove(at: place)
        return true
    }
}
