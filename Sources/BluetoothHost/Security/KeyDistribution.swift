// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The distribution of keys over the encrypted link, and the bond that comes of it (Core 6.0, Vol 3, Part H, 2.4).
struct KeyDistribution: Sendable {
    /// A kind of PDU by which a key is distributed (Core 6.0, Vol 3, Part H, 3.6.1: in this order).
    private enum Part: Sendable {
        case longTermKey
        case identification
        case resolvingKey
        case identityAddress
    }

    private let terms: PairingTerms
    /// The parts of keys that the peer has yet to send, in this order.
    private var awaited: [Part] = []
    /// The long term key of LE legacy pairing that this host has distributed.
    private var ownKey: LongTermKey?
    private var peerLongTermKey: UInt128 = 0
    private var peerLegacyKey: LongTermKey?
    private var peerResolvingKey: UInt128 = 0
    private var peerIdentity: DeviceAddress?

    /// Begins the distribution: the responder's keys come first.
    init(_ terms: PairingTerms, _ output: inout PairingOutput) throws(PairingFailure) {
        self.terms = terms
        let keys = terms.isInitiator ? terms.response.responderKeys : terms.response.initiatorKeys
        // LE Secure Connections distributes no long term key.
        if keys.contains(.encryption), !terms.isSecure { awaited += [.longTermKey, .identification] }
        if keys.contains(.identity) { awaited += [.resolvingKey, .identityAddress] }
        if !terms.isInitiator { try send(terms.response.responderKeys, &output) }
    }

    /// Distributes the host's keys; of what it does not have nothing was promised.
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

    /// Takes a part of a key, in the order of the specification; false for one that is of no use.
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
            // At an address that is an identity no other one can be proved: it stays the peer's, and the resolving key, which is
            // the other's, is dropped, as the kernel does.
            if terms.peer.isIdentity, terms.peer != identity {
                peerResolvingKey = 0
            } else {
                peerIdentity = identity
            }
        // A key to sign with is of no use here, was not asked for, and is forgotten.
        case (.signingInformation, _): return false
        default: throw .unspecifiedReason
        }
        awaited.removeFirst()
        return true
    }

    /// Ends the distribution once the peer has sent all of its keys, with the initiator's; false before that.
    mutating func finish(_ output: inout PairingOutput) throws(PairingFailure) -> Bool {
        guard awaited.isEmpty else { return false }
        if terms.isInitiator { try send(terms.response.initiatorKeys, &output) }
        return true
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
            isAuthenticated: terms.model.hasNumber,
            isSecureConnections: false,
            role: role
        )
    }

    /// The bond that is kept of a pairing with this key; nil where one of the devices wants none.
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
