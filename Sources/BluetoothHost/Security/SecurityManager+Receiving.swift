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

    /// Answers a Pairing Request.
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

    /// True in a pairing of LE Secure Connections.
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

    /// A random number of 128 bits.
    mutating func newNumber() -> UInt128 { UInt128.random(in: 0...UInt128.max, using: &random) }

    /// Calls a function of the toolbox; it fails only where there is no memory.
    func compute<Result>(_ body: () throws(CryptographyError) -> Result) throws(PairingFailure) -> Result {
        do throws(CryptographyError) { return try body() } catch { throw .unspecifiedReason }
    }

    /// The devices' addresses by their roles in the pairing.
    var initiator: DeviceAddress { role == .central ? local : peer }
    var responder: DeviceAddress { role == .central ? peer : local }
}
