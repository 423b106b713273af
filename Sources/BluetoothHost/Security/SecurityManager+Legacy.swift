// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Cryptography

/// LE legacy pairing.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.5.
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

    /// The confirm value of a random number.
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

    /// Takes the peer's confirm value.
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
