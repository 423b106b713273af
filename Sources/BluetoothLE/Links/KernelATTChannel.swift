// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets
import LinuxIO
import SystemPackage

/// The ATT channel of a connection whose L2CAP the kernel runs.
///
/// To be used on the loop's thread. Without an owner it closes.
package final class KernelATTChannel: ATTChannel {
    /// Called once, when the connection stands or could not be made.
    package typealias Completion = (Result<any ATTChannel, LinkFailure>) -> Void

    /// What the receive queue may hold; without CAP_NET_ADMIN the kernel's limit is lower.
    static let receiveBuffer: Int32 = 1 << 22
    /// How many packets are read before the loop may look elsewhere.
    private static let batch = 64

    private let loop: EventLoop
    private let socket: L2CAPSocket
    private var registration: EventLoop.Registration?
    private var timer: EventLoop.Timer?
    /// Set while the connection is being made.
    private var completion: Completion?

    /// The peer.
    package let device: DeviceAddress
    /// Takes each PDU in place, before the next is read.
    ///
    /// To be set as soon as the channel stands.
    package var onReceive: ((Span<UInt8>) -> Void)? {
        get { receiver }
        set { receiver = newValue }
    }
    /// Private, so that the compiler sees all that is done to it, and need not check at each PDU that it is done in turn.
    private var receiver: ((Span<UInt8>) -> Void)?
    /// Called when a PDU may be sent again that was not taken.
    package var onWritable: (() -> Void)?
    /// Called once when the channel has ended by itself.
    package var onClosed: ((LinkFailure) -> Void)?

    /// Begins to connect from the adapter with the address `local`.
    init(
        to device: DeviceAddress,
        from local: BluetoothAddress,
        on loop: EventLoop,
        timeout: Duration,
        completion: @escaping Completion
    ) throws(LinkFailure) {
        self.device = device
        self.loop = loop
        self.completion = completion
        do throws(Errno) {
            socket = try L2CAPSocket(local: local.rawValue, receiveBuffer: Self.receiveBuffer)
            _ = try socket.connect(to: device.address.rawValue, isRandom: device.type == .random)
            // Even a connection made at once is reported through the loop, so that the caller is ready for it.
            registration = try loop.watch(socket.descriptor, for: .writable) { [unowned self] readiness in
                handle(readiness)
            }
        } catch {
            throw .system(error)
        }
        timer = loop.schedule(at: MonotonicClock.now + timeout) { [unowned self] in fail(.timedOut(timeout)) }
    }

    /// A connection that a central has made.
    init(accepted central: consuming L2CAPListener.Central, on loop: EventLoop) throws(LinkFailure) {
        device = DeviceAddress(BluetoothAddress(rawValue: central.address), central.isRandom ? .random : .public)
        self.loop = loop
        socket = central.takeSocket()
        do throws(Errno) {
            registration = try loop.watch(socket.descriptor, for: .readable) { [unowned self] readiness in
                handle(readiness)
            }
        } catch {
            throw .system(error)
        }
    }

    deinit { close() }

    /// How many packets the kernel has dropped on this link because they were not read in time.
    package var droppedPackets: UInt32 { socket.descriptor.droppedPacketCount }

    /// Sends one PDU; false when the socket did not take it, and `onWritable` will tell when to try again.
    package func send(_ pdu: [UInt8]) throws(LinkFailure) -> Bool {
        guard let registration else { return false }
        do throws(Errno) {
            if case .done = try socket.send(pdu) { return true }
            try loop.change(registration, socket.descriptor, to: [.readable, .writable])
            return false
        } catch {
            throw .system(error)
        }
    }

    /// Closes the channel; nothing more is reported.
    ///
    /// The kernel keeps the connection for about two seconds more; `KernelAdapter.disconnect` ends it at once.
    package func close() {
        if let timer { loop.cancel(timer) }
        timer = nil
        if let registration { loop.unwatch(registration, socket.descriptor) }
        registration = nil
        completion = nil
        onReceive = nil
        onWritable = nil
        onClosed = nil
    }

    private func handle(_ readiness: EventLoop.Readiness) {
        guard completion == nil else {
            finishConnecting()
            return
        }
        if readiness.hasInput { read() }
        if readiness.contains(.writable), let registration {
            do throws(Errno) {
                try loop.change(registration, socket.descriptor, to: .readable)
                onWritable?()
            } catch {
                fail(.system(error))
            }
        }
    }

    private func finishConnecting() {
        if let error = socket.descriptor.takePendingError() {
            fail(error == .connectionRefused || error == .nowInProgress ? .system(.timedOut) : .system(error))
            return
        }
        guard let registration, let completion else { return }
        do throws(Errno) {
            try loop.change(registration, socket.descriptor, to: .readable)
        } catch {
            fail(.system(error))
            return
        }
        if let timer { loop.cancel(timer) }
        timer = nil
        self.completion = nil
        completion(.success(self))
    }

    private func read() {
        for _ in 0..<Self.batch {
            do throws(Errno) {
                guard case .done(let count) = try socket.receive({ pdu in receiver?(pdu) }) else { return }
                if count == 0 { fail(.closedByPeer) }
            } catch {
                fail(.system(error))
            }
            if registration == nil { return }
        }
    }

    @inline(never)
    private func fail(_ failure: LinkFailure) {
        guard registration != nil else { return }
        let (completion, onClosed) = (completion, onClosed)
        close()
        completion?(.failure(failure))
        onClosed?(failure)
    }
}

extension KernelATTChannel: ConnectionAttempt {
    /// Gives the attempt up; nothing once the connection stands.
    package func cancel() {
        if completion != nil { close() }
    }
}
