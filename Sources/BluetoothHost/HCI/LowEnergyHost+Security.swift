// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Encryption and pairing, where no kernel does it: a Security Manager for each connection.
extension LowEnergyHost {
    /// News of a connection's encryption or pairing.
    public enum SecurityEvent: Hashable, Sendable {
        /// The link has this security now, whether that is more or less than before, or could not have more.
        case changed(GATTLinkSecurity)
        /// The user is to enter this passkey, six digits, at the peer.
        case showPasskey(UInt32)
        /// The user is to say which passkey the peer shows: `enter`.
        case askPasskey
        /// The user is to say whether the peer shows this number, six digits: `compare`.
        case compareNumber(UInt32)
        /// The pairing has succeeded; nil where no bond comes of it.
        case paired(Bond?)
        case pairingFailed(SecurityManager.Failure)
    }

    /// The bit of LE Encryption in the LE features (Core 6.0, Vol 6, Part B, 4.6).
    private static let encryptionFeature: UInt64 = 1 &<< 0

    /// The most bonds of which pairings add another.
    public static let maximumBonds = 128

    /// True for a controller that encrypts links; false before `ready`.
    ///
    /// Some have the command, and forget to say that they have the feature.
    public var encrypts: Bool {
        leFeatures & Self.encryptionFeature != 0 || supportedCommands?.contains(.leEnableEncryption) == true
    }

    /// The security of a connection's link.
    public func security(of handle: UInt16) -> GATTLinkSecurity { securities[handle]?.inForce ?? GATTLinkSecurity() }

    /// Encrypts a link as its central with the key of the bond, or has it encrypted anew; `SecurityEvent.changed` follows.
    ///
    /// False, and nothing done, without such a bond, during a pairing, or while the link is being encrypted.
    public mutating func encrypt(_ handle: UInt16, now: Duration) -> Bool {
        guard encrypts, let link = links[handle], link.disconnectDeadline == nil, securities[handle]?.pending == nil,
            securities[handle]?.manager.encrypt() == true
        else { return false }
        carryOut(link.connection, now: now)
        return true
    }

    /// True from the controller's instruction to encrypt a link to its outcome, whoever has asked for it.
    public func isEncrypting(_ handle: UInt16) -> Bool { securities[handle]?.pending != nil }

    /// Begins a pairing: the central with a Pairing Request, the peripheral with a Security Request.
    ///
    /// `SecurityEvent.paired` or `pairingFailed` follows, or the end of the connection.
    public mutating func pair(_ handle: UInt16, now: Duration) throws(SecurityManager.Refusal) {
        guard encrypts, let link = links[handle], link.disconnectDeadline == nil else { throw .ended }
        try securities[handle]?.manager.pair(now: now)
        carryOut(link.connection, now: now)
    }

    /// The passkey that the user has entered, 0 to 999999; nil for none.
    public mutating func enter(passkey: UInt32?, of handle: UInt16, now: Duration) {
        instruct(handle, now: now) { $0.enter(passkey: passkey, now: now) }
    }

    /// What the user says of the numbers of both devices.
    public mutating func compare(isSame: Bool, of handle: UInt16, now: Duration) {
        instruct(handle, now: now) { $0.compare(isSame: isSame, now: now) }
    }

    /// Ends a pairing that is under way.
    public mutating func cancelPairing(of handle: UInt16, now: Duration) {
        instruct(handle, now: now) { $0.cancel(now: now) }
    }

    private mutating func instruct(_ handle: UInt16, now: Duration, _ body: (inout SecurityManager) -> Void) {
        guard let connection = links[handle]?.connection, var security = securities[handle] else { return }
        body(&security.manager)
        securities[handle] = security
        carryOut(connection, now: now)
    }

    // MARK: The life of a connection

    /// Gives a connection its Security Manager, with the bond and the wait that the peer has.
    mutating func guardConnection(_ connection: Connection) {
        guard let ownAddress else { return }
        securities[connection.handle] = HostSecurity(
            SecurityManager(
                role: connection.role,
                local: ownAddress,
                peer: connection.peer,
                policy: policy(pairingPolicy),
                bond: bond(with: connection.peer),
                backoff: backoffs[connection.peer],
                random: random
            )
        )
    }

    /// The policy, with this host's identity in it.
    private func policy(_ policy: PairingPolicy) -> PairingPolicy {
        var policy = policy
        if let ownAddress { policy.identity = ownAddress }
        return policy
    }

    /// Has a peripheral's Security Manager that does not pair judge the next request by what is accepted at this moment.
    mutating func renewPolicy(of connection: Connection) {
        let handle = connection.handle
        guard connection.role == .peripheral, securities[handle]?.manager.isPairing == false else { return }
        let isBusy = securities.values.contains { $0.manager.role == .peripheral && $0.manager.isPairing }
        let policy = policy(isBusy ? pairingPolicy : acceptance ?? pairingPolicy)
        securities[handle]?.manager.policy = policy
    }

    /// Ends the pairings that centrals have asked for.
    public mutating func cancelAcceptedPairings(now: Duration) {
        for connection in connections where connection.role == .peripheral {
            cancelPairing(of: connection.handle, now: now)
        }
    }

    var ownBonds: [Bond] { bonds.filter { $0.localAddress == ownAddress?.address } }

    /// The bond of this controller with a device, by its identity or by an address that the bond's key resolves.
    private mutating func bond(with peer: DeviceAddress) -> Bond? {
        let identity = resolver?.identity(of: peer) ?? peer
        return ownBonds.first { $0.identityAddress == identity }
    }

    /// Forgets a connection's Security Manager; a pairing that the end of the link ends has failed.
    mutating func endSecurity(of connection: Connection) {
        securityRequests.remove(connection.handle)
        guard let security = securities.removeValue(forKey: connection.handle), security.manager.isPairing else {
            return
        }
        noteDeadline()
        var backoff = security.manager.backoff
        backoff.fail(at: lastTalk)
        backoffs.keep(backoff, of: connection.peer)
    }

    /// Gives up pairings that take too long.
    mutating func expirePairings(now: Duration) {
        guard let pairingDeadline, pairingDeadline <= now else { return }
        for handle in securities.keys.sorted() {
            guard let connection = links[handle]?.connection else { continue }
            securities[handle]?.manager.handleDeadline(now: now)
            carryOut(connection, now: now)
        }
    }

    // MARK: The controller

    /// Takes the outcome of an encryption: that the link is encrypted with the key that was given, or is not.
    mutating func changeEncryption(of handle: UInt16, isOn: Bool, now: Duration) {
        guard let connection = links[handle]?.connection, var security = securities[handle] else { return }
        if security.pending != nil, !security.isAccepted, isInstructed(handle) {
            // The controller has yet to say whether it has taken the key.
            securities[handle]?.early = isOn
            return
        }
        let isBonded = security.inForce.isBonded
        let given = security.isAccepted ? security.pending : nil
        // A controller that encrypts without a key of ours protects nothing.
        security.inForce = isOn ? given ?? GATTLinkSecurity(isBonded: isBonded) : .init(isBonded: isBonded)
        if security.isAccepted { security.give(nil) }
        let isSecured = security.inForce.level > .none
        security.manager.encryptionChanged(isOn: isSecured, now: now)
        securities[handle] = security
        emit(.security(handle: handle, .changed(security.inForce)))
        carryOut(connection, now: now)
    }

    /// True while the controller has an instruction with a link's key, and has not answered it.
    private func isInstructed(_ handle: UInt16) -> Bool {
        if case .encrypt(handle)? = current { commands.outstandingOpcode != nil } else { false }
    }

    /// Takes the controller's answer to an instruction with a link's key.
    mutating func takeEncryption(_ outcome: HCICommandQueue.Outcome, of handle: UInt16, now: Duration) {
        guard let security = securities[handle], security.pending != nil else { return }
        securities[handle]?.isAccepted = true
        // Without success no Encryption Change follows.
        if case .failed = outcome {
            changeEncryption(of: handle, isOn: false, now: now)
        } else if let isOn = security.early {
            changeEncryption(of: handle, isOn: isOn, now: now)
        }
    }

    /// Gives the controller the key that a central asks for, or says that there is none.
    mutating func answer(_ event: LELongTermKeyRequest) {
        guard links[event.handle] != nil else { return }
        guard let security = securities[event.handle],
            let key = security.manager.longTermKey(diversifier: event.diversifier, random: event.random)
        else { return request(.leLongTermKeyRequestNegativeReply(handle: event.handle), .reply) }
        guard waiting.count < Self.commandCapacity else {
            counters.dropped &+= 1
            return
        }
        securities[event.handle]?.give(security.offered)
        request(.leLongTermKeyRequestReply(handle: event.handle, key: key), .encrypt(event.handle))
    }

    // MARK: What the Security Manager wants

    /// Does what a connection's Security Manager wants.
    mutating func carryOut(_ connection: Connection, now: Duration) {
        let handle = connection.handle
        while let effects = securities[handle]?.manager.takeEffects(), !effects.isEmpty {
            for effect in effects { perform(effect, connection, now: now) }
        }
        noteDeadline()
    }

    private mutating func noteDeadline() {
        pairingDeadline = securities.values.compactMap { $0.manager.deadline }.min()
    }

    private mutating func perform(_ effect: SecurityManager.Effect, _ connection: Connection, now: Duration) {
        let handle = connection.handle
        switch effect {
        // Without room for it the pairing has no end but its own time.
        case .send(let payload): answer(.securityManager, payload, connection)
        case .encrypt(let key, let diversifier, let random):
            let offered = securities[handle]?.offered
            securities[handle]?.give(offered)
            request(
                .leEnableEncryption(handle: handle, random: random, diversifier: diversifier, key: key),
                .encrypt(handle)
            )
        case .showPasskey(let passkey): emit(.security(handle: handle, .showPasskey(passkey)))
        case .askPasskey: emit(.security(handle: handle, .askPasskey))
        case .compareNumber(let number): emit(.security(handle: handle, .compareNumber(number)))
        case .securityRequested: takeSecurityRequest(connection, now: now)
        case .paired(let bond):
            backoffs.keep(PairingBackoff(), of: connection.peer)
            let kept = bond.flatMap { isNew($0) ? $0 : nil }
            if let kept { bonds.append(kept) }
            securities[handle]?.inForce.isBonded = kept != nil
            emit(.security(handle: handle, .paired(kept)))
        case .failed(let failure):
            if let backoff = securities[handle]?.manager.backoff { backoffs.keep(backoff, of: connection.peer) }
            emit(.security(handle: handle, .pairingFailed(failure)))
        }
    }

    /// False for a bond with an identity that another device has proved already, and for one too many.
    private func isNew(_ bond: Bond) -> Bool {
        let isKnown = bonds.contains {
            $0.identityAddress == bond.identityAddress && $0.localAddress == bond.localAddress
        }
        return !isKnown && bonds.count < Self.maximumBonds
    }

    /// A peripheral wants a secure link: with a bond the link is encrypted, and without one nobody pairs by himself
    /// (Core 6.0, Vol 3, Part H, 2.4.6).
    private mutating func takeSecurityRequest(_ connection: Connection, now: Duration) {
        guard let security = securities[connection.handle] else { return }
        guard security.manager.bond == nil else {
            if security.inForce.level == .none { _ = encrypt(connection.handle, now: now) }
            return
        }
        // It may have overtaken the event that its connection begins with: who connects in order to pair does so first.
        securityRequests.insert(connection.handle)
    }

    /// Refuses the Security Requests on connections that do not pair.
    mutating func refuseSecurityRequests() {
        guard !securityRequests.isEmpty else { return }
        for handle in securityRequests.sorted() {
            guard let connection = links[handle]?.connection, securities[handle]?.manager.isPairing == false else {
                continue
            }
            answer(.securityManager, SecurityManagerPDU.pairingFailed(.pairingNotSupported).encoded, connection)
        }
        securityRequests = []
    }
}
