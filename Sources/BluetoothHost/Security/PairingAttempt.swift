// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Cryptography

/// What two devices have told each other while they pair.
struct PairingAttempt: Sendable {
    /// A kind of PDU by which a key is distributed.
    ///
    /// Core 6.0, Vol 3, Part H, 3.6.1: in this order.
    enum KeyPart: Hashable, Sendable {
        case longTermKey
        case identification
        case resolvingKey
        case identityAddress
    }

    /// The rounds of LE Secure Connections with a passkey: one for each of its bits.
    static let rounds = 20

    /// The initiator's features.
    let request: PairingFeatures
    /// The responder's features; nil before they are known.
    var response: PairingFeatures?

    /// The passkey; nil before it is known, and without one.
    var passkey: UInt32?
    /// True from the question for the passkey to its answer.
    var isAskingPasskey = false
    /// True from the question whether the numbers are the same to its answer.
    var isComparing = false
    /// The number of PDUs that were taken without a consequence.
    var tolerated = 0

    /// The host's key pair of LE Secure Connections, the peer's public key, and the secret that they share.
    var privateKey: P256.PrivateKey?
    var peerKey: P256.PublicKey?
    var secret: UInt256?
    /// The round of a passkey, from 0 on.
    var round = 0
    /// The random numbers of this round, the host's own and the peer's.
    var nonce: UInt128 = 0
    var peerNonce: UInt128 = 0
    /// The peer's confirm value of this round.
    var peerConfirm: UInt128?
    /// A confirm value that came before the passkey was entered.
    var heldConfirm: UInt128?
    /// A check value that came before the user had compared the numbers.
    var heldCheck: UInt128?
    var macKey: UInt128 = 0

    /// The key that encrypts the link: the long term key of LE Secure Connections, or the short term key.
    var encryptionKey: UInt128?
    /// The parts of keys that the peer has yet to send, in this order.
    var awaited: [KeyPart] = []
    /// The long term key of LE legacy pairing that this host has distributed.
    var ownKey: LongTermKey?
    /// What the peer has distributed.
    var peerLongTermKey: UInt128 = 0
    var peerLegacyKey: LongTermKey?
    var peerResolvingKey: UInt128 = 0
    var peerIdentity: DeviceAddress?

    init(request: PairingFeatures, response: PairingFeatures? = nil) {
        self.request = request
        self.response = response
    }

    /// The association model; nil before the features of both are known.
    var model: AssociationModel? { response.map { AssociationModel(initiator: request, responder: $0) } }

    /// True where a stranger in the middle would be noticed: by a number, with LE Secure Connections.
    var isAuthenticated: Bool { model?.hasNumber == true && both(.secureConnections) }

    /// True where both devices know a feature, or want it.
    func both(_ feature: PairingFeatures.Authentication) -> Bool {
        guard let response else { return false }
        return request.authentication.intersection(response.authentication).contains(feature)
    }

    /// The random value of a check: the passkey, or 0.
    var checkRandom: UInt128 { UInt128(passkey ?? 0) }

    /// The last argument of f4 in this round.
    var confirmBit: UInt8 {
        guard let passkey else { return 0 }
        return 0x80 | UInt8(truncatingIfNeeded: passkey &>> UInt32(truncatingIfNeeded: round)) & 1
    }
}
