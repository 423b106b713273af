// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import LinuxIO
package import SystemPackage

/// Why a link is no more, or never was.
package enum LinkFailure: Error, Equatable, CustomStringConvertible {
    /// The kernel refused or broke the connection.
    case system(Errno)
    /// No connection came about in time.
    case timedOut(Duration)
    /// The peer broke the Attribute Protocol's rules.
    case bearer(ATTBearer.Failure)
    /// The peer closed the channel.
    case closedByPeer

    /// A few words for people.
    package var description: String {
        switch self {
        case .system(.connectionReset): "the device ended the connection"
        case .system(.timedOut): "the device is out of reach"
        case .system(.connectionAbort): "the connection was aborted"
        case .system(let error): "\(error)"
        case .timedOut(let time): "no connection within \(time.components.seconds) s"
        case .bearer(.transactionTimeout(let opcode)): "the device did not answer \(opcode) within 30 s"
        case .bearer(let failure): "the device broke the Attribute Protocol: \(failure)"
        case .closedByPeer: "the device closed the channel"
        }
    }
}

/// A connection to a peer's GATT server on the event loop: the kernel's L2CAP socket under a `GATTClient`.
///
/// To be used on the loop's thread.
package final class ATTLink {
    /// What happens on the link.
    package enum Event {
        /// The connection stands.
        case connected
        /// A procedure has ended.
        case procedure(GATTClient.Event)
        /// The link is closed, and says nothing more.
        case closed(LinkFailure)
    }

    private let adapter: Adapter
    private let loop: EventLoop
    private let socket: L2CAPSocket
    private var registration: EventLoop.Registration?
    private var client: GATTClient
    private var buffer = [UInt8](repeating: 0, count: L2CAPSocket.packetCapacity)
    private var isConnected = false
    /// A PDU that the socket did not take yet.
    private var unsent: [UInt8]?
    private var timer: EventLoop.Timer?
    private var isPumping = false

    /// The peer.
    package let device: DeviceAddress
    /// Hears of everything but values.
    package var onEvent: ((Event) -> Void)?
    /// Takes each notified or indicated value, in place, on the loop's thread, before the next is read.
    ///
    /// An indication is confirmed whatever becomes of its value.
    package var onValue: ((AttributeHandle, GATTSubscriptionKind, Span<UInt8>) -> Void)?

    /// What the receive queue may hold; without CAP_NET_ADMIN the kernel's limit is lower.
    private static let receiveBuffer: Int32 = 1 << 22
    /// How many packets are read before the loop may look elsewhere.
    private static let batch = 64

    /// Begins to connect; `onEvent` tells how it goes on, within `timeout`.
    package init(
        to device: DeviceAddress,
        through adapter: Adapter,
        on loop: EventLoop,
        timeout: Duration
    ) throws(LinkFailure) {
        self.device = device
        self.adapter = adapter
        self.loop = loop
        client = GATTClient()
        do throws(Errno) {
            socket = try L2CAPSocket(local: adapter.information.address.rawValue, receiveBuffer: Self.receiveBuffer)
            _ = try socket.connect(to: device.address.rawValue, isRandom: device.type == .random)
            // Even a connection made at once is reported through the loop, so that the caller is ready for it.
            registration = try loop.watch(socket.descriptor, for: [.writable]) { [weak self] readiness in
                self?.handle(readiness)
            }
        } catch {
            throw .system(error)
        }
        timer = loop.schedule(at: MonotonicClock.now + timeout) { [weak self] in self?.fail(.timedOut(timeout)) }
    }

    deinit { close() }

    /// How many packets the kernel has dropped on this link because they were not read in time.
    package var droppedPackets: UInt32 { socket.descriptor.droppedPacketCount }

    /// The longest PDU that either side may send now, in bytes.
    package var mtu: UInt16 { client.mtu }

    /// Asks the client for procedures, and sends what they want sent.
    package func perform<Result, Failure: Error>(
        _ body: (inout GATTClient, Duration) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { pump() }
        return try body(&client, MonotonicClock.now)
    }

    /// Closes the channel; nothing more is reported.
    ///
    /// The kernel keeps the connection for about two seconds more; `Adapter.disconnect` ends it at once.
    package func close() {
        if let timer { loop.cancel(timer) }
        timer = nil
        if let registration { loop.unwatch(registration, socket.descriptor) }
        registration = nil
        client.close()
        onEvent = nil
        onValue = nil
    }

    private func handle(_ readiness: EventLoop.Readiness) {
        guard isConnected else {
            finishConnecting()
            return
        }
        if !readiness.isDisjoint(with: [.readable, .hangUp, .error]) { read() }
        if readiness.contains(.writable) { pump() }
    }

    private func finishConnecting() {
        if let error = socket.descriptor.takePendingError() {
            fail(error == .connectionRefused || error == .nowInProgress ? .system(.timedOut) : .system(error))
            return
        }
        isConnected = true
        if let timer { loop.cancel(timer) }
        timer = nil
        watch(.readable)
        onEvent?(.connected)
        pump()
    }

    private func read() {
        for _ in 0..<Self.batch {
            let packet: ReceivedPacket
            do throws(Errno) {
                guard case .done(let received) = try socket.descriptor.receive(into: &buffer) else { break }
                packet = received
            } catch {
                fail(.system(error))
                return
            }
            guard packet.count > 0 else {
                fail(.closedByPeer)
                return
            }
            switch client.receive(buffer.span.extracting(first: packet.count), now: MonotonicClock.now) {
            // The value lies behind the opcode and the handle, which the client has seen to be there.
            case .notification(let handle):
                onValue?(handle, .notifications, buffer.span.extracting(3..<packet.count))
            case .indication(let handle):
                onValue?(handle, .indications, buffer.span.extracting(3..<packet.count))
                pump()
            case .handled: pump()
            case .ignored: break
            }
            if registration == nil { return }
        }
        pump()
    }

    /// Sends what waits, reports what has ended, and sets the timer anew.
    private func pump() {
        // A result's receiver asks for the next procedure: that is sent by the loop below, not by a second one inside it.
        guard !isPumping, isConnected, registration != nil else { return }
        isPumping = true
        defer { isPumping = false }
        repeat {
            do throws(Errno) {
                try send()
            } catch {
                fail(.system(error))
                return
            }
            guard let event = client.nextEvent() else { break }
            onEvent?(.procedure(event))
        } while registration != nil
        guard registration != nil else { return }
        if let failure = client.failure {
            fail(.bearer(failure))
            return
        }
        armTimer()
    }

    private func send() throws(Errno) {
        while let pdu = unsent ?? client.nextOutgoing() {
            guard case .done = try socket.send(pdu) else {
                unsent = pdu
                watch([.readable, .writable])
                return
            }
            if unsent != nil {
                unsent = nil
                watch(.readable)
            }
        }
    }

    private func armTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
        guard let deadline = client.deadline else { return }
        timer = loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            timer = nil
            client.handleDeadline(now: MonotonicClock.now)
            pump()
        }
    }

    private func watch(_ interest: EventLoop.Readiness) {
        guard let registration else { return }
        do throws(Errno) {
            try loop.change(registration, socket.descriptor, to: interest)
        } catch {
            fail(.system(error))
        }
    }

    private func fail(_ failure: LinkFailure) {
        guard registration != nil else { return }
        let handler = onEvent
        close()
        handler?(.closed(failure))
    }
}

extension Adapter {
    /// Ends the connection with a device at once; `completion` is called when the kernel is done with it.
    package func disconnect(_ device: DeviceAddress, completion: @escaping () -> Void) {
        management.send(.disconnect(index, ManagementAddress(device))) { _ in completion() }
    }
}
