// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
import LinuxIO
import SystemPackage

/// The ATT channel of a connection whose L2CAP layer is the kernel's.
///
/// It is used on the loop's thread. It closes when it is freed.
package final class KernelATTChannel: ATTChannel {
    /// A handler of the connection or of the failure to make it, called once.
    package typealias Completion = (Result<any ATTChannel, LinkFailure>) -> Void

    /// The size of the receive queue in bytes; without CAP_NET_ADMIN the kernel limits it to less.
    static let receiveBuffer: Int32 = 1 << 22
    /// The most packets that are read in a row before the loop serves its other descriptors.
    private static let batch = 64
    /// The time after which a PDU is sent again for which the kernel had no memory.
    private static let recovery = Duration.milliseconds(50)

    private let loop: EventLoop
    private let socket: L2CAPSocket
    private var registration: EventLoop.Registration?
    private let connectTimer = LoopTimer()
    private let resendTimer = LoopTimer()
    private let securingTimer = LoopTimer()
    private var receiveFaults = RepeatedFaults()
    private var sendFaults = RepeatedFaults()
    /// The handler of the connection; nil once the connection is made.
    private var completion: Completion?

    /// The security of the link, read again whenever packets have come; not read of a link that this process made and has not
    /// secured.
    package private(set) var security = GATTLinkSecurity()
    /// The level that is waited for, and the handler of its result; nil otherwise.
    private var securing: (level: GATTLinkSecurity.Level, completion: (Result<Void, LinkFailure>) -> Void)?
    /// True once the link was secured, and from the beginning where the peer may do that.
    private var isSecured = false
    /// True while the answer to `ChannelFault.question` is awaited.
    private var isAsking = false
    /// How long the link may take to be encrypted.
    private static let securingTime = Duration.seconds(10)

    package let device: DeviceAddress
    /// The handler of each received PDU, called before the next is read.
    ///
    /// The span is valid during the call only.
    ///
    /// It has to be set as soon as the connection is made.
    package var onReceive: ((Span<UInt8>) -> Void)? {
        get { receiver }
        set { receiver = newValue }
    }
    /// The storage of `onReceive`.
    ///
    /// It is private so that the compiler sees every access, and need not check the exclusivity of each.
    private var receiver: ((Span<UInt8>) -> Void)?
    package var onGap: (() -> Void)?
    package private(set) var timing: ConnectionTiming?
    package var onTiming: ((ConnectionTiming) -> Void)?
    /// The packets that were dropped before the last one that was read.
    private var dropped: UInt32 = 0
    private var queue = ReceiveQueue()
    /// The handler that is called when the channel has room again, after `send` returned false.
    package var onWritable: (() -> Void)?
    /// The handler that is called once, when the channel was closed by the peer or by an error.
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
            // A connection that is made at once is reported through the loop all the same, when the caller has
            // returned.
            registration = try loop.watch(socket.descriptor, for: .writable) { [unowned self] readiness in
                if self.completion == nil { handle(readiness) } else { finishConnecting() }
            }
        } catch {
            throw .system(error)
        }
        connectTimer.set(on: loop, after: timeout) { [unowned self] in fail(.timedOut(timeout)) }
    }

    /// Makes the channel of a connection that a central has made.
    init(accepted central: consuming L2CAPListener.Central, on loop: EventLoop) throws(LinkFailure) {
        device = DeviceAddress(BluetoothAddress(rawValue: central.address), central.isRandom ? .random : .public)
        self.loop = loop
        socket = central.takeSocket()
        // The central secures the link whenever it wants to.
        isSecured = true
        do throws(Errno) {
            registration = try loop.watch(socket.descriptor, for: .readable) { [unowned self] readiness in
                handle(readiness)
            }
        } catch {
            throw .system(error)
        }
    }

    deinit { close() }

    /// The number of packets that the kernel has dropped on this connection because they were not read in time.
    package var droppedPackets: UInt32 { socket.descriptor.droppedPacketCount }

    /// Sends one PDU.
    ///
    /// Returns false when the socket has no room for it; `onWritable` is called when it may be sent again.
    package func send(_ pdu: [UInt8]) throws(LinkFailure) -> Bool {
        guard let registration else { return false }
        do throws(Errno) {
            if case .done = try socket.send(pdu) {
                sendFaults.clear()
                return true
            }
            try loop.change(registration, socket.descriptor, to: [.readable, .writable])
            return false
        } catch {
            guard sendFaults.allow(error, of: .link) else { throw .system(error) }
            resendTimer.set(on: loop, after: Self.recovery) { [unowned self] in onWritable?() }
            return false
        }
    }

    /// Closes the channel; no handler is called any more.
    ///
    /// The kernel keeps the connection for about 2 s more; `KernelAdapter.disconnect` ends it at once.
    package func close() {
        for timer in [connectTimer, resendTimer, securingTimer] { timer.cancel() }
        if let registration { loop.unwatch(registration, socket.descriptor) }
        registration = nil
        completion = nil
        securing = nil
        onReceive = nil
        onGap = nil
        onTiming = nil
        onWritable = nil
        onClosed = nil
    }

    private func handle(_ readiness: EventLoop.Readiness) {
        guard securing == nil else {
            finishSecuring()
            return
        }
        if isSecured { readSecurity() }
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
        connectTimer.cancel()
        self.completion = nil
        completion(.success(self))
    }

    /// Takes parameters that the device has asked for and the kernel has granted; the controller chooses within them.
    func take(_ parameters: ConnectionParameters) {
        let timing = ConnectionTiming(slowest: parameters)
        self.timing = timing
        onTiming?(timing)
    }

    // MARK: Security

    package func secure(_ level: GATTLinkSecurity.Level, completion: @escaping (Result<Void, LinkFailure>) -> Void) {
        guard let registration else { return }
        securing = (level, completion)
        securingTimer.set(on: loop, after: Self.securingTime) { [unowned self] in fail(.notSecured) }
        isAsking = ChannelFault.running != .absent
        do throws(Errno) {
            if isAsking {
                guard case .done = try socket.send(ChannelFault.question) else { throw .wouldBlock }
            } else {
                try raiseSecurity(to: level, registration)
            }
        } catch {
            // Called from the loop, after `secure` has returned.
            securingTimer.set(on: loop, at: .zero) { [unowned self] in fail(.notSecured) }
        }
    }

    /// Starts encryption; `finishSecuring` checks its result.
    private func raiseSecurity(to level: GATTLinkSecurity.Level, _ registration: EventLoop.Registration) throws(Errno) {
        readSecurity()
        if !security.suffices(for: level) { try socket.raiseSecurity(to: level.kernelLevel) }
        try loop.change(registration, socket.descriptor, to: [.readable, .writable])
    }

    /// Looks whether the link is secure, once the socket is ready for anything.
    private func finishSecuring() {
        guard let registration, let (level, completion) = securing else { return }
        readSecurity()
        let wasAsking = isAsking
        var isOver = socket.descriptor.takePendingError() != nil
        // What has come by now was sent before the key was proved.
        while !isOver {
            let taken = try? socket.receive { pdu, dropped in
                self.dropped = dropped
                if ChannelFault.isAnswer(pdu) { isAsking = false }
            }
            guard let received = taken else {
                isOver = true
                break
            }
            guard case .done(let count) = received else { break }
            isOver = count == 0
        }
        guard !isOver else { return fail(.notSecured) }
        guard !isAsking else { return }
        if wasAsking {
            do throws(Errno) {
                try raiseSecurity(to: level, registration)
            } catch {
                fail(.notSecured)
            }
            return
        }
        guard security.suffices(for: level) else { return }
        do throws(Errno) {
            try loop.change(registration, socket.descriptor, to: .readable)
        } catch {
            return fail(.system(error))
        }
        securingTimer.cancel()
        securing = nil
        isSecured = true
        completion(.success(()))
    }

    private func readSecurity() {
        let (level, keySize) = (try? socket.security()) ?? (0, 0)
        security.level = GATTLinkSecurity.Level(kernelLevel: level)
        security.keySize = keySize
        security.isBonded = level >= 2
    }

    private func read() {
        for _ in 0..<Self.batch {
            do throws(Errno) {
                let received: NonBlocking<Int>
                if queue.mayHaveDropped {
                    received = try socket.receive { pdu, dropped in
                        if dropped != self.dropped { noteGap(dropped) }
                        receiver?(pdu)
                    }
                } else {
                    received = try socket.receiveUnmarked(receiver ?? { _ in })
                }
                receiveFaults.clear()
                guard case .done(let count) = received else {
                    queue.foundEmpty()
                    return
                }
                queue.take()
                if count == 0 { fail(.closedByPeer) }
            } catch {
                queue.take()
                // What is in the queue still is read when the loop comes back.
                if receiveFaults.allow(error, of: .link) { return }
                fail(.system(error))
            }
            if registration == nil { return }
        }
    }

    @inline(never)
    private func noteGap(_ dropped: UInt32) {
        self.dropped = dropped
        onGap?()
    }

    @inline(never)
    private func fail(_ failure: LinkFailure) {
        guard registration != nil else { return }
        let (completion, onClosed, securing) = (completion, onClosed, securing)
        close()
        completion?(.failure(failure))
        // Until the link is secure nobody else is told of its end.
        if let securing { securing.completion(.failure(.notSecured)) } else { onClosed?(failure) }
    }
}

extension KernelATTChannel: ConnectionAttempt {
    /// True until the connection is made, or could not be, or is given up.
    var isConnecting: Bool { completion != nil }

    /// Cancels the attempt to connect; does nothing once the connection is made.
    package func cancel() {
        if completion != nil { close() }
    }
}

/// What is known of a socket's receive queue: whether the kernel can have dropped packets for want of room in it.
///
/// The kernel drops a packet only while others wait, even in the smallest queue, which has room for two of the longest MTU.
/// What it drops behind the last packet that waits is told with the next one, which may come much later. A queue that has
/// held one packet at a time since it was last empty has therefore dropped none, and its next packet need not be asked.
struct ReceiveQueue {
    /// The packets that were taken since the queue was last found empty, two for more.
    private var taken: UInt8 = 2
    /// True unless the queue held one packet at most between the last two times that it was found empty.
    private var wasLonger = true

    /// True if the next packet may tell of dropped ones.
    var mayHaveDropped: Bool { wasLonger || taken > 0 }

    /// Notes that a packet was taken, or that taking it failed.
    mutating func take() { taken = min(taken &+ 1, 2) }

    /// Notes that there was none to take.
    mutating func foundEmpty() {
        wasLonger = taken > 1
        taken = 0
    }
}
