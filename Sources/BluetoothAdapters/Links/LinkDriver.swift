// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
import LinuxIO

/// Connects to a device, secures the link, and exchanges the MTU.
///
/// If the controller reports that the connection was not established (0x3E), the driver connects again. If the device
/// disconnects during the MTU exchange, the next connection omits the exchange. There is only one link at a time. Used
/// on the loop's thread.
package final class LinkDriver {
    /// Events of the most recent link.
    package enum Event {
        /// The connection is made: set the link's handlers now.
        case connected(ATTLink)
        /// The link is secured and the MTU is exchanged, so procedures can be started.
        ///
        /// The event is repeated for the next link if this link turns out not to have been established.
        case ready(ATTLink)
        /// A procedure that the owner started has ended.
        case procedure(GATTClient.Event)
        /// The device did not prove that it is the paired device; the owner must close the link.
        case notSecured
        /// The link has ended or could not be made.
        case failed(LinkFailure)
    }

    package var onEvent: ((Event) -> Void)?
    /// The link; nil before the connection is made, and after `close`.
    package private(set) var link: ATTLink?
    /// True if the device disconnected during the last MTU exchange, so that the next `open` omits the exchange.
    package private(set) var leavesMTU = false

    private let radio: RadioArbiter
    private var device: DeviceAddress?
    private var required = GATTLinkSecurity.Level.none
    private var early = Duration.zero
    private var exchangesMTU = true
    /// The time after which the driver stops connecting again; nil if there is no limit.
    private var end: Duration?
    private var attempt: RadioAttempt?
    private var asksForMTU = true
    /// The current MTU exchange; it is not cleared if the bearer fails during the exchange.
    private var exchange: GATTClient.ProcedureID?
    private var droppedBefore: UInt64 = 0
    private var tooLongBefore: UInt64 = 0
    private var refusedBefore: UInt64 = 0
    private var earlyBefore = EarlyValues()

    /// Creates a driver without a link.
    package init(on radio: RadioArbiter) {
        self.radio = radio
    }

    /// Number of packets, over all links, that were dropped below the link because they were not read in time.
    package var droppedPackets: UInt64 { droppedBefore &+ UInt64(link?.droppedPackets ?? 0) }
    /// Number of received values that exceeded the maximum length.
    package var tooLongValues: UInt64 { tooLongBefore &+ (link?.tooLongValues ?? 0) }

    /// Number of received packets that were refused because the link was not encrypted yet.
    package var refusedPackets: UInt64 { refusedBefore &+ (link?.refusedPackets ?? 0) }

    /// Counts of the values that arrived before their links were encrypted.
    package var earlyValues: EarlyValues { earlyBefore + (link?.earlyValues ?? EarlyValues()) }

    /// Connects to a device; an earlier link must have ended or been closed.
    ///
    /// No request is sent to the device before the link has the `required` security. Packets that arrived at most
    /// `early` before the encryption are delivered after it. Without `exchangesMTU`, the default MTU remains, and no
    /// request is sent before `ready`.
    package func open(
        _ device: DeviceAddress,
        _ patience: RadioAttempt.Patience,
        requiring required: GATTLinkSecurity.Level = .none,
        early: Duration = .zero,
        exchangesMTU: Bool = true
    ) {
        forget()
        leavesMTU = leavesMTU && device == self.device
        self.device = device
        (self.required, self.early, self.exchangesMTU) = (required, early, exchangesMTU)
        end =
            switch patience {
            case .once(let limit): MonotonicClock.now + limit
            case .forever: nil
            }
        connect(to: device)
    }

    /// Ends the link or the attempt; `completion` is called asynchronously when the controller has ended it.
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
        asksForMTU = exchangesMTU && !leavesMTU
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
        link.secure(required, early: early) { [weak self, weak link] result in
            guard let self, let link, link === self.link else { return }
            switch result {
            case .success: exchangeMTU(link)
            case .failure: onEvent?(.notSecured)
            }
        }
    }

    /// Exchanges the MTU, unless the exchange is to be omitted.
    ///
    /// A client may keep the default MTU of 23 bytes (Core 6.0, Vol 3, Part G, 4.3.1).
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
        // A failed bearer closes the link, which is reported separately.
        if case .failure(.bearer) = result { return }
        exchange = nil
        // If the server rejects the exchange, the default MTU of 23 bytes remains.
        onEvent?(.ready(link))
    }

    private func handle(_ event: ATTLink.Event, of link: ATTLink) {
        guard link === self.link else { return }
        switch event {
        case .procedure(let event) where event.procedure == exchange: exchanged(link, event.result)
        case .procedure(let event): onEvent?(.procedure(event))
        // Retry: a controller may report a connection before it has received any packet from the device.
        case .closed(.notEstablished) where end.map { MonotonicClock.now < $0 } ?? true:
            leavesMTU = exchangesMTU && !asksForMTU
            forget()
            connect(to: link.device)
        case .closed(let failure):
            leavesMTU = exchange != nil && failure.isHangUp
            exchange = nil
            onEvent?(.failed(failure))
        }
    }

    /// Drops the link, and adds its counts to the totals.
    private func forget() {
        exchange = nil
        guard let link else { return }
        self.link = nil
        droppedBefore &+= UInt64(link.droppedPackets)
        tooLongBefore &+= link.tooLongValues
        // Closing refuses the packets that still wait for the encryption.
        link.close()
        refusedBefore &+= link.refusedPackets
        earlyBefore = earlyBefore + link.earlyValues
    }
}
