// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Cryptography

/// LE Secure Connections (Core 6.0, Vol 3, Part H, 2.3.5.6).
extension SecurityManager {
    /// The X coordinate of the debug key, whose private key everybody knows (Core 6.0, Vol 3, Part H, 2.3.5.6.1).
    static let debugKey = UInt256(
        high: 0x20B0_03D2_F297_BE2C_5E2C_83A7_E9F9_A5B9,
        low: 0xEFF4_9111_ACF4_FDDB_CC03_0148_0E35_9DE6
    )

    mutating func newPrivateKey() throws(PairingFailure) -> P256.PrivateKey {
        // A number outside the curve's order comes once in 2^32 times.
        for _ in 0..<4 {
            let secret = UInt256(high: newNumber(), low: newNumber())
            if let key = try? P256.PrivateKey(secret, blinding: newNumber()) { return key }
        }
        throw .unspecifiedReason
    }

    mutating func sendPublicKey() {
        guard let key = attempt?.privateKey?.publicKey else { return }
        send(.pairingPublicKey(x: key.x.bytes, y: key.y.bytes))
    }

    /// Takes the peer's public key, and computes the shared secret.
    mutating func takePublicKey(_ x: UInt256, _ y: UInt256) throws(PairingFailure) {
        guard let privateKey = attempt?.privateKey else { throw .unspecifiedReason }
        // Who sends our own key back has no key.
        guard x != privateKey.publicKey.x, x != Self.debugKey else { throw .invalidParameters }
        guard let peerKey = try? P256.PublicKey(x: x, y: y) else { throw .invalidParameters }
        let blinding = newNumber()
        let secret = try compute { () throws(CryptographyError) in
            try privateKey.shared(with: peerKey, blinding: blinding)
        }
        attempt?.peerKey = peerKey
        attempt?.secret = secret
        if role == .peripheral { sendPublicKey() }
        try askPasskey()
    }

    /// Begins the confirmation, or its next round.
    mutating func beginSecureConfirmation() throws(PairingFailure) {
        let nonce = newNumber()
        attempt?.nonce = nonce
        state = .confirm
        guard attempt?.model?.hasPasskey == true else {
            // Only the responder confirms.
            if role == .peripheral {
                send(.pairingConfirm(try ownConfirm()))
                state = .random
            }
            return
        }
        if role == .central { send(.pairingConfirm(try ownConfirm())) }
        if let held = attempt?.heldConfirm {
            attempt?.heldConfirm = nil
            try takeSecureConfirm(held)
        }
    }

    /// The confirm value of the host's nonce.
    private func ownConfirm() throws(PairingFailure) -> UInt128 {
        guard let attempt, let own = attempt.privateKey?.publicKey, let peerKey = attempt.peerKey else {
            throw .unspecifiedReason
        }
        return try compute { () throws(CryptographyError) in
            try SecurityToolbox.f4(own.x, peerKey.x, attempt.nonce, attempt.confirmBit)
        }
    }

    mutating func takeSecureConfirm(_ value: UInt128) throws(PairingFailure) {
        guard attempt?.isAskingPasskey != true else {
            // The central was faster than the user: one value may wait, once.
            guard role == .peripheral, attempt?.heldConfirm == nil else { throw .unspecifiedReason }
            attempt?.heldConfirm = value
            return
        }
        attempt?.peerConfirm = value
        state = .random
        if role == .central {
            guard value != (try ownConfirm()) else { throw .confirmValueFailed }
            send(.pairingRandom(attempt?.nonce ?? 0))
        } else {
            send(.pairingConfirm(try ownConfirm()))
        }
    }

    /// Takes the peer's nonce, and checks it against what was confirmed.
    mutating func takeSecureRandom(_ value: UInt128) throws(PairingFailure) {
        guard let attempt, let own = attempt.privateKey?.publicKey, let peerKey = attempt.peerKey,
            value != attempt.nonce
        else { throw .confirmValueFailed }
        self.attempt?.peerNonce = value
        // Without a passkey only the responder has confirmed its nonce.
        if attempt.model?.hasPasskey == true || role == .central {
            let confirm = try compute { () throws(CryptographyError) in
                try SecurityToolbox.f4(peerKey.x, own.x, value, attempt.confirmBit)
            }
            guard confirm == attempt.peerConfirm else { throw .confirmValueFailed }
        }
        if role == .peripheral { send(.pairingRandom(attempt.nonce)) }
        self.attempt?.peerConfirm = nil
        if attempt.model?.hasPasskey == true, attempt.round &+ 1 < PairingAttempt.rounds {
            self.attempt?.round = attempt.round &+ 1
            try beginSecureConfirmation()
        } else {
            try makeKey()
        }
    }

    /// Computes the keys, and has the numbers compared or goes on.
    private mutating func makeKey() throws(PairingFailure) {
        guard let attempt, let secret = attempt.secret, let own = attempt.privateKey?.publicKey,
            let peerKey = attempt.peerKey
        else { throw .unspecifiedReason }
        let isInitiator = role == .central
        let nonces = isInitiator ? (attempt.nonce, attempt.peerNonce) : (attempt.peerNonce, attempt.nonce)
        let (macKey, longTermKey) = try compute { () throws(CryptographyError) in
            try SecurityToolbox.f5(
                secret,
                initiatorNonce: nonces.0,
                responderNonce: nonces.1,
                initiator: initiator,
                responder: responder
            )
        }
        self.attempt?.macKey = macKey
        self.attempt?.encryptionKey = longTermKey
        state = .check
        guard attempt.model == .numericComparison else {
            if isInitiator { try sendCheck() }
            return
        }
        let number = try compute { () throws(CryptographyError) in
            try SecurityToolbox.g2(
                initiator: isInitiator ? own.x : peerKey.x,
                responder: isInitiator ? peerKey.x : own.x,
                initiatorNonce: nonces.0,
                responderNonce: nonces.1
            )
        }
        self.attempt?.isComparing = true
        emit(.compareNumber(number % SecurityToolbox.numberLimit))
    }

    /// Goes on after the user has said that the numbers are the same.
    mutating func continueAfterComparison() throws(PairingFailure) {
        if role == .central {
            try sendCheck()
        } else if let held = attempt?.heldCheck {
            attempt?.heldCheck = nil
            try takeCheck(held)
        }
    }

    private mutating func sendCheck() throws(PairingFailure) {
        guard let attempt, let response = attempt.response else { throw .unspecifiedReason }
        let features = role == .central ? attempt.request : response
        let value = try compute { () throws(CryptographyError) in
            try SecurityToolbox.f6(
                attempt.macKey,
                attempt.nonce,
                attempt.peerNonce,
                attempt.checkRandom,
                features: features,
                local,
                peer
            )
        }
        send(.pairingDHKeyCheck(value))
    }

    /// Takes the peer's check value: with it both have the same secret, nonces, addresses and features.
    mutating func takeCheck(_ value: UInt128) throws(PairingFailure) {
        guard let attempt, let response = attempt.response else { throw .unspecifiedReason }
        guard !attempt.isComparing else {
            // The user at the central was faster: one value may wait, once.
            guard role == .peripheral, attempt.heldCheck == nil else { throw .unspecifiedReason }
            self.attempt?.heldCheck = value
            return
        }
        let features = role == .central ? response : attempt.request
        let expected = try compute { () throws(CryptographyError) in
            try SecurityToolbox.f6(
                attempt.macKey,
                attempt.peerNonce,
                attempt.nonce,
                attempt.checkRandom,
                features: features,
                peer,
                local
            )
        }
        guard value == expected else { throw .dhKeyCheckFailed }
        if role == .peripheral { try sendCheck() }
        try beginEncryption()
    }
}

/// LE legacy pairing (Core 6.0, Vol 3, Part H, 2.3.5.5).
extension SecurityManager {
    /// Begins the confirmation; the passkey, or 0, is the temporary key.
    mutating func beginLegacyConfirmation() throws(PairingFailure) {
        let nonce = newNumber()
        attempt?.nonce = nonce
        if role == .central { send(.pairingConfirm(try legacyConfirm(nonce))) }
        if let held = attempt?.heldConfirm {
            attempt?.heldConfirm = nil
            try takeLegacyConfirm(held)
        }
    }

    private func legacyConfirm(_ number: UInt128) throws(PairingFailure) -> UInt128 {
        guard let attempt, let response = attempt.response else { throw .unspecifiedReason }
        return try compute { () throws(CryptographyError) in
            try SecurityToolbox.c1(
                attempt.checkRandom,
                number,
                request: .pairingRequest(attempt.request),
                response: .pairingResponse(response),
                initiator: initiator,
                responder: responder
            )
        }
    }

    mutating func takeLegacyConfirm(_ value: UInt128) throws(PairingFailure) {
        guard attempt?.isAskingPasskey != true else {
            // The central was faster than the user: one value may wait, once.
            guard role == .peripheral, attempt?.heldConfirm == nil else { throw .unspecifiedReason }
            attempt?.heldConfirm = value
            return
        }
        let own = try legacyConfirm(attempt?.nonce ?? 0)
        // Who sends our own value back need not know the passkey.
        guard value != own else { throw .confirmValueFailed }
        attempt?.peerConfirm = value
        state = .random
        send(role == .central ? .pairingRandom(attempt?.nonce ?? 0) : .pairingConfirm(own))
    }

    /// Takes the peer's random number, checks it against what was confirmed, and computes the short term key.
    mutating func takeLegacyRandom(_ value: UInt128) throws(PairingFailure) {
        guard let attempt, value != attempt.nonce, try legacyConfirm(value) == attempt.peerConfirm else {
            throw .confirmValueFailed
        }
        if role == .peripheral { send(.pairingRandom(attempt.nonce)) }
        let isInitiator = role == .central
        let key = try compute { () throws(CryptographyError) in
            try SecurityToolbox.s1(
                attempt.checkRandom,
                responder: isInitiator ? value : attempt.nonce,
                initiator: isInitiator ? attempt.nonce : value
            )
        }
        self.attempt?.encryptionKey = key
        try beginEncryption()
    }
}
