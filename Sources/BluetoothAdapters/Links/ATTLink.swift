// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import LinuxIO

/// A connection to a peer's GATT server on the event loop: a `GATTClient` that uses an ATT channel.
package final class ATTLink {
    package enum Event {
        case procedure(GATTClient.Event)
        /// The link was closed by the peer or by an error; no event follows.
        case closed(LinkFailure)
    }

    /// A handler of a received value; the span contains the bytes and is valid only during the call.
    package typealias ValueHandler = (ReceivedValue, Span<UInt8>) -> Void

    /// The handler that is called after packets were dropped, before the next value is delivered.
    package var onGap: (() -> Void)? {
        get { channel.onGap }
        set { channel.onGap = newValue }
    }

    package var timing: ConnectionTiming? { channel.timing }
    /// The handler that is called when the link's timing has changed.
    package var onTiming: ((ConnectionTiming) -> Void)? {
        get { channel.onTiming }
        set { channel.onTiming = newValue }
    }

    private let channel: any ATTChannel
    private let loop: EventLoop
    private var client: GATTClient
    private var isOpen = true
    /// The PDU that is waiting for room in the channel.
    private var unsent: [UInt8]?
    private let timer = LoopTimer()
    private var isPumping = false

    /// The handler of events; values go to `onValue`.
    package var onEvent: ((Event) -> Void)?
    /// The handler of each notified or indicated value, called on the loop's thread before the next packet is read.
    ///
    /// An indication is confirmed before the handler is called.
    package var onValue: ValueHandler? {
        get { valueHandler }
        set { valueHandler = newValue }
    }
    /// The storage of `onValue`.
    ///
    /// It is private so that the compiler can see all accesses and omit exclusivity checks.
    private var valueHandler: ValueHandler?

    /// Creates a link over a connected channel.
    package init(_ channel: any ATTChannel, on loop: EventLoop, client: GATTClient = GATTClient()) {
        self.channel = channel
        self.loop = loop
        self.client = client
        // `unowned` is safe: a link closes its channel before it is deallocated, and a closed channel calls no handler.
        channel.onReceive = { [unowned self] pdu in receive(pdu) }
        channel.onWritable = { [unowned self] in pump() }
        channel.onClosed = { [unowned self] failure in fail(failure) }
    }

    deinit { close() }

    package var device: DeviceAddress { channel.device }

    /// Number of received packets dropped below the link because they were not read in time.
    package var droppedPackets: UInt32 { channel.droppedPackets }

    /// Number of received values that were not delivered because they were too long.
    package var tooLongValues: UInt64 { client.counters.tooLongValues }

    /// Number of received packets that were refused because the link was not encrypted yet.
    package var refusedPackets: UInt64 { channel.refusedPackets }

    /// Counts of the values that arrived before the link was encrypted.
    package var earlyValues: EarlyValues { channel.earlyValues }

    /// The connection's ATT_MTU in bytes: the maximum PDU length in either direction.
    package var mtu: UInt16 { client.mtu }

    package var security: GATTLinkSecurity { channel.security }

    /// Encrypts the link with the key of a bond, like `ATTChannel.secure`.
    package func secure(
        _ level: GATTLinkSecurity.Level,
        early: Duration = .zero,
        completion: @escaping (Result<Void, LinkFailure>) -> Void
    ) { channel.secure(level, early: early, completion: completion) }

    /// Calls `body` with the client and the current time, and then sends the resulting PDUs.
    package func perform<Result, Failure: Error>(
        _ body: (inout GATTClient, Duration) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { pump() }
        return try body(&client, MonotonicClock.now)
    }

    /// Closes the channel; no handler is called afterwards.
    ///
    /// `LowEnergyAdapter.disconnect` ends the connection immediately.
    package func close() {
        timer.cancel()
        isOpen = false
        channel.onGap = nil
        channel.onTiming = nil
        channel.close()
        client.close()
        onEvent = nil
        onValue = nil
    }

    /// Handles a PDU; the link is retained during the call, because a handler may release it.
    private func receive(_ pdu: Span<UInt8>) {
        switch client.receive(pdu, now: MonotonicClock.now) {
        case .value(let value) where value.kind == .notifications: valueHandler?(value, value.bytes(in: pdu))
        case .value(let value):
            // Send the confirmation first, because the handler may close the link. Ignore a failure here, because
            // `pump` will fail with the same error.
            try? send()
            valueHandler?(value, value.bytes(in: pdu))
            pump()
        // Even an ignored indication is confirmed.
        case .handled, .ignored: pump()
        }
    }

    /// Sends the queued PDUs, reports the events, and sets the timer to the next deadline.
    private func pump() {
        // An event handler may start the next procedure. The loop below sends its PDU, so no nested loop is started.
        guard !isPumping, isOpen else { return }
        isPumping = true
        defer { isPumping = false }
        repeat {
            do throws(LinkFailure) {
                try send()
            } catch {
                fail(error)
                return
            }
            guard let event = client.nextEvent() else { break }
            onEvent?(.procedure(event))
        } while isOpen
        guard isOpen else { return }
        if let failure = client.failure {
            fail(.bearer(failure))
            return
        }
        armTimer()
    }

    private func send() throws(LinkFailure) {
        while let pdu = unsent ?? client.nextOutgoing() {
            unsent = pdu
            guard try channel.send(pdu) else { return }
            unsent = nil
        }
    }

    private func armTimer() {
        guard let deadline = client.deadline else { return timer.cancel() }
        timer.set(on: loop, at: deadline) { [unowned self] in
            client.handleDeadline(now: MonotonicClock.now)
            pump()
        }
    }

    private func fail(_ failure: LinkFailure) {
        guard isOpen else { return }
        let handler = onEvent
        close()
        handler?(.closed(failure))
    }
}
