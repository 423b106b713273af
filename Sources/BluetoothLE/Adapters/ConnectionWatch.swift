// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
package import BluetoothPackets
import LinuxIO
import SystemPackage

/// A raw HCI socket that reads what the kernel does to make a connection, and asks for more where it does nothing.
///
/// It is used on the event loop's thread, from before the kernel is asked for the connection until its end.
final class ConnectionWatch {
    /// The handler that is called each time that the kernel has done nothing for `ConnectWatchdog.limit`.
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

    /// Takes over a socket that passes the answers to commands.
    init(_ socket: consuming HCISocket, on loop: EventLoop) throws(Errno) {
        self.loop = loop
        self.socket = socket
        evidence = ConnectWatchdog(now: MonotonicClock.now)
        registration = try loop.watch(self.socket.descriptor, for: .readable) { [weak self] _ in self?.read() }
        setTimer()
    }

    deinit { close() }

    /// Closes the socket; no handler is called any more.
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
                // What else the controller answers is of no interest.
                if evidence.isBegun { return close() }
            }
        } catch {
            // The adapter was removed, which its management tells.
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

/// A connection that the kernel was asked for, with the watch whether it begins to make it.
final class KernelAttempt: ConnectionAttempt {
    private let channel: KernelATTChannel
    private let watch: ConnectionWatch?
    private let onCancel: () -> Void

    /// An attempt; `onCancel` is called before it is cancelled.
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

/// The look for signs that the kernel has begun to make a connection, on the caller's clock.
///
/// The kernel takes a connect for done when it has put the device on its list, and begins with the next change of its own
/// passive scan. Where it believes that a discovery runs, as after another program's active scan (kernels from 6.12 on),
/// it begins never, and says nothing. What it does first, whatever its version, is a command: to scan for the devices of its
/// list, to put the device on the controller's, or to connect. So an answer to one of these is the sign. The
/// corresponding C functions are `hci_connect_le_scan` and `hci_update_passive_scan_sync`.
struct ConnectWatchdog: Sendable {
    enum Step: Equatable, Sendable {
        /// Nothing before the next deadline.
        case wait
        /// End the discovery that the kernel believes to run.
        case endDiscovery
    }

    /// The time in which the kernel has to begin.
    static let limit = Duration.seconds(3)

    /// The time at which `check` is to be called; nil when a sign was seen, or nothing more can be done.
    private(set) var deadline: Duration?

    /// The look at a connection that the kernel was asked for now.
    init(now: Duration) {
        deadline = now + Self.limit
    }

    private(set) var isBegun = false

    /// Takes an event packet, its indicator included, as a raw socket passes it.
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

    /// Decides what is to be done now: once for each `limit` without a sign.
    mutating func check(now: Duration) -> Step {
        guard let deadline, now >= deadline else { return .wait }
        self.deadline = now + Self.limit
        return .endDiscovery
    }
}

/// The devices to which an attempt has failed and was not repeated since, and whom the kernel may connect all the same.
///
/// When a controller refuses a connection, Linux 5.10 tells the socket and goes on trying by itself. The link that comes of
/// it belongs to nobody and lasts until the device ends it: meanwhile the device does not advertise, so no scan hears
/// it. The corresponding C function is `hci_le_conn_failed`.
package struct StaleConnectAttempts: Sendable {
    /// The most devices that are remembered; the one that failed first is forgotten.
    package static let capacity = 16

    private var devices: [ManagementAddress] = []

    package init() {}

    /// Notes that an attempt begins: the link that comes is its own.
    package mutating func noteBeginning(_ device: ManagementAddress) {
        devices.removeAll { $0 == device }
    }

    package mutating func noteFailure(_ device: ManagementAddress) {
        if devices.count == Self.capacity { devices.removeFirst() }
        devices.append(device)
    }

    /// Notes a link; true if nobody holds it, once for each failure.
    package mutating func takesLink(_ device: ManagementAddress) -> Bool {
        guard let place = devices.firstIndex(of: device) else { return false }
        devices.remove(at: place)
        return true
    }
}
