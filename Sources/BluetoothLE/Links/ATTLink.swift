// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import LinuxIO

/// A connection to a peer's GATT server on the event loop: an ATT channel under a `GATTClient`.
///
/// To be used on the loop's thread.
package final class ATTLink {
    /// What happens on the link.
    package enum Event {
        /// A procedure has ended.
        case procedure(GATTClient.Event)
        /// The link is closed, and says nothing more.
        case closed(LinkFailure)
    }

    /// Takes a value of that attribute, which came in that way.
    package typealias ValueHandler = (AttributeHandle, GATTSubscriptionKind, Span<UInt8>) -> Void

    private let channel: any ATTChannel
    private let loop: EventLoop
    private var client: GATTClient
    private var isOpen = true
    /// A PDU that the channel did not take yet.
    private var unsent: [UInt8]?
    private var timer: EventLoop.Timer?
    private var isPumping = false

    /// Hears of everything but values.
    package var onEvent: ((Event) -> Void)?
    /// Takes each notified or indicated value, in place, on the loop's thread, before the next is read.
    ///
    /// An indication is confirmed whatever becomes of its value.
    package var onValue: ValueHandler? {
        get { valueHandler }
        set { valueHandler = newValue }
    }
    /// Private, so that the compiler sees all that is done to it, and need not check at each value that it is done in turn.
    private var valueHandler: ValueHandler?

    /// A link over a channel that stands.
    package init(_ channel: any ATTChannel, on loop: EventLoop, client: GATTClient = GATTClient()) {
        self.channel = channel
        self.loop = loop
        self.client = client
        // A link closes its channel before it goes, which then calls none of these.
        channel.onReceive = { [unowned self] pdu in receive(pdu) }
        channel.onWritable = { [unowned self] in pump() }
        channel.onClosed = { [unowned self] failure in fail(failure) }
    }

    deinit { close() }

    /// The peer.
    package var device: DeviceAddress { channel.device }

    /// How many packets were dropped below because they were not read in time.
    package var droppedPackets: UInt32 { channel.droppedPackets }

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
    /// `LowEnergyAdapter.disconnect` ends the connection at once.
    package func close() {
        if let timer { loop.cancel(timer) }
        timer = nil
        isOpen = false
        channel.close()
        client.close()
        onEvent = nil
        onValue = nil
    }

    private func receive(_ pdu: Span<UInt8>) {
        switch client.receive(pdu, now: MonotonicClock.now) {
        // The value lies behind the opcode and the handle, which the client has seen to be there.
        case .notification(let handle):
            valueHandler?(handle, .notifications, pdu.extracting(3..<pdu.count))
        case .indication(let handle):
            // Confirmed first: who takes the value may close the link. A failure to send is found again behind it.
            try? send()
            valueHandler?(handle, .indications, pdu.extracting(3..<pdu.count))
            pump()
        // Even an indication that is ignored is confirmed.
        case .handled, .ignored: pump()
        }
    }

    /// Sends what waits, reports what has ended, and sets the timer anew.
    private func pump() {
        // A result's receiver asks for the next procedure: that is sent by the loop below, not by a second one inside it.
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
        if let timer { loop.cancel(timer) }
        timer = nil
        guard let deadline = client.deadline else { return }
        timer = loop.schedule(at: deadline) { [unowned self] in
            timer = nil
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
