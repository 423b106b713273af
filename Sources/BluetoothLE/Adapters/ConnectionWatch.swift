// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO
import SystemPackage

/// A raw HCI socket that reads what the kernel does to make a connection, and asks for more where it does nothing.
///
/// It is used on the event loop's thread, from before the kernel is asked for the connection until its end.
final class ConnectionWatch {
    /// The handler that is called each time that the kernel has done nothing for `ConnectionEvidence.limit`.
    var onStalled: (() -> Void)?

    private let loop: EventLoop
    private let socket: HCISocket
    private var registration: EventLoop.Registration?
    private let timer = LoopTimer()
    private var evidence: ConnectionEvidence
    private var buffer = [UInt8](repeating: 0, count: HCISocket.packetCapacity)

    /// Opens the socket.
    convenience init(controller index: ControllerIndex, on loop: EventLoop) throws(Errno) {
        let events = [HCIEvent.Code.commandComplete, HCIEvent.Code.commandStatus]
        try self.init(try HCISocket(controller: index.rawValue, events: events), on: loop)
    }

    /// Takes over a socket that passes the answers to commands.
    init(_ socket: consuming HCISocket, on loop: EventLoop) throws(Errno) {
        self.loop = loop
        self.socket = socket
        evidence = ConnectionEvidence(now: MonotonicClock.now)
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
