// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
package import BluetoothHost
package import BluetoothPackets
package import Link

/// Simulated keyboard scanner: the peripheral of HID over GATT, with a US layout.
///
/// It advertises, accepts centrals, and sends input reports to those that have subscribed. As real keyboards do, it
/// keeps the subscriptions of a bonded central over a disconnection, and restores them as soon as the link is
/// encrypted. The owner accepts pairings and keeps the bonds. Used on the loop's thread. HOGP 1.0; HIDS 1.0.
package final class SimulatedKeyboard {
    package enum Event {
        case connected(DeviceAddress)
        /// A central has subscribed to the input report, or its subscription was restored.
        case subscribed(isRestored: Bool)
        case unsubscribed
        /// A central has written the output report, one byte of LEDs.
        case lights(UInt8)
        case disconnected(DeviceAddress, DisconnectReason)
    }

    package struct Counts: Equatable, Sendable {
        package var reports = 0
        /// Number of subscriptions that were restored after a disconnection.
        package var restored = 0
    }

    /// Default name.
    package static let usualName = "HID Scanner"
    /// Maximum number of centrals whose subscriptions are kept.
    private static let capacity = 16

    private let name: String
    private let faults: Set<KeyboardFault>
    private let services: HIDKeyboardServices
    private let server: ServerCore
    private let onEvent: (Event) -> Void
    /// Subscriptions of centrals, by the value's handle, oldest central first.
    private var kept: [(central: DeviceAddress, kinds: [AttributeHandle: GATTSubscriptionKind])] = []
    /// Centrals whose restored subscription to the input report has not been reported yet.
    private var restored: Set<GATTServer.PeerID> = []
    /// Report that some subscribers had no room for, and the subscribers that have not received it yet.
    private var held: (report: [UInt8], missing: [GATTServer.PeerID])?

    package private(set) var counts = Counts()
    /// Handler that is called when `send` accepts reports again.
    package var onRoom: (() -> Void)?

    /// Creates a keyboard, which does not advertise yet.
    ///
    /// Every access to its values requires `access`, unless a fault removes this. Throws if the name is longer than 248
    /// bytes.
    package init(
        name: String,
        access: GATTAccess = .encrypted,
        faults: Set<KeyboardFault> = [],
        on radio: RadioArbiter,
        onEvent: @escaping (Event) -> Void
    ) throws(GATTDatabaseError) {
        self.name = name
        self.faults = faults
        self.onEvent = onEvent
        services = try HIDKeyboardServices(name: name, access: faults.contains(.noEncryption) ? .open : access)
        let box = Box()
        server = ServerCore(
            radio,
            services.database,
            mtu: faults.contains(.shortMap) ? ATTBearer.defaultMTU : ATTBearer.largestUsefulMTU,
            onEvent: { server, event in box.keyboard?.handle(event, server) },
            onConnection: { id, central, reason in box.keyboard?.noteConnection(id, central, reason) }
        )
        box.keyboard = self
        server.onSecurity = { id, security in box.keyboard?.restore(id, security) }
    }

    private final class Box {
        weak var keyboard: SimulatedKeyboard?
    }

    /// Advertises the HID service, the appearance and the name until `stop` is called; throws if the name does not fit
    /// into the advertisement.
    package func start(completion: @escaping (Result<Void, BluetoothError>) -> Void) throws(SimulationFailure) {
        do {
            let content = AdvertisementLayout.Content(
                localName: name,
                services: [.humanInterfaceDevice],
                appearance: HIDKeyboardServices.appearance
            )
            let layout = try AdvertisementLayout(content)
            try server.advertise(
                Advertisement(data: layout.data, scanResponse: layout.scanResponse),
                completion: completion
            )
        } catch let failure as AdvertisementLayout.Failure {
            throw .doesNotFit(failure)
        } catch {
            throw .refused("\(error)")
        }
    }

    /// Stops advertising, and disconnects the centrals; calls `completion` when all are disconnected.
    package func stop(completion: @escaping () -> Void) {
        server.stopAdvertising { [self] in disconnect(completion: completion) }
    }

    /// Disconnects the centrals but keeps advertising; calls `completion` when all are disconnected.
    package func disconnect(completion: @escaping () -> Void = {}) {
        let centrals = Array(server.centrals.keys)
        var remaining = centrals.count
        if remaining == 0 { completion() }
        for id in centrals {
            server.disconnect(id) {
                remaining -= 1
                if remaining == 0 { completion() }
            }
        }
    }

    /// True if a central is subscribed to the input report.
    package var isSubscribed: Bool { !server.subscribers(of: services.input).isEmpty }

    /// Sends an input report to all subscribers.
    ///
    /// Returns false, and sends nothing, if there is no subscriber, or while the previous report waits for room, until
    /// `onRoom` is called. An accepted report reaches every subscriber once and in order, unless the subscriber leaves.
    package func send(_ report: [UInt8]) -> Bool {
        guard held == nil, isSubscribed else { return false }
        counts.reports += 1
        deliver(report, to: nil)
        return true
    }

    private func deliver(_ report: [UInt8], to missing: [GATTServer.PeerID]?) {
        _ = try? server.perform { server throws(GATTServerError) in
            let full = try server.update(report, of: services.input, for: missing)
            // Set this before the server continues, because it may have room immediately.
            held = full.isEmpty ? nil : (report, full)
        }
    }

    /// Sends the held report to the subscribers that have not received it.
    private func retry() {
        if let (report, missing) = held {
            held = nil
            deliver(report, to: missing)
        }
        if held == nil { onRoom?() }
    }

    // MARK: Connections

    private func noteConnection(_ id: GATTServer.PeerID, _ central: DeviceAddress, _ reason: DisconnectReason?) {
        if let reason {
            restored.remove(id)
            if faults.contains(.forgetSubscriptions) { kept.removeAll { $0.central == central } }
            return onEvent(.disconnected(central, reason))
        }
        // Each connection begins in the report protocol, with the LEDs off (HIDS 1.0, 2.4.1.1).
        _ = try? server.perform { [services] server throws(GATTServerError) in
            try server.setValue(HIDKeyboardServices.reportProtocol, of: services.protocolMode)
            try server.setValue([0x00], of: services.lights)
        }
        onEvent(.connected(central))
    }

    /// Restores the subscriptions of a bonded central, once the link is encrypted.
    private func restore(_ id: GATTServer.PeerID, _ security: GATTLinkSecurity) {
        guard security.isBonded, security.suffices(for: .encrypted), let central = server.centrals[id],
            let kinds = kept.first(where: { $0.central == central })?.kinds
        else { return }
        if kinds[services.input] != nil {
            restored.insert(id)
            counts.restored += 1
        }
        _ = try? server.perform { server throws(GATTServerError) in
            for (handle, kind) in kinds { try server.restoreSubscription(kind, to: handle, of: id) }
        }
    }

    /// Keeps a subscription, or its end if `kind` is nil; of too many centrals, the oldest is forgotten.
    private func keep(_ kind: GATTSubscriptionKind?, _ handle: AttributeHandle, of central: DeviceAddress) {
        var kinds = kept.first { $0.central == central }?.kinds ?? [:]
        kinds[handle] = kind
        kept.removeAll { $0.central == central }
        if !kinds.isEmpty { kept.append((central, kinds)) }
        if kept.count > Self.capacity { kept.removeFirst() }
    }

    // MARK: Requests

    private func handle(_ event: GATTServer.Event, _ server: ServerCore) {
        switch event {
        case .subscribed(let id, let handle, let kind):
            if let central = server.centrals[id] { keep(kind, handle, of: central) }
            guard handle == services.input else { return }
            onEvent(.subscribed(isRestored: restored.remove(id) != nil))
        case .unsubscribed(let id, let handle):
            // The subscriptions of a central that has disconnected are kept.
            if let central = server.centrals[id] { keep(nil, handle, of: central) }
            guard handle == services.input else { return }
            onEvent(.unsubscribed)
            retry()
        case .readyToUpdate: retry()
        case .written(_, let handle, let value):
            if handle == services.lights, let lights = value.first { onEvent(.lights(lights)) }
        case .read(let request, _, let handle, let offset):
            let map = HIDKeyboardServices.reportMap
            let isRefused =
                handle != services.map || faults.contains(.shortMap) && offset >= map.count / 2
            _ = try? server.perform { server throws(GATTServerError) in
                if isRefused {
                    try server.refuse(request, .unlikelyError)
                } else {
                    try server.respond(to: request, with: map)
                }
            }
        case .write(let request, _, _):
            // This cannot happen: every writable value is stored by the server.
            _ = try? server.perform { server throws(GATTServerError) in
                try server.refuse(request, .writeNotPermitted)
            }
        case .command, .requestEnded, .confirmed: break
        }
    }
}
