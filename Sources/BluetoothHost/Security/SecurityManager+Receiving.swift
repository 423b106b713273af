// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Cryptography

extension SecurityManager {
    /// Takes a frame of the Security Manager's channel.
    public mutating func receive(_ payload: Span<UInt8>, now: Duration) {
        guard state != .timedOut else {
            ignored &+= 1
            return
        }
        let pdu: SecurityManagerPDU
        do throws(DecodingError) {
            pdu = try SecurityManagerPDU(payload)
        } catch {
            receiveMalformed(payload, now: now)
            return
        }
        switch pdu {
        case .other: ignored &+= 1
        // It is never answered, so two devices cannot answer each other for ever.
        case .pairingFailed(let reason):
            if isPairing { end(.refusedByPeer(reason), now: now) } else { ignored &+= 1 }
        case .securityRequest(let authentication) where role == .central:
            // A pairing is what it asks for.
            if isPairing { ignored &+= 1 } else { emit(.securityRequested(authentication)) }
        case .pairingRequest(let request) where role == .peripheral && !isPairing: answer(request, now: now)
        // The role is the wrong one.
        case .securityRequest where !isPairing,
            .pairingRequest where !isPairing:
            send(.pairingFailed(.commandNotSupported))
        default:
            guard isPairing else {
                ignored &+= 1
                return
            }
            step(now: now) { manager throws(PairingFailure) in try manager.take(pdu) }
        }
    }

    /// A frame that cannot be read ends a pairing, and a Pairing Request is refused; no other is answered.
    private mutating func receiveMalformed(_ payload: Span<UInt8>, now: Duration) {
        if isPairing {
            fail(.invalidParameters, now: now)
        } else if role == .peripheral, !payload.isEmpty, payload[0] == 0x01 {
            send(.pairingFailed(.invalidParameters))
        } else {
            ignored &+= 1
        }
    }

    private mutating func answer(_ request: PairingFeatures, now: Duration) {
        guard policy.acceptsRequests, bond == nil else {
            send(.pairingFailed(.pairingNotSupported))
            return
        }
        guard !backoff.isWaiting(at: now) else {
            send(.pairingFailed(.repeatedAttempts))
            return
        }
        let response = policy.response(to: request)
        attempt = PairingAttempt(request: request, response: response)
        state = .response
        step(now: now) { manager throws(PairingFailure) in
            try manager.policy.check(request, response, peer: request)
            manager.send(.pairingResponse(response))
            try manager.chooseModel()
        }
    }

    /// Takes a PDU of the pairing under way; one that is not due ends it.
    private mutating func take(_ pdu: SecurityManagerPDU) throws(PairingFailure) {
        switch (pdu, state) {
        case (.pairingResponse(let response), .response):
            guard let request = attempt?.request else { throw .unspecifiedReason }
            attempt?.response = response
            try policy.check(request, response, peer: response)
            try chooseModel()
        case (.pairingPublicKey(let x, let y), .publicKey): try takePublicKey(UInt256(bytes: x), UInt256(bytes: y))
        case (.pairingConfirm(let value), .confirm):
            if isSecure { try takeSecureConfirm(value) } else { try takeLegacyConfirm(value) }
        case (.pairingRandom(let value), .random):
            if isSecure { try takeSecureRandom(value) } else { try takeLegacyRandom(value) }
        case (.pairingDHKeyCheck(let value), .check): try takeCheck(value)
        case (.pairingKeypressNotification, _) where attempt?.model?.hasPasskey == true: try tolerate()
        case (_, .keys): try takeKey(pdu)
        default: throw .unspecifiedReason
        }
    }

    /// Takes a PDU without a consequence; too many of them end the pairing.
    mutating func tolerate() throws(PairingFailure) {
        let count = (attempt?.tolerated ?? 0) &+ 1
        guard count <= Self.mostTolerated else { throw .unspecifiedReason }
        attempt?.tolerated = count
    }

    var isSecure: Bool { attempt?.both(.secureConnections) == true }

    /// Begins the pairing that follows from both devices' features.
    private mutating func chooseModel() throws(PairingFailure) {
        guard isSecure else {
            try askPasskey()
            return
        }
        let key = try newPrivateKey()
        attempt?.privateKey = key
        state = .publicKey
        if role == .central { sendPublicKey() }
    }

    /// Shows a passkey or asks for it, where the model has one; begins the confirmation where it is known, or has none.
    mutating func askPasskey() throws(PairingFailure) {
        guard let model = attempt?.model else { throw .unspecifiedReason }
        state = .confirm
        if model.showsPasskey(role) {
            let passkey = UInt32.random(in: 0..<SecurityToolbox.numberLimit, using: &random)
            attempt?.passkey = passkey
            emit(.showPasskey(passkey))
        } else if model.hasPasskey {
            attempt?.isAskingPasskey = true
            emit(.askPasskey)
            return
        }
        try begin()
    }

    /// Begins the confirmation, with the passkey where there is one.
    mutating func begin() throws(PairingFailure) {
        if isSecure { try beginSecureConfirmation() } else { try beginLegacyConfirmation() }
    }

    mutating func newNumber() -> UInt128 { UInt128.random(in: 0...UInt128.max, using: &random) }

    /// Calls a function of the toolbox; it fails only where there is no memory.
    func compute<Result>(_ body: () throws(CryptographyError) -> Result) throws(PairingFailure) -> Result {
        do throws(CryptographyError) { return try body() } catch { throw .unspecifiedReason }
    }

    var initiator: DeviceAddress { role == .central ? local : peer }
    var responder: DeviceAddress { role == .central ? peer : local }
}

/// Encryption with the new key, and the distribution of keys behind it (Core 6.0, Vol 3, Part H, 2.4).
extension SecurityManager {
    mutating func beginEncryption() throws(PairingFailure) {
        // A key of zeros is what an attacker hopes for.
        guard let key = attempt?.encryptionKey, key != 0 else { throw .unspecifiedReason }
        state = .encryption
        if role == .central { emit(.encrypt(key: key, diversifier: 0, random: 0)) }
    }

    /// Begins the distribution of keys: the responder's come first.
    mutating func beginKeys() throws(PairingFailure) {
        guard let attempt, let response = attempt.response else { throw .unspecifiedReason }
        state = .keys
        let isInitiator = role == .central
        let awaited = parts(of: isInitiator ? response.responderKeys : response.initiatorKeys)
        self.attempt?.awaited = awaited
        if !isInitiator { try sendKeys(response.responderKeys) }
        try finishKeys()
    }

    /// The parts of which keys consist; LE Secure Connections distributes no long term key.
    private func parts(of keys: PairingFeatures.Keys) -> [PairingAttempt.KeyPart] {
        var parts: [PairingAttempt.KeyPart] = []
        if keys.contains(.encryption), !isSecure { parts += [.longTermKey, .identification] }
        if keys.contains(.identity) { parts += [.resolvingKey, .identityAddress] }
        return parts
    }

    /// Distributes the host's keys; of what it does not have nothing was promised.
    private mutating func sendKeys(_ keys: PairingFeatures.Keys) throws(PairingFailure) {
        if keys.contains(.encryption), !isSecure {
            let value = newNumber()
            let diversifier = UInt16.random(in: 0...UInt16.max, using: &random)
            let number = UInt64.random(in: 0...UInt64.max, using: &random)
            let key = longTermKey(value, diversifier, number, role: .peripheral)
            guard let key else { throw .unspecifiedReason }
            attempt?.ownKey = key
            send(.encryptionInformation(value))
            send(.centralIdentification(diversifier: diversifier, random: number))
        }
        if keys.contains(.identity), let key = policy.identityResolvingKey {
            send(.identityInformation(key))
            send(.identityAddressInformation(policy.identity))
        }
    }

    /// Takes a part of a key, in the order of the specification.
    mutating func takeKey(_ pdu: SecurityManagerPDU) throws(PairingFailure) {
        switch (pdu, attempt?.awaited.first) {
        case (.encryptionInformation(let key), .longTermKey): attempt?.peerLongTermKey = key
        case (.centralIdentification(let diversifier, let random), .identification):
            let key = longTermKey(attempt?.peerLongTermKey ?? 0, diversifier, random, role: .central)
            guard let key else { throw .invalidParameters }
            attempt?.peerLegacyKey = key
        case (.identityInformation(let key), .resolvingKey): attempt?.peerResolvingKey = key
        case (.identityAddressInformation(let identity), .identityAddress):
            guard identity.isIdentity, identity != policy.identity, identity != local else { throw .invalidParameters }
            // At an address that is an identity no other one can be proved: it stays the peer's, and the resolving key, which is
            // the other's, is dropped, as the kernel does.
            if peer.isIdentity, peer != identity {
                attempt?.peerResolvingKey = 0
            } else {
                attempt?.peerIdentity = identity
            }
        // A key to sign with is of no use here, was not asked for, and is forgotten.
        case (.signingInformation, _):
            try tolerate()
            return
        default: throw .unspecifiedReason
        }
        attempt?.awaited.removeFirst()
        try finishKeys()
    }

    /// Ends the pairing once the peer has sent all of its keys; the initiator's follow then.
    private mutating func finishKeys() throws(PairingFailure) {
        guard let attempt, attempt.awaited.isEmpty, let response = attempt.response else { return }
        if role == .central { try sendKeys(response.initiatorKeys) }
        let bond = newBond()
        self.attempt = nil
        self.bond = bond
        state = .idle
        emit(.paired(bond))
    }

    /// A key of LE legacy pairing; nil for one of zeros.
    private func longTermKey(
        _ value: UInt128,
        _ diversifier: UInt16,
        _ random: UInt64,
        role: LongTermKey.Role
    ) -> LongTermKey? {
        LongTermKey(
            value.littleEndianBytes,
            encryptedDiversifier: diversifier,
            random: random,
            isAuthenticated: attempt?.model?.hasNumber == true,
            isSecureConnections: false,
            role: role
        )
    }

    /// What is kept of the pairing; nil where one of the devices wants no bond, or there is no identity to know the peer
    /// by.
    private func newBond() -> Bond? {
        guard let attempt, attempt.both(.bonding) else { return nil }
        var keys = [attempt.ownKey, attempt.peerLegacyKey].compactMap { $0 }
        if isSecure, let value = attempt.encryptionKey {
            let key = LongTermKey(
                value.littleEndianBytes,
                isAuthenticated: attempt.model?.hasNumber == true,
                isSecureConnections: true,
                role: role == .central ? .central : .peripheral
            )
            keys = [key].compactMap { $0 }
        }
        let resolvingKey = attempt.peerResolvingKey
        return Bond(
            identityAddress: attempt.peerIdentity ?? peer,
            localAddress: policy.identity.address,
            longTermKeys: keys,
            identityResolvingKey: resolvingKey == 0 ? nil : resolvingKey.littleEndianBytes
        )
    }
}

extension UInt128 {
    /// The 16 bytes of the number, the least significant first.
    var littleEndianBytes: [UInt8] { bytes.reversed() }

    /// The number that 16 bytes are, the least significant first.
    init(littleEndianBytes bytes: [UInt8]) {
        self.init(bytes: bytes.reversed())
    }
}
