// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Encryption and pairing without a kernel: a Security Manager for each connection, and the state that outlives
/// connections.
struct HostSecurity: Sendable {
    /// Policy of later pairings; the identity is filled in.
    var policy = PairingPolicy(identity: DeviceAddress(BluetoothAddress(rawValue: 0), .public))
    /// Policy of pairings that a central requests; nil for `policy`.
    var acceptance: PairingPolicy?
    private(set) var bonds: [Bond] = []
    /// Resolver of the addresses of bonded devices; nil if no bond has a resolving key.
    private(set) var resolver: AddressResolver?
    private(set) var backoffs = PairingBackoffs()
    /// Time at which the first pairing in progress times out.
    private(set) var deadline: Duration?
    private let random: PairingRandomness
    private var securities: [UInt16: LinkSecurity] = [:]
    /// Connections whose Security Request is rejected unless the caller starts a pairing while processing the queued
    /// events.
    private var requests: Set<UInt16> = []

    init(_ random: PairingRandomness) {
        self.random = random
    }

    var count: Int { securities.count }

    subscript(handle: UInt16) -> LinkSecurity? { securities[handle] }

    /// Replaces the bonds; bonds of other controllers are not used.
    mutating func use(_ new: [Bond], _ core: inout HostCore) {
        guard bonds != new else { return }
        bonds = new
        resolver = AddressResolver(bonds.filter { $0.localAddress == core.controller.address?.address })
        core.scanner.use(resolver)
    }

    /// Returns the identity of the peer with this address.
    mutating func identity(of peer: DeviceAddress) -> DeviceAddress { resolver?.identity(of: peer) ?? peer }

    /// Creates a connection's Security Manager, with the bond and the back-off of the peer.
    mutating func add(_ connection: LowEnergyHost.Connection, _ controller: HostController) {
        guard let own = controller.address else { return }
        policy.identity = own
        // The peer is identified by its identity address or by an address that the bond's key resolves.
        let identity = identity(of: connection.peer)
        securities[connection.handle] = LinkSecurity(
            connection,
            SecurityManager(
                role: connection.role,
                local: own,
                peer: connection.peer,
                policy: policy,
                bond: bonds.first { $0.localAddress == own.address && $0.identityAddress == identity },
                backoff: backoffs[connection.peer],
                random: random
            )
        )
    }

    /// Removes a connection's Security Manager; a pairing that the disconnection ends counts as failed.
    mutating func remove(_ handle: UInt16, now: Duration) {
        requests.remove(handle)
        guard let security = securities.removeValue(forKey: handle), security.manager.isPairing else { return }
        noteDeadline()
        var backoff = security.manager.backoff
        backoff.fail(at: now)
        backoffs.keep(backoff, of: security.connection.peer)
    }

    mutating func removeAll() {
        securities = [:]
        requests = []
        deadline = nil
    }

    mutating func encrypt(_ handle: UInt16, _ core: inout HostCore) -> Bool {
        guard core.controller.encrypts, core.links.isOpen(handle), securities[handle]?.isEncrypting == false,
            securities[handle]?.manager.encrypt() == true
        else { return false }
        carryOut(handle, &core)
        return true
    }

    mutating func pair(_ handle: UInt16, _ core: inout HostCore, now: Duration) throws(SecurityManager.Refusal) {
        guard core.controller.encrypts, core.links.isOpen(handle) else { throw .ended }
        try securities[handle]?.manager.pair(now: now)
        carryOut(handle, &core)
    }

    /// Calls `body` with a connection's Security Manager and carries out the resulting effects.
    mutating func instruct(_ handle: UInt16, _ core: inout HostCore, _ body: (inout SecurityManager) -> Void) {
        securities[handle]?.instruct(body)
        carryOut(handle, &core)
    }

    mutating func handleDeadline(_ core: inout HostCore, now: Duration) {
        guard let deadline, deadline <= now else { return }
        for handle in securities.keys.sorted() {
            instruct(handle, &core) { $0.handleDeadline(now: now) }
        }
    }

    mutating func receive(_ payload: Span<UInt8>, _ handle: UInt16, _ core: inout HostCore, now: Duration) {
        renewPolicy(of: handle)
        securities[handle]?.manager.receive(payload, now: now)
        carryOut(handle, &core)
    }

    /// Applies the current acceptance policy to a peripheral's Security Manager that is not pairing, before its next
    /// request.
    private mutating func renewPolicy(of handle: UInt16) {
        guard let security = securities[handle], security.connection.role == .peripheral, !security.isAccepting else {
            return
        }
        let isBusy = securities.values.contains { $0.isAccepting }
        securities[handle]?.manager.policy = isBusy ? policy : acceptance ?? policy
        securities[handle]?.manager.policy.identity = security.manager.local
    }

    /// Processes a peripheral's Security Request: encrypts the link if there is a bond, and does not pair automatically
    /// if there is none (Core 6.0, Vol 3, Part H, 2.4.6).
    private mutating func takeRequest(_ handle: UInt16, _ core: inout HostCore) {
        guard let security = securities[handle] else { return }
        guard security.manager.bond == nil else {
            if security.inForce.level == .none { _ = encrypt(handle, &core) }
            return
        }
        // The request may precede the event of its connection; a caller that connects in order to pair processes that
        // event first.
        requests.insert(handle)
    }

    /// Rejects the Security Requests on connections that are not pairing.
    mutating func refuseRequests(_ core: inout HostCore) {
        guard !requests.isEmpty else { return }
        for handle in requests.sorted() where securities[handle]?.manager.isPairing == false {
            let refusal = SecurityManagerPDU.pairingFailed(.pairingNotSupported)
            core.answer(.securityManager, refusal.encoded, on: handle)
        }
        requests = []
    }

    mutating func changeEncryption(of handle: UInt16, isOn: Bool, _ core: inout HostCore, now: Duration) {
        let isInstructed = core.output.commands.isUnderWay(.encrypt(handle))
        guard securities[handle]?.change(isOn: isOn, isInstructed: isInstructed, now: now) == true,
            let security = securities[handle]?.inForce
        else { return }
        core.output.emit(.security(handle: handle, .changed(security)))
        carryOut(handle, &core)
    }

    /// Processes the controller's answer to a command with a link's key.
    mutating func take(_ outcome: HCICommandQueue.Outcome, of handle: UInt16, _ core: inout HostCore, now: Duration) {
        guard let isOn = securities[handle]?.outcome(after: outcome) else { return }
        changeEncryption(of: handle, isOn: isOn, &core, now: now)
    }

    /// Passes the key that a central requests to the controller, or reports that there is none.
    mutating func answer(_ event: LELongTermKeyRequest, _ core: inout HostCore) {
        let handle = event.handle
        let manager = securities[handle]?.manager
        guard let key = manager?.longTermKey(diversifier: event.diversifier, random: event.random) else {
            return core.output.request(.leLongTermKeyRequestNegativeReply(handle: handle), .reply)
        }
        guard !core.output.commands.isCrowded else {
            core.output.counters.dropped &+= 1
            return
        }
        securities[handle]?.giveKey()
        core.output.request(.leLongTermKeyRequestReply(handle: handle, key: key), .encrypt(handle))
    }

    private mutating func carryOut(_ handle: UInt16, _ core: inout HostCore) {
        while let effects = securities[handle]?.manager.takeEffects(), !effects.isEmpty {
            for effect in effects { perform(effect, handle, &core) }
        }
        noteDeadline()
    }

    private mutating func noteDeadline() {
        deadline = securities.values.compactMap { $0.manager.deadline }.min()
    }

    private mutating func perform(_ effect: SecurityManager.Effect, _ handle: UInt16, _ core: inout HostCore) {
        guard let security = securities[handle] else { return }
        let peer = security.connection.peer
        switch effect {
        // If there is no room for the frame, the pairing ends by its time-out.
        case .send(let payload): core.answer(.securityManager, payload, on: handle)
        case .encrypt(let key, let diversifier, let random):
            securities[handle]?.giveKey()
            core.output.request(
                .leEnableEncryption(handle: handle, random: random, diversifier: diversifier, key: key),
                .encrypt(handle)
            )
        case .showPasskey(let passkey): core.output.emit(.security(handle: handle, .showPasskey(passkey)))
        case .askPasskey: core.output.emit(.security(handle: handle, .askPasskey))
        case .compareNumber(let number): core.output.emit(.security(handle: handle, .compareNumber(number)))
        case .securityRequested: takeRequest(handle, &core)
        case .paired(let bond):
            backoffs.keep(PairingBackoff(), of: peer)
            let kept = bond.flatMap { isNew($0) ? $0 : nil }
            if let kept { use(bonds + [kept], &core) }
            securities[handle]?.noteBond(kept != nil)
            core.output.emit(.security(handle: handle, .paired(kept)))
        case .failed(let failure):
            backoffs.keep(security.manager.backoff, of: peer)
            core.output.emit(.security(handle: handle, .pairingFailed(failure)))
        }
    }

    /// Returns false for a bond with the identity of another bond, and for one beyond the maximum.
    private func isNew(_ bond: Bond) -> Bool {
        let isKnown = bonds.contains {
            $0.identityAddress == bond.identityAddress && $0.localAddress == bond.localAddress
        }
        return !isKnown && bonds.count < LowEnergyHost.maximumBonds
    }
}

/// Back-offs of devices that failed to pair, in a bounded table that outlives their connections: a new connection does
/// not shorten the back-off (Core 6.0, Vol 3, Part H, 2.3.6).
struct PairingBackoffs: Sendable {
    /// Maximum number of devices; a full table discards the back-off that ends first.
    static let capacity = 64

    private var waits: [DeviceAddress: PairingBackoff] = [:]

    subscript(device: DeviceAddress) -> PairingBackoff { waits[device] ?? PairingBackoff() }

    var count: Int { waits.count }

    /// Stores the back-off of a device, or removes the entry if it has none.
    mutating func keep(_ backoff: PairingBackoff, of device: DeviceAddress) {
        guard let end = backoff.end else {
            waits[device] = nil
            return
        }
        if waits[device] == nil, waits.count >= Self.capacity {
            let first = waits.min { ($0.value.end ?? end) < ($1.value.end ?? end) }
            if let first { waits[first.key] = nil }
        }
        waits[device] = backoff
    }
}
