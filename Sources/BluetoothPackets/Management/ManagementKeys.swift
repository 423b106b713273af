// SPDX-License-Identifier: GPL-2.0-or-later

/// A long term key as the management protocol carries it, in New Long Term Key and in Load Long Term Keys.
///
/// BlueZ, doc/mgmt-protocol.rst.
public struct ManagementLongTermKey: Hashable, Sendable {
    /// Where a key comes from.
    public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// LE legacy pairing, Just Works.
        case unauthenticated = 0
        /// LE legacy pairing, by a passkey or out-of-band data.
        case authenticated = 1
        /// LE Secure Connections, Just Works.
        case unauthenticatedSecureConnections = 2
        /// LE Secure Connections, by a passkey, numeric comparison or out-of-band data.
        case authenticatedSecureConnections = 3
        /// LE Secure Connections with the private key that the specification publishes: it keeps nobody out.
        case debug = 4
    }

    /// The peer's identity.
    public var device: ManagementAddress
    /// Where the key comes from.
    public var kind: Kind
    /// True for the key by which this host encrypts as the central; false in every key of Secure Connections.
    public var isCentral: Bool
    /// The bytes that count, 7 to 16.
    public var size: UInt8
    /// EDIV; 0 for a key of Secure Connections.
    public var encryptedDiversifier: UInt16
    /// Rand; 0 for a key of Secure Connections.
    public var random: UInt64
    /// The 16 bytes, the least significant first.
    public var value: [UInt8]

    /// A key with all of its fields.
    public init(
        device: ManagementAddress,
        kind: Kind,
        isCentral: Bool,
        size: UInt8,
        encryptedDiversifier: UInt16,
        random: UInt64,
        value: [UInt8]
    ) {
        self.device = device
        self.kind = kind
        self.isCentral = isCentral
        self.size = size
        self.encryptedDiversifier = encryptedDiversifier
        self.random = random
        self.value = value
    }

    @_lifetime(reader: copy reader)
    init(from reader: inout ByteReader) throws(DecodingError) {
        device = try ManagementAddress(from: &reader)
        let number = try reader.readUInt8("Key_Type")
        guard let kind = Kind(rawValue: number) else { throw reader.error("Key_Type", .invalidValue(UInt64(number))) }
        self.kind = kind
        isCentral = try ManagementEvent.flag("Central", &reader)
        size = try reader.readUInt8("Encryption_Size")
        guard (7...16).contains(size) else { throw reader.error("Encryption_Size", .invalidValue(UInt64(size))) }
        encryptedDiversifier = try reader.readUInt16("Encryption_Diversifier")
        random = try reader.readUInt64("Random_Number")
        value = try reader.readBytes(count: 16, "Value")
    }

    func write(to writer: inout ByteWriter) {
        device.write(to: &writer)
        writer.write(kind.rawValue)
        writer.write(UInt8(isCentral ? 1 : 0))
        writer.write(size)
        writer.write(encryptedDiversifier)
        writer.write(random)
        writer.write(value)
    }
}

/// An Identity Resolving Key as the management protocol carries it, in New Identity Resolving Key and in Load Identity
/// Resolving Keys.
///
/// BlueZ, doc/mgmt-protocol.rst.
public struct ManagementResolvingKey: Hashable, Sendable {
    /// The peer's identity.
    public var device: ManagementAddress
    /// The 16 bytes, the least significant first.
    public var value: [UInt8]

    /// A key of a device.
    public init(device: ManagementAddress, value: [UInt8]) {
        self.device = device
        self.value = value
    }

    @_lifetime(reader: copy reader)
    init(from reader: inout ByteReader) throws(DecodingError) {
        device = try ManagementAddress(from: &reader)
        value = try reader.readBytes(count: 16, "Value")
    }

    func write(to writer: inout ByteWriter) {
        device.write(to: &writer)
        writer.write(value)
    }
}
