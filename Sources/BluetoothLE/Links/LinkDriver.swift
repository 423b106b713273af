// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
import LinuxIO

/// A connection to a device from the attempt to its end, made ready for procedures: connected, secured, MTU exchanged.
///
/// The driver connects again where the controller reports a connection that was not established (0x3E), and leaves the
/// MTU exchange out once for a device that has hung up at it. One link exists at a time. Used on the loop's thread.
package final class LinkDriver {
    /// The events of the link that was opened last.
    package enum Event {
        /// The connection is made: handlers of its values are to be set now.
        case connected(ATTLink)
        /// The link is secured and its MTU exchanged: procedures may begin.
        ///
        /// Sent again for the next link where this one turns out not to have been established.
        case ready(ATTLink)
        /// A procedure of the owner's has ended.
        case procedure(GATTClient.Event)
        /// The device has not proved that it is the paired one; the link is still to be closed.
        case notSecured
        /// The link has ended, or was not made.
        case failed(LinkFailure)
    }

    package var onEvent: ((Event) -> Void)?
    /// The link; nil before the connection is made, and after `close`.
    package private(set) var link: ATTLink?
    /// True where the device has hung up at the last MTU exchange: the next `open` leaves it out.
    package private(set) var leavesMTU = false

    private let radio: RadioArbiter
    private var device: DeviceAddress?
    private var required = GATTLinkSecurity.Level.none
    /// The end of the time in which a connection may be repeated; nil for no end.
    private var end: Duration?
    private var attempt: RadioAttempt?
    private var asksForMTU = true
    /// The MTU exchange under way, kept where the bearer fails in it.
    private var exchange: GATTClient.ProcedureID?
    private var droppedBefore: UInt64 = 0
    private var tooLongBefore: UInt64 = 0

    /// Makes a driver without a link.
    package init(on radio: RadioArbiter) {
        self.radio = radio
    }

    /// Packets that were dropped below the links because they were not read in time.
    package var droppedPackets: UInt64 { droppedBefore &+ UInt64(link?.droppedPackets ?? 0) }
    /// Received values that were longer than any link carries.
    package var tooLongValues: UInt64 { tooLongBefore &+ (link?.tooLongValues ?? 0) }

    /// Connects to a device; an earlier link must have ended or be closed.
    ///
    /// Nothing is asked of the device before the link has the `required` security.
    package func open(
        _ device: DeviceAddress,
        _ patience: RadioAttempt.Patience,
        requiring required: GATTLinkSecurity.Level = .none
    ) {
        forget()
        leavesMTU = leavesMTU && device == self.device
        self.device = device
        self.required = required
        end =
            switch patience {
            case .once(let limit): MonotonicClock.now + limit
            case .forever: nil
            }
        connect(to: device)
    }

    /// Ends the link or the attempt; `completion` is called, later, when the controller has ended it.
    package func close(completion: @escaping () -> Void) {
        if let attempt {
            self.attempt = nil
            radio.cancel(attempt, completion: completion)
        } else if let link {
            forget()
            radio.disconnect(link.device, completion: completion)
        } else {
            _ = radio.loop.schedule(at: .zero, handler: completion)
        }
    }

    private func connect(to device: DeviceAddress) {
        asksForMTU = !leavesMTU
        let patience = end.map { RadioAttempt.Patience.once($0 - MonotonicClock.now) } ?? .forever
        attempt = radio.connect(to: device, patience) { [unowned self] result in connected(result) }
    }

    private func connected(_ result: Result<ATTLink, LinkFailure>) {
        attempt = nil
        switch result {
        case .failure(let failure): onEvent?(.failed(failure))
        case .success(let link):
            self.link = link
            link.onEvent = { [unowned self, unowned link] event in handle(event, of: link) }
            onEvent?(.connected(link))
            secure(link)
        }
    }

    private func secure(_ link: ATTLink) {
        guard required > .none else { return exchangeMTU(link) }
        link.secure(required) { [weak self, weak link] result in
            guard let self, let link, link === self.link else { return }
            switch result {
            case .success: exchangeMTU(link)
            case .failure: onEvent?(.notSecured)
            }
        }
    }

    /// Exchanges the MTU, which a client may leave at 23 bytes (Core 6.0, Vol 3, Part G, 4.3.1).
    private func exchangeMTU(_ link: ATTLink) {
        leavesMTU = false
        guard asksForMTU else {
            onEvent?(.ready(link))
            return
        }
        do throws(GATTError) {
            try link.perform { client, now throws(GATTError) in exchange = try client.exchangeMTU(now: now) }
        } catch {
            exchanged(link, .failure(error))
        }
    }

    private func exchanged(_ link: ATTLink, _ result: Result<GATTClient.Outcome, GATTError>) {
        // A bearer that fails closes the link, which is reported then.
        if case .failure(.bearer) = result { return }
        exchange = nil
        // A server that refuses the exchange keeps the 23 bytes that need none.
        onEvent?(.ready(link))
    }

    private func handle(_ event: ATTLink.Event, of link: ATTLink) {
        guard link === self.link else { return }
        switch event {
        case .procedure(let event) where event.procedure == exchange: exchanged(link, event.result)
        case .procedure(let event): onEvent?(.procedure(event))
        // A controller may call a connection made before the device has said a word.
        case .closed(.notEstablished) where end.map { MonotonicClock.now < $0 } ?? true:
            leavesMTU = !asksForMTU
            forget()
            connect(to: link.device)
        case .closed(let failure):
            leavesMTU = exchange != nil && failure.isHangUp
            exchange = nil
            onEvent?(.failed(failure))
        }
    }

    /// Drops the link, and keeps its counts.
    private func forget() {
        exchange = nil
        guard let link else { return }
        self.link = nil
        droppedBefore &+= UInt64(link.droppedPackets)
        tooLongBefore &+= link.tooLongValues
        link.close()
    }
}
