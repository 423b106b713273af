// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Cryptography

/// Keys and nonces of a pairing with LE Secure Connections (Core 6.0, Vol 3, Part H, 2.3.5.6).
struct SecurePairing: Sendable {
    /// X coordinate of the debug public key, whose private key is published (Core 6.0, Vol 3, Part H, 2.3.5.6.1).
    private static let debugKey = UInt256(
        high: 0x20B0_03D2_F297_BE2C_5E2C_83A7_E9F9_A5B9,
        low: 0xEFF4_9111_ACF4_FDDB_CC03_0148_0E35_9DE6
    )
    /// Number of rounds with a passkey: one for each bit of the passkey.
    private static let rounds = 20

    private let privateKey: P256.PrivateKey
    private var peerKey: P256.PublicKey?
    private var secret: UInt256?
    /// Current passkey round, counted from 0.
    private var round = 0
    private var macKey: UInt128 = 0

    init(_ output: inout PairingOutput) throws(PairingFailure) {
        // Only about one random number in 2^32 is invalid as a private key.
        for _ in 0..<4 {
            let secret = UInt256(high: output.newNumber(), low: output.newNumber())
            guard let key = try? P256.PrivateKey(secret, blinding: output.newNumber()) else { continue }
            privateKey = key
            return
        }
        throw .unspecifiedReason
    }

    var publicKey: SecurityManagerPDU {
        .pairingPublicKey(x: privateKey.publicKey.x.bytes, y: privateKey.publicKey.y.bytes)
    }

    /// Processes the peer's public key, and computes the shared secret.
    mutating func take(_ x: UInt256, _ y: UInt256, blinding: UInt128) throws(PairingFailure) {
        // A peer that sends our own key does not have the private key. The debug key is insecure, because its private
        // key is published.
        guard x != privateKey.publicKey.x, x != Self.debugKey else { throw .invalidParameters }
        guard let peerKey = try? P256.PublicKey(x: x, y: y) else { throw .invalidParameters }
        self.peerKey = peerKey
        secret = try compute(try privateKey.shared(with: peerKey, blinding: blinding))
    }

    private var keys: (own: UInt256, peer: UInt256) {
        get throws(PairingFailure) {
            guard let peerKey else { throw .unspecifiedReason }
            return (privateKey.publicKey.x, peerKey.x)
        }
    }

    /// Returns the confirm value of a nonce for the current round.
    func confirm(_ nonce: UInt128, isOwn: Bool, passkey: UInt32?) throws(PairingFailure) -> UInt128 {
        let (own, peer) = try keys
        let bit = passkey.map { 0x80 | UInt8(truncatingIfNeeded: $0 &>> UInt32(truncatingIfNeeded: round)) & 1 } ?? 0
        return try compute(try SecurityToolbox.f4(isOwn ? own : peer, isOwn ? peer : own, nonce, bit))
    }

    /// Advances to the next passkey round; returns false after the last round.
    mutating func nextRound() -> Bool {
        guard round &+ 1 < Self.rounds else { return false }
        round &+= 1
        return true
    }

    /// Computes the keys from the nonces of both sides, and returns the long term key.
    mutating func makeKey(own: UInt128, peer: UInt128, _ terms: PairingTerms) throws(PairingFailure) -> UInt128 {
        guard let secret else { throw .unspecifiedReason }
        let (mac, longTermKey) = try compute(
            try SecurityToolbox.f5(
                secret,
                initiatorNonce: terms.isInitiator ? own : peer,
                responderNonce: terms.isInitiator ? peer : own,
                initiator: terms.initiator,
                responder: terms.responder
            )
        )
        macKey = mac
        return longTermKey
    }

    /// Returns the number for the user to compare.
    func number(own: UInt128, peer: UInt128, _ terms: PairingTerms) throws(PairingFailure) -> UInt32 {
        let keys = try keys
        let number = try compute(
            try SecurityToolbox.g2(
                initiator: terms.isInitiator ? keys.own : keys.peer,
                responder: terms.isInitiator ? keys.peer : keys.own,
                initiatorNonce: terms.isInitiator ? own : peer,
                responderNonce: terms.isInitiator ? peer : own
            )
        )
        return number % SecurityToolbox.numberLimit
    }

    /// Returns the check value of one side, which is computed from the secret, the nonces, the addresses and the
    /// features.
    func check(
        _ nonce: UInt128,
        _ otherNonce: UInt128,
        _ passkey: UInt128,
        _ terms: PairingTerms,
        isOwn: Bool
    ) throws(PairingFailure) -> UInt128 {
        let features = isOwn ? terms.ownFeatures : terms.peerFeatures
        let (own, peer) = isOwn ? (terms.local, terms.peer) : (terms.peer, terms.local)
        return try compute(try SecurityToolbox.f6(macKey, nonce, otherNonce, passkey, features: features, own, peer))
    }
}

/// Calls a cryptographic function, which fails only if memory is exhausted.
func compute<Result>(_ value: @autoclosure () throws(CryptographyError) -> Result) throws(PairingFailure) -> Result {
    do throws(CryptographyError) { return try value() } catch { throw .unspecifiedReason }
}
