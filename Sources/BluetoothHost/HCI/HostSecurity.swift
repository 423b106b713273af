// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Encryption and pairing without the kernel.
///
/// Each connection has its own Security Manager; the bonds, policies and back-offs outlive the connections.
struct HostSecurity: Sendable {
    /// Policy for later pairings; the host fills in the identity.
    var policy = PairingPolicy(identity: DeviceAddress(BluetoothAddress(rawValue: 0), .public))
    /// Policy for pairings that a central requests; nil to use `policy`.
    var acceptance: PairingPolicy?
    private(set) var bonds: [Bond] = []
    /// Resolver for the private addresses of bonded devices; nil if no bond has a resolving key.
    private(set) var resolver: AddressResolver?
    private(set) var backoffs = PairingBackoffs()
    /// Earliest time-out of the pairings in progress; nil if no pairing is in progress.
    private(set) var deadline: Duration?
    private let random: PairingRandomness
    private var securities: [UInt16: LinkSecurity] = [:]
    /// Connections on which the peripheral has sent a Security Request.
    ///
    /// The request is rejected unless the caller starts a pairing while it processes the queued events.
    private var requests: Set<UInt16> = []

    init(_ random: PairingRandomness) {
        self.random = random
    }

    var count: Int { securities.count }

    subscript(handle: UInt16) -> LinkSecurity? { securities[handle] }

    /// Replaces the bonds; bonds of other controllers are ignored.
    mutating func use(_ new: [Bond], _ core: inout HostCore) {
        guard bonds != new else { return }
        bonds = new
        resolver = AddressResolver(bonds.filter { $0.localAddress == core.controller.address?.address })
        core.scanner.use(resolver)
    }

    /// Returns the identity of the peer with this address.
    mutating func identity(of peer: DeviceAddress) -> DeviceAddress { resolver?.identity(of: peer) ?? peer }

    /// Creates the Security Manager of a new connection, with the peer's bond and back-off.
    mutating func add(_ connection: LowEnergyHost.Connection, _ controller: HostController) {
        guard let own = controller.address else { return }
        policy.identity = own
        // The peer is recognised by its identity address, or by an address that a bond's key resolves.
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

    /// Removes a connection's Security Manager; a pairing that was in progress counts as failed.
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

    /// Calls `body` with a connection's Security Manager, and carries out the resulting effects.
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

    /// Applies the current policy for centrals' requests to a connection in the peripheral role, unless it is pairing.
    private mutating func renewPolicy(of handle: UInt16) {
        guard let security = securities[handle], security.connection.role == .peripheral, !security.isAccepting else {
            return
        }
        let isBusy = securities.values.contains { $0.isAccepting }
        securities[handle]?.manager.policy = isBusy ? policy : acceptance ?? policy
        securities[handle]?.manager.policy.identity = security.manager.local
    }

    /// Processes a peripheral's Security Request: encrypts the link if there is a bond; otherwise records the request,
    /// but does not pair automatically (Core 6.0, Vol 3, Part H, 2.4.6).
    private mutating func takeRequest(_ handle: UInt16, _ core: inout HostCore) {
        guard let security = securities[handle] else { return }
        guard security.manager.bond == nil else {
            if security.inForce.level == .none { _ = encrypt(handle, &core) }
            return
        }
        // The caller may not yet have processed the connection event, in response to which it may start a pairing.
        requests.insert(handle)
    }

    /// Rejects the recorded Security Requests of connections that are not pairing.
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

    /// Processes the controller's answer to the command that contains a link's key.
    mutating func take(_ outcome: HCICommandQueue.Outcome, of handle: UInt16, _ core: inout HostCore, now: Duration) {
        guard let isOn = securities[handle]?.outcome(after: outcome) else { return }
        changeEncryption(of: handle, isOn: isOn, &core, now: now)
    }

    /// Sends the controller the key that a central requests, or a negative reply if there is no such key.
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
        // If there is no room for the frame, the pairing times out.
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

    /// Returns false if another bond has the same identity, or if the maximum number of bonds is exceeded.
    private func isNew(_ bond: Bond) -> Bool {
        let isKnown = bonds.contains {
            $0.identityAddress == bond.identityAddress && $0.localAddress == bond.localAddress
        }
        return !isKnown && bonds.count < LowEnergyHost.maximumBonds
    }
}

/// Bounded table with the back-offs of devices that failed to pair.
///
/// They outlive the connections, so that a device cannot shorten its back-off by reconnecting (Core 6.0, Vol 3, Part H,
/// 2.3.6).
struct PairingBackoffs: Sendable {
    /// Maximum number of devices; if the table is full, the back-off that ends first is discarded.
    static let capacity = 64

    private var waits: [DeviceAddress: PairingBackoff] = [:]

    subscript(device: DeviceAddress) -> PairingBackoff { waits[device] ?? PairingBackoff() }

    var count: Int { waits.count }

    /// Stores a device's back-off, or removes the device from the table if it has no back-off.
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
