// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Encryption and pairing, where no kernel does it: a Security Manager for each connection, and what outlives them.
struct HostSecurity: Sendable {
    /// The policy for a later pairing; the identity is filled in.
    var policy = PairingPolicy(identity: DeviceAddress(BluetoothAddress(rawValue: 0), .public))
    /// The policy for a central that asks for a pairing; nil for `policy`.
    var acceptance: PairingPolicy?
    private(set) var bonds: [Bond] = []
    /// Resolves the addresses of the bonds' devices.
    private(set) var resolver: AddressResolver?
    private(set) var backoffs = PairingBackoffs()
    /// The time at which the first pairing under way is given up.
    private(set) var deadline: Duration?
    private let random: PairingRandomness
    private var securities: [UInt16: LinkSecurity] = [:]
    /// The connections whose Security Request is refused unless the caller pairs when it hears of what came before.
    private var requests: Set<UInt16> = []

    init(_ random: PairingRandomness) {
        self.random = random
    }

    var count: Int { securities.count }

    subscript(handle: UInt16) -> LinkSecurity? { securities[handle] }

    /// Uses these bonds from now on; those of other controllers are left out.
    mutating func use(_ new: [Bond], _ core: inout HostCore) {
        guard bonds != new else { return }
        bonds = new
        resolver = AddressResolver(bonds.filter { $0.localAddress == core.controller.address?.address })
        core.scanner.use(resolver)
    }

    /// The identity of who has this address.
    mutating func identity(of peer: DeviceAddress) -> DeviceAddress { resolver?.identity(of: peer) ?? peer }

    /// Gives a connection its Security Manager, with the bond and the wait that the peer has.
    mutating func add(_ connection: LowEnergyHost.Connection, _ controller: HostController) {
        guard let own = controller.address else { return }
        policy.identity = own
        // By its identity or by an address that the bond's key resolves.
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

    /// Forgets a connection's Security Manager; a pairing that the end of the link ends has failed.
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

    /// Lets a connection's Security Manager take something, and does what it wants then.
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

    /// Has a peripheral's Security Manager that does not pair judge the next request by what is accepted at this moment.
    private mutating func renewPolicy(of handle: UInt16) {
        guard let security = securities[handle], security.connection.role == .peripheral, !security.isAccepting else {
            return
        }
        let isBusy = securities.values.contains { $0.isAccepting }
        securities[handle]?.manager.policy = isBusy ? policy : acceptance ?? policy
        securities[handle]?.manager.policy.identity = security.manager.local
    }

    /// A peripheral wants a secure link: with a bond the link is encrypted, and without one nobody pairs by himself
    /// (Core 6.0, Vol 3, Part H, 2.4.6).
    private mutating func takeRequest(_ handle: UInt16, _ core: inout HostCore) {
        guard let security = securities[handle] else { return }
        guard security.manager.bond == nil else {
            if security.inForce.level == .none { _ = encrypt(handle, &core) }
            return
        }
        // It may have overtaken the event that its connection begins with: who connects in order to pair does so first.
        requests.insert(handle)
    }

    /// Refuses the Security Requests on connections that do not pair.
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

    /// Takes the controller's answer to an instruction with a link's key.
    mutating func take(_ outcome: HCICommandQueue.Outcome, of handle: UInt16, _ core: inout HostCore, now: Duration) {
        guard let isOn = securities[handle]?.outcome(after: outcome) else { return }
        changeEncryption(of: handle, isOn: isOn, &core, now: now)
    }

    /// Gives the controller the key that a central asks for, or says that there is none.
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
        // Without room for it the pairing has no end but its own time.
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

    /// False for a bond with an identity that another device has proved already, and for one too many.
    private func isNew(_ bond: Bond) -> Bool {
        let isKnown = bonds.contains {
            $0.identityAddress == bond.identityAddress && $0.localAddress == bond.localAddress
        }
        return !isKnown && bonds.count < LowEnergyHost.maximumBonds
    }
}

/// The waiting times of devices that failed to pair, in a bounded table that outlives their connections: a new connection
/// does not shorten the wait (Core 6.0, Vol 3, Part H, 2.3.6).
struct PairingBackoffs: Sendable {
    /// The most devices; in a full table the wait that ends first is forgotten.
    static let capacity = 64

    private var waits: [DeviceAddress: PairingBackoff] = [:]

    subscript(device: DeviceAddress) -> PairingBackoff { waits[device] ?? PairingBackoff() }

    var count: Int { waits.count }

    /// Keeps the wait of a device, or forgets it where there is none.
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
