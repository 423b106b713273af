// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets
public import Cryptography

/// Cryptographic functions for pairing.
///
/// Arguments and results are numbers, as in the specification. A function throws an error only if the cryptography
/// library fails. Core 6.0, Vol 3, Part H, 2.2.
public enum SecurityToolbox {
    /// Exclusive upper bound of the six-digit numbers that the user compares or enters.
    static let numberLimit: UInt32 = 1_000_000

    /// Returns the 24-bit hash part of a resolvable private address, computed from an identity resolving key and the 24
    /// random bits of the address (2.2.2).
    public static func ah(_ key: UInt128, _ random: UInt32) throws(CryptographyError) -> UInt32 {
        let hash = try AES128.encrypt(UInt128(random & 0xFF_FFFF), key: key)
        return UInt32(truncatingIfNeeded: hash & 0xFF_FFFF)
    }

    /// Returns true if the address is a resolvable private address generated with this identity resolving key (Core
    /// 6.0, Vol 6, Part B, 1.3.2.3).
    public static func resolves(_ device: DeviceAddress, key: UInt128) throws(CryptographyError) -> Bool {
        guard device.kind == .resolvablePrivate else { return false }
        let random = UInt32(truncatingIfNeeded: device.address.rawValue &>> 24)
        return try UInt64(ah(key, random)) == device.address.rawValue & 0xFF_FFFF
    }

    /// Returns the confirm value of LE legacy pairing (2.2.3).
    ///
    /// The two PDUs are the Pairing Request and the Pairing Response, regardless of this host's role.
    public static func c1(
        _ key: UInt128,
        _ random: UInt128,
        request: SecurityManagerPDU,
        response: SecurityManagerPDU,
        initiator: DeviceAddress,
        responder: DeviceAddress
    ) throws(CryptographyError) -> UInt128 {
        let types = [responder.type.rawValue, initiator.type.rawValue]
        let first = UInt128(bytes: response.encoded.reversed() + request.encoded.reversed() + types)
        let second = UInt128(initiator.address.rawValue) &<< 48 | UInt128(responder.address.rawValue)
        return try AES128.encrypt(AES128.encrypt(random ^ first, key: key) ^ second, key: key)
    }

    /// Returns the short term key of LE legacy pairing, computed from the responder's and the initiator's random
    /// numbers (2.2.4).
    public static func s1(_ key: UInt128, responder: UInt128, initiator: UInt128) throws(CryptographyError) -> UInt128 {
        try AES128.encrypt(responder &<< 64 | initiator & UInt128(UInt64.max), key: key)
    }

    /// Returns the confirm value of LE Secure Connections, computed from two X coordinates, a nonce, and a byte that
    /// contains a passkey bit (2.2.6).
    public static func f4(
        _ own: UInt256,
        _ peer: UInt256,
        _ nonce: UInt128,
        _ bit: UInt8
    ) throws(CryptographyError) -> UInt128 {
        try AES128.cmac(own.bytes + peer.bytes + [bit], key: nonce)
    }

    /// Returns the MacKey and the long term key of LE Secure Connections (2.2.7).
    public static func f5(
        _ secret: UInt256,
        initiatorNonce: UInt128,
        responderNonce: UInt128,
        initiator: DeviceAddress,
        responder: DeviceAddress
    ) throws(CryptographyError) -> (macKey: UInt128, longTermKey: UInt128) {
        let key = try AES128.cmac(secret.bytes, key: 0x6C88_8391_AAF5_A538_6037_0BDB_5A60_83BE)
        // The identifier is "btle" in ASCII; the last two bytes of the message are the length of the result in bits.
        let identifier: [UInt8] = [0x62, 0x74, 0x6C, 0x65]
        let nonces: [UInt8] = initiatorNonce.bytes + responderNonce.bytes
        let message: [UInt8] = identifier + nonces + typed(initiator) + typed(responder) + [1, 0]
        return (macKey: try AES128.cmac([0] + message, key: key), longTermKey: try AES128.cmac([1] + message, key: key))
    }

    /// Returns the check value of LE Secure Connections (2.2.8).
    ///
    /// The first nonce, the first address and the features are those of the device that sends the value.
    public static func f6(
        _ macKey: UInt128,
        _ nonce: UInt128,
        _ peerNonce: UInt128,
        _ random: UInt128,
        features: PairingFeatures,
        _ own: DeviceAddress,
        _ peer: DeviceAddress
    ) throws(CryptographyError) -> UInt128 {
        let capabilities = [
            features.authentication.rawValue, features.hasOutOfBandData ? 1 : 0, features.ioCapability.rawValue,
        ]
        let message = nonce.bytes + peerNonce.bytes + random.bytes + capabilities + typed(own) + typed(peer)
        return try AES128.cmac(message, key: macKey)
    }

    /// Returns the 32 bits from which the number to compare is derived (2.2.9).
    public static func g2(
        initiator: UInt256,
        responder: UInt256,
        initiatorNonce: UInt128,
        responderNonce: UInt128
    ) throws(CryptographyError) -> UInt32 {
        let message = initiator.bytes + responder.bytes + responderNonce.bytes
        return UInt32(truncatingIfNeeded: try AES128.cmac(message, key: initiatorNonce) & 0xFFFF_FFFF)
    }

    /// Returns a 56-bit value: the address type followed by the address.
    private static func typed(_ device: DeviceAddress) -> [UInt8] {
        [device.type.rawValue] + UInt128(device.address.rawValue).bytes.suffix(6)
    }
}

/// Resolves the private addresses of bonded devices.
///
/// A device that uses privacy changes its address about every 15 minutes; its identity resolving key identifies it
/// under each address. Results are cached in a table of fixed size, so that each recurring address in a crowd is
/// resolved only once. Core 6.0, Vol 6, Part B, 1.3.2.3.
public struct AddressResolver: Sendable {
    /// Number of entries in the cache, a power of two.
    static let capacity = 512

    /// Bonded device, with its key and its latest address.
    private struct Peer: Sendable {
        let identity: DeviceAddress
        let key: UInt128
        var last: DeviceAddress?
    }

    /// Cached resolution of an address: the index of the device in `peers`, or nil if the address belongs to no bonded
    /// device.
    private struct Finding: Sendable {
        /// 48-bit address; 0 if the entry is unused.
        var address: UInt64 = 0
        var place: Int?
    }

    private var peers: [Peer]
    private var findings: [Finding]

    /// Creates a resolver for the devices of these bonds; returns nil if no bond has a resolving key.
    public init?(_ bonds: some Sequence<Bond>) {
        peers = bonds.compactMap { bond in
            bond.identityResolvingKey.map { Peer(identity: bond.identityAddress, key: UInt128(littleEndianBytes: $0)) }
        }
        guard !peers.isEmpty else { return nil }
        findings = Array(repeating: Finding(), count: Self.capacity)
    }

    /// Returns the identity address of the device with this address; returns the address itself if it cannot be
    /// resolved to a bonded device.
    public mutating func identity(of sender: DeviceAddress) -> DeviceAddress {
        guard sender.kind == .resolvablePrivate else { return sender }
        let bits = sender.address.rawValue
        // The lowest 24 bits of the address are a hash, and the bits above them are random.
        let slot = Int(truncatingIfNeeded: (bits ^ bits &>> 24) & UInt64(Self.capacity - 1))
        if findings[slot].address != bits {
            let place = peers.firstIndex { (try? SecurityToolbox.resolves(sender, key: $0.key)) == true }
            findings[slot] = Finding(address: bits, place: place)
        }
        guard let place = findings[slot].place else { return sender }
        peers[place].last = sender
        return peers[place].identity
    }

    /// Returns the latest address of a device, or its identity address if no other address was received.
    public func address(of identity: DeviceAddress) -> DeviceAddress {
        peers.first { $0.identity == identity }?.last ?? identity
    }
}

extension UInt128 {
    /// The number as 16 bytes, least significant byte first.
    var littleEndianBytes: [UInt8] { bytes.reversed() }

    /// Creates a number from 16 bytes, least significant byte first.
    init(littleEndianBytes bytes: [UInt8]) {
        self.init(bytes: bytes.reversed())
    }
}
