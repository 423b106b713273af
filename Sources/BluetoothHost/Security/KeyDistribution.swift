// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Distribution of keys over the encrypted link, and the resulting bond (Core 6.0, Vol 3, Part H, 2.4).
struct KeyDistribution: Sendable {
    /// Kinds of PDUs that distribute keys, in the order of the specification (Core 6.0, Vol 3, Part H, 3.6.1).
    private enum Part: Sendable {
        case longTermKey
        case identification
        case resolvingKey
        case identityAddress
    }

    private let terms: PairingTerms
    /// Parts of keys that the peer must still send, in the required order.
    private var awaited: [Part] = []
    /// Long term key that this host has distributed in LE legacy pairing.
    private var ownKey: LongTermKey?
    private var peerLongTermKey: UInt128 = 0
    private var peerLegacyKey: LongTermKey?
    private var peerResolvingKey: UInt128 = 0
    private var peerIdentity: DeviceAddress?

    /// Starts the distribution: the responder sends its keys first.
    init(_ terms: PairingTerms, _ output: inout PairingOutput) throws(PairingFailure) {
        self.terms = terms
        let keys = terms.isInitiator ? terms.response.responderKeys : terms.response.initiatorKeys
        // A long term key is not distributed with LE Secure Connections.
        if keys.contains(.encryption), !terms.isSecure { awaited += [.longTermKey, .identification] }
        if keys.contains(.identity) { awaited += [.resolvingKey, .identityAddress] }
        if !terms.isInitiator { try send(terms.response.responderKeys, &output) }
    }

    /// Sends the keys that were negotiated; keys that the host does not have were not negotiated.
    private mutating func send(_ keys: PairingFeatures.Keys, _ output: inout PairingOutput) throws(PairingFailure) {
        if keys.contains(.encryption), !terms.isSecure {
            let value = output.newNumber()
            let diversifier = UInt16.random(in: 0...UInt16.max, using: &output.random)
            let number = UInt64.random(in: 0...UInt64.max, using: &output.random)
            ownKey = longTermKey(value, diversifier, number, role: .peripheral)
            guard ownKey != nil else { throw .unspecifiedReason }
            output.send(.encryptionInformation(value))
            output.send(.centralIdentification(diversifier: diversifier, random: number))
        }
        if keys.contains(.identity), let key = terms.policy.identityResolvingKey {
            output.send(.identityInformation(key))
            output.send(.identityAddressInformation(terms.policy.identity))
        }
    }

    /// Processes a part of a key; returns false if the part is not used.
    ///
    /// The parts must arrive in the specified order.
    mutating func take(_ pdu: SecurityManagerPDU) throws(PairingFailure) -> Bool {
        switch (pdu, awaited.first) {
        case (.encryptionInformation(let key), .longTermKey): peerLongTermKey = key
        case (.centralIdentification(let diversifier, let random), .identification):
            peerLegacyKey = longTermKey(peerLongTermKey, diversifier, random, role: .central)
            guard peerLegacyKey != nil else { throw .invalidParameters }
        case (.identityInformation(let key), .resolvingKey): peerResolvingKey = key
        case (.identityAddressInformation(let identity), .identityAddress):
            guard identity.isIdentity, identity != terms.policy.identity, identity != terms.local else {
                throw .invalidParameters
            }
            // A peer that connected with an identity address cannot prove that it has a different identity. It keeps
            // the address with which it connected. The resolving key of the other identity is discarded, as in the
            // kernel.
            if terms.peer.isIdentity, terms.peer != identity {
                peerResolvingKey = 0
            } else {
                peerIdentity = identity
            }
        // A signing key is discarded, because it was not requested.
        case (.signingInformation, _): return false
        default: throw .unspecifiedReason
        }
        awaited.removeFirst()
        return true
    }

    /// Completes the distribution once the peer has sent all of its keys; the initiator then sends its own.
    ///
    /// Returns false if keys of the peer are still missing.
    mutating func finish(_ output: inout PairingOutput) throws(PairingFailure) -> Bool {
        guard awaited.isEmpty else { return false }
        if terms.isInitiator { try send(terms.response.initiatorKeys, &output) }
        return true
    }

    /// Creates a key of LE legacy pairing; returns nil if the key is all zeros.
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
            isAuthenticated: terms.model.hasNumber,
            isSecureConnections: false,
            role: role
        )
    }

    /// Returns the bond that results from a pairing with this key; nil if one of the devices does not want a bond.
    func bond(_ encryptionKey: UInt128) -> Bond? {
        guard terms.both(.bonding) else { return nil }
        var keys = [ownKey, peerLegacyKey]
        if terms.isSecure {
            let key = LongTermKey(
                encryptionKey.littleEndianBytes,
                isAuthenticated: terms.model.hasNumber,
                isSecureConnections: true,
                role: terms.isInitiator ? .central : .peripheral
            )
            keys = [key]
        }
        return Bond(
            identityAddress: peerIdentity ?? terms.peer,
            localAddress: terms.policy.identity.address,
            longTermKeys: keys.compactMap { $0 },
            identityResolvingKey: peerResolvingKey == 0 ? nil : peerResolvingKey.littleEndianBytes
        )
    }
}
