// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
import LinuxIO
import SystemPackage

/// An ATT channel over the kernel's L2CAP layer.
///
/// Used on the loop's thread. It closes when it is deallocated.
package final class KernelATTChannel: ATTChannel {
    /// A handler of the result of connecting, called once.
    package typealias Completion = (Result<any ATTChannel, LinkFailure>) -> Void

    /// Size of the receive queue in bytes; without CAP_NET_ADMIN the kernel applies a lower limit.
    static let receiveBuffer: Int32 = 1 << 22
    /// Maximum number of packets read in a row before the loop handles its other descriptors.
    private static let batch = 64
    /// Delay before a PDU is sent again after the kernel had no memory for it.
    private static let recovery = Duration.milliseconds(50)

    private let loop: EventLoop
    private let socket: L2CAPSocket
    private var registration: EventLoop.Registration?
    private let connectTimer = LoopTimer()
    private let resendTimer = LoopTimer()
    private let securingTimer = LoopTimer()
    private var receiveFaults = RepeatedFaults()
    private var sendFaults = RepeatedFaults()
    /// The handler of the result of connecting; nil once the connection is made.
    private var completion: Completion?

    /// The security of the link, updated whenever packets arrive.
    ///
    /// For a link made by this process, it is not updated until the link has been secured.
    package private(set) var security = GATTLinkSecurity()
    /// The handler that is called when a link made by a central has become encrypted.
    ///
    /// The kernel does not report this, so the link's security is read every 20 ms until then.
    package var onSecurity: (() -> Void)? {
        didSet { if onSecurity == nil { securityTimer.cancel() } else { awaitSecurity() } }
    }
    private let securityTimer = LoopTimer()
    /// Interval between two readings of the link's security.
    private static let securityInterval = Duration.milliseconds(20)
    /// The requested security level and the handler of the result; nil if no request is pending.
    private var securing: (level: GATTLinkSecurity.Level, completion: (Result<Void, LinkFailure>) -> Void)?
    /// True once the link is secured.
    ///
    /// It is true from the start if a central made the connection, because then the central secures the link.
    private var isSecured = false
    /// True while waiting for the response to `ChannelFault.question`.
    private var isAsking = false
    private var early = Duration.zero
    private var packets = EarlyPackets()
    private let makeWatch: () -> EncryptionWatch?
    /// Watch for the time of the encryption, while the link is being secured; nil if it cannot be opened.
    private var watch: EncryptionWatch?
    /// Maximum time for encrypting the link.
    private static let securingTime = Duration.seconds(10)

    package let device: DeviceAddress
    /// The handler of each received PDU, called before the next PDU is read.
    ///
    /// The span is valid only during the call. Set the handler as soon as the connection is made.
    package var onReceive: ((Span<UInt8>) -> Void)? {
        get { receiver }
        set { receiver = newValue }
    }
    /// The storage of `onReceive`.
    ///
    /// It is private so that the compiler can see all accesses and omit exclusivity checks.
    private var receiver: ((Span<UInt8>) -> Void)?
    package var onGap: (() -> Void)?
    package private(set) var timing: ConnectionTiming?
    package var onTiming: ((ConnectionTiming) -> Void)?
    /// Number of packets dropped so far, as reported with the packet that was read last.
    private var dropped: UInt32 = 0
    private var queue = ReceiveQueue()
    /// The handler that is called when the channel has room again, after `send` returned false.
    package var onWritable: (() -> Void)?
    /// The handler that is called once, when the channel is closed by the peer or by an error.
    package var onClosed: ((LinkFailure) -> Void)?

    /// Starts connecting from the adapter whose address is `local`.
    ///
    /// Without the watch that `makeWatch` creates, packets that arrive while the link is being secured are refused.
    init(
        to device: DeviceAddress,
        from local: BluetoothAddress,
        on loop: EventLoop,
        timeout: Duration,
        watchingWith makeWatch: @escaping () -> EncryptionWatch? = { nil },
        completion: @escaping Completion
    ) throws(LinkFailure) {
        self.device = device
        self.loop = loop
        self.makeWatch = makeWatch
        self.completion = completion
        do throws(Errno) {
            socket = try L2CAPSocket(local: local.rawValue, receiveBuffer: Self.receiveBuffer)
            _ = try socket.connect(to: device.address.rawValue, isRandom: device.type == .random)
            // Even if the connection is made immediately, it is reported by the loop, after the caller has returned.
            registration = try loop.watch(socket.descriptor, for: .writable) { [unowned self] readiness in
                handle(readiness)
            }
        } catch {
            throw .system(error)
        }
        connectTimer.set(on: loop, after: timeout) { [unowned self] in fail(.timedOut(timeout)) }
    }

    /// Creates the channel for a connection made by a central.
    init(accepted central: consuming L2CAPListener.Central, on loop: EventLoop) throws(LinkFailure) {
        device = DeviceAddress(BluetoothAddress(rawValue: central.address), central.isRandom ? .random : .public)
        self.loop = loop
        makeWatch = { nil }
        socket = central.takeSocket()
        // The central may secure the link at any time.
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

    /// Number of packets that the kernel dropped on this connection because they were not read in time.
    package var droppedPackets: UInt32 { socket.descriptor.droppedPacketCount }

    /// Sends one PDU.
    ///
    /// Returns false if the socket has no room for it; `onWritable` is called when the caller may retry.
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

    /// Closes the channel; no handler is called afterwards.
    ///
    /// The kernel keeps the connection for about 2 s; `KernelAdapter.disconnect` ends it immediately.
    package func close() {
        for timer in [connectTimer, resendTimer, securingTimer, securityTimer] { timer.cancel() }
        if let registration { loop.unwatch(registration, socket.descriptor) }
        registration = nil
        completion = nil
        securing = nil
        packets.refuseAll()
        watch = nil
        onReceive = nil
        onGap = nil
        onTiming = nil
        onSecurity = nil
        onWritable = nil
        onClosed = nil
    }

    private func handle(_ readiness: EventLoop.Readiness) {
        guard completion == nil else {
            finishConnecting()
            return
        }
        guard securing == nil else {
            finishSecuring()
            return
        }
        if isSecured {
            readSecurity()
            if security.level > .none { noteSecurity() }
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
        connectTimer.cancel()
        self.completion = nil
        completion(.success(self))
    }

    /// Updates the timing with parameters that the device has requested and the kernel has accepted.
    ///
    /// The controller chooses values within the range of these parameters.
    func take(_ parameters: ConnectionParameters) {
        let timing = ConnectionTiming(slowest: parameters)
        self.timing = timing
        onTiming?(timing)
    }

    // MARK: Security

    package var refusedPackets: UInt64 { packets.refused }
    package var earlyValues: EarlyValues { packets.values }

    package func secure(
        _ level: GATTLinkSecurity.Level,
        early: Duration = .zero,
        completion: @escaping (Result<Void, LinkFailure>) -> Void
    ) {
        guard let registration else { return }
        securing = (level, completion)
        self.early = early
        watch = makeWatch()
        if watch != nil { try? socket.stampPackets(true) }
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

    /// Checks the link's security, whenever the socket becomes ready.
    private func finishSecuring() {
        guard let registration, let (level, completion) = securing else { return }
        readSecurity()
        let wasAsking = isAsking
        var isOver = socket.descriptor.takePendingError() != nil
        var buffer = [UInt8](repeating: 0, count: L2CAPSocket.packetCapacity)
        while !isOver {
            let taken = try? socket.receiveStamped(into: &buffer)
            guard let received = taken else {
                isOver = true
                break
            }
            guard case .done(let (packet, facts)) = received else { break }
            isOver = packet.count == 0
            dropped = facts.dropped
            guard !isOver else { break }
            let pdu = buffer[..<packet.count]
            if ChannelFault.isAnswer(pdu.span) {
                isAsking = false
            } else if watch != nil, !packet.isTruncated, let time = facts.time {
                packets.add(Array(pdu), at: time)
            } else {
                packets.addWithoutTime(pdu.span)
            }
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
        let time = (try? socket.connectionHandle()).flatMap { watch?.time(ofEncryption: $0) }
        let accepted = packets.take(encryptedAt: time, early: early)
        if watch != nil { try? socket.stampPackets(false) }
        watch = nil
        securingTimer.cancel()
        securing = nil
        isSecured = true
        completion(.success(()))
        for pdu in accepted {
            // The handler may have closed the channel.
            if let receiver { receiver(pdu.span) } else { packets.refuse(pdu.span) }
        }
    }

    private func awaitSecurity() {
        guard registration != nil, security.level == .none else { return }
        securityTimer.set(on: loop, after: Self.securityInterval) { [unowned self] in
            if isSecured { readSecurity() }
            if security.level > .none { noteSecurity() } else { awaitSecurity() }
        }
    }

    /// Reports the encryption, once.
    private func noteSecurity() {
        guard let handler = onSecurity else { return }
        onSecurity = nil
        handler()
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
                    // `receiver ?? { _ in }` would allocate: `??` is generic.
                    received = try socket.receiveUnmarked { pdu in receiver?(pdu) }
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
                // The rest of the queue is read the next time the socket is ready.
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
        // Until the link is secured, notify only the handler of the security request.
        if let securing { securing.completion(.failure(.notSecured)) } else { onClosed?(failure) }
    }
}

extension KernelATTChannel: ConnectionAttempt {
    /// True until the connection succeeds, fails or is cancelled.
    var isConnecting: Bool { completion != nil }

    /// Cancels connecting; does nothing once the connection is made.
    package func cancel() {
        if completion != nil { close() }
    }
}

/// A record of how full a socket's receive queue was, which shows if the kernel may have dropped packets.
///
/// The kernel drops a packet only while others are queued: even the smallest queue has room for two packets of the
/// maximum MTU. Drops after the last queued packet are reported with the next packet, which may arrive much later.
/// Therefore, a queue that has held only one packet at a time since it was last empty has not dropped any, and the drop
/// count of its next packet need not be read.
struct ReceiveQueue {
    /// Number of packets read since the queue was last empty, capped at two.
    private var taken: UInt8 = 2
    /// True unless the queue held at most one packet between the last two times that it was empty.
    private var wasLonger = true

    /// True if the next packet may report dropped packets.
    var mayHaveDropped: Bool { wasLonger || taken > 0 }

    /// Records an attempt to read a packet.
    mutating func take() { taken = min(taken &+ 1, 2) }

    /// Records that the queue was empty.
    mutating func foundEmpty() {
        wasLonger = taken > 1
        taken = 0
    }
}
