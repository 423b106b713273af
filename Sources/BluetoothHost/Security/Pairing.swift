// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Cryptography

/// Pairing in progress, from the exchange of features to the distribution of keys; discarded as a whole when it ends.
struct Pairing: Sendable {
    /// Next PDU or event that a pairing waits for.
    enum Step: Hashable, Sendable {
        case publicKey
        case confirm
        case random
        case check
        case encryption
        case keys
        case end(Bond?)
    }

    /// Maximum number of ignored PDUs in one pairing; it allows for the keypress notifications of a user who types a
    /// passkey.
    private static let mostTolerated = 64

    let terms: PairingTerms
    private(set) var step = Step.confirm
    /// Key that encrypts the link: the long term key of LE Secure Connections, or the short term key of legacy pairing.
    private(set) var encryptionKey: UInt128?
    private var passkey: UInt32?
    /// True while a passkey is requested from the user.
    private(set) var isAskingPasskey = false
    /// True while a numeric comparison waits for the user.
    private(set) var isComparing = false
    private var tolerated = 0
    /// State of LE Secure Connections; nil for LE legacy pairing.
    private var secure: SecurePairing?
    /// Random numbers of the current round: the host's own and the peer's.
    private var nonce: UInt128 = 0
    private var peerNonce: UInt128 = 0
    private var peerConfirm: UInt128?
    /// Peer's confirm value, if it was received before the user entered the passkey.
    private var heldConfirm: UInt128?
    /// Peer's check value, if it was received before the user compared the numbers.
    private var heldCheck: UInt128?
    private var keys: KeyDistribution?

    init(_ terms: PairingTerms) {
        self.terms = terms
    }

    /// Random value in the check values: the passkey, or 0 if there is none.
    private var checkRandom: UInt128 { UInt128(passkey ?? 0) }

    /// Starts the pairing method that results from the features of both devices.
    mutating func begin(_ output: inout PairingOutput) throws(PairingFailure) {
        guard terms.isSecure else { return try askPasskey(&output) }
        let secure = try SecurePairing(&output)
        self.secure = secure
        step = .publicKey
        if terms.isInitiator { output.send(secure.publicKey) }
    }

    /// Processes a PDU; throws an error, which ends the pairing, if the PDU is unexpected.
    mutating func take(_ pdu: SecurityManagerPDU, _ output: inout PairingOutput) throws(PairingFailure) {
        switch (pdu, step) {
        case (.pairingPublicKey(let x, let y), .publicKey):
            try secure?.take(UInt256(bytes: x), UInt256(bytes: y), blinding: output.newNumber())
            if !terms.isInitiator, let secure { output.send(secure.publicKey) }
            try askPasskey(&output)
        case (.pairingConfirm(let value), .confirm): try takeConfirm(value, &output)
        case (.pairingRandom(let value), .random): try takeRandom(value, &output)
        case (.pairingDHKeyCheck(let value), .check): try takeCheck(value, &output)
        case (.pairingKeypressNotification, _) where terms.model.hasPasskey: try tolerate()
        case (_, .keys):
            if try keys?.take(pdu) == true { try finishKeys(&output) } else { try tolerate() }
        default: throw .unspecifiedReason
        }
    }

    /// Counts an ignored PDU; throws an error, which ends the pairing, if there are too many.
    private mutating func tolerate() throws(PairingFailure) {
        tolerated &+= 1
        guard tolerated <= Self.mostTolerated else { throw .unspecifiedReason }
    }

    /// Shows or requests a passkey if the association model uses one; starts the confirmation unless the user must
    /// first enter the passkey.
    private mutating func askPasskey(_ output: inout PairingOutput) throws(PairingFailure) {
        step = .confirm
        if terms.model.showsPasskey(terms.role) {
            let passkey = UInt32.random(in: 0..<SecurityToolbox.numberLimit, using: &output.random)
            self.passkey = passkey
            output.emit(.showPasskey(passkey))
        } else if terms.model.hasPasskey {
            isAskingPasskey = true
            return output.emit(.askPasskey)
        }
        try beginConfirmation(&output)
    }

    mutating func enter(_ passkey: UInt32?, _ output: inout PairingOutput) throws(PairingFailure) {
        isAskingPasskey = false
        guard let passkey, passkey < SecurityToolbox.numberLimit else { throw .passkeyEntryFailed }
        self.passkey = passkey
        try beginConfirmation(&output)
    }

    mutating func compare(isSame: Bool, _ output: inout PairingOutput) throws(PairingFailure) {
        isComparing = false
        guard isSame else { throw .numericComparisonFailed }
        if terms.isInitiator {
            try sendCheck(&output)
        } else if let held = heldCheck {
            heldCheck = nil
            try takeCheck(held, &output)
        }
    }

    /// True if only the responder confirms its random number, which is the case for LE Secure Connections without a
    /// passkey.
    private var isOneSided: Bool { terms.isSecure && !terms.model.hasPasskey }

    /// Returns the confirm value of a random number, which is either our own or the peer's.
    private func confirm(_ number: UInt128, isOwn: Bool) throws(PairingFailure) -> UInt128 {
        if let secure { return try secure.confirm(number, isOwn: isOwn, passkey: passkey) }
        return try compute(
            try SecurityToolbox.c1(
                checkRandom,
                number,
                request: .pairingRequest(terms.request),
                response: .pairingResponse(terms.response),
                initiator: terms.initiator,
                responder: terms.responder
            )
        )
    }

    /// Starts the confirmation or its next round.
    private mutating func beginConfirmation(_ output: inout PairingOutput) throws(PairingFailure) {
        nonce = output.newNumber()
        step = .confirm
        if terms.isInitiator != isOneSided { output.send(.pairingConfirm(try confirm(nonce, isOwn: true))) }
        if isOneSided, !terms.isInitiator { step = .random }
        if let held = heldConfirm {
            heldConfirm = nil
            try takeConfirm(held, &output)
        }
    }

    private mutating func takeConfirm(_ value: UInt128, _ output: inout PairingOutput) throws(PairingFailure) {
        guard !isAskingPasskey else {
            // The central has sent its value before the user entered the passkey; one such value is stored until then.
            guard !terms.isInitiator, heldConfirm == nil else { throw .unspecifiedReason }
            heldConfirm = value
            return
        }
        let own = try confirm(nonce, isOwn: true)
        // A peer that does not know the passkey could send our own value back to us.
        guard value != own else { throw .confirmValueFailed }
        peerConfirm = value
        step = .random
        output.send(terms.isInitiator ? .pairingRandom(nonce) : .pairingConfirm(own))
    }

    /// Processes the peer's random number, and uses it to verify the peer's confirm value.
    private mutating func takeRandom(_ value: UInt128, _ output: inout PairingOutput) throws(PairingFailure) {
        guard value != nonce else { throw .confirmValueFailed }
        peerNonce = value
        if terms.isInitiator || !isOneSided {
            guard try confirm(value, isOwn: false) == peerConfirm else { throw .confirmValueFailed }
        }
        peerConfirm = nil
        if !terms.isInitiator { output.send(.pairingRandom(nonce)) }
        if terms.isSecure, terms.model.hasPasskey, secure?.nextRound() == true {
            try beginConfirmation(&output)
        } else if terms.isSecure {
            try makeKey(&output)
        } else {
            let numbers = terms.isInitiator ? (value, nonce) : (nonce, value)
            encryptionKey = try compute(try SecurityToolbox.s1(checkRandom, responder: numbers.0, initiator: numbers.1))
            try beginEncryption(&output)
        }
    }

    /// Computes the keys, then either requests the numeric comparison or continues with the check values.
    private mutating func makeKey(_ output: inout PairingOutput) throws(PairingFailure) {
        encryptionKey = try secure?.makeKey(own: nonce, peer: peerNonce, terms)
        step = .check
        if terms.model == .numericComparison, let secure {
            isComparing = true
            output.emit(.compareNumber(try secure.number(own: nonce, peer: peerNonce, terms)))
        } else if terms.isInitiator {
            try sendCheck(&output)
        }
    }

    private func sendCheck(_ output: inout PairingOutput) throws(PairingFailure) {
        guard let secure else { throw .unspecifiedReason }
        output.send(.pairingDHKeyCheck(try secure.check(nonce, peerNonce, checkRandom, terms, isOwn: true)))
    }

    /// Verifies the peer's check value, which proves that both devices have the same secret, nonces, addresses and
    /// features.
    private mutating func takeCheck(_ value: UInt128, _ output: inout PairingOutput) throws(PairingFailure) {
        guard !isComparing else {
            // The central has sent its value before our user compared the numbers; one such value is stored until then.
            guard !terms.isInitiator, heldCheck == nil else { throw .unspecifiedReason }
            heldCheck = value
            return
        }
        let expected = try secure?.check(peerNonce, nonce, checkRandom, terms, isOwn: false)
        guard value == expected else { throw .dhKeyCheckFailed }
        if !terms.isInitiator { try sendCheck(&output) }
        try beginEncryption(&output)
    }

    private mutating func beginEncryption(_ output: inout PairingOutput) throws(PairingFailure) {
        // An attacker would know a key of zeros.
        guard let key = encryptionKey, key != 0 else { throw .unspecifiedReason }
        step = .encryption
        if terms.isInitiator { output.emit(.encrypt(key: key, diversifier: 0, random: 0)) }
    }

    /// Starts the distribution of keys over the encrypted link.
    mutating func beginKeys(_ output: inout PairingOutput) throws(PairingFailure) {
        step = .keys
        keys = try KeyDistribution(terms, &output)
        try finishKeys(&output)
    }

    private mutating func finishKeys(_ output: inout PairingOutput) throws(PairingFailure) {
        guard try keys?.finish(&output) == true else { return }
        step = .end(keys?.bond(encryptionKey ?? 0))
    }
}
