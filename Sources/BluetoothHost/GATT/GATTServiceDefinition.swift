// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// The source of an attribute's value.
public enum GATTValueSource: Hashable, Sendable {
    /// A value that never changes; 0 to 512 bytes.
    case constant([UInt8])
    /// A value that the server keeps; clients may write any of a length in `lengths`, within 0 to 512 bytes.
    case stored([UInt8], lengths: ClosedRange<Int>)
    /// The server's owner answers every read and write.
    case dynamic
}

/// A service that a server is to have (Core 6.0, Vol 3, Part G, 3.1).
public struct GATTServiceDefinition: Hashable, Sendable {
    /// The service's UUID.
    public var uuid: BluetoothUUID
    /// False for a service that makes sense only as part of another.
    public var isPrimary: Bool
    /// Services that were added before, and that this one includes.
    public var includes: [GATTService]
    /// Its characteristics, in the order of their handles.
    public var characteristics: [GATTCharacteristicDefinition]

    /// A service, primary unless said otherwise.
    public init(
        uuid: BluetoothUUID,
        isPrimary: Bool = true,
        includes: [GATTService] = [],
        characteristics: [GATTCharacteristicDefinition] = []
    ) {
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.includes = includes
        self.characteristics = characteristics
    }
}

/// The extended properties of a characteristic (Core 6.0, Vol 3, Part G, 3.3.3.1).
public struct GATTExtendedProperties: OptionSet, Hashable, Sendable {
    /// The two bytes of the descriptor.
    public let rawValue: UInt16

    /// The properties of two bytes.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The value can be written reliably.
    public static let reliableWrite = GATTExtendedProperties(rawValue: 0x0001)
    /// The user description can be written.
    public static let writableAuxiliaries = GATTExtendedProperties(rawValue: 0x0002)
}

/// A characteristic that a server is to have.
///
/// The properties say which of reading, writing, notifying and indicating there is at all; the access fields say over
/// which links. A client characteristic configuration descriptor comes with `notify` and `indicate`, and an extended
/// properties descriptor with `extendedProperties`. Core 6.0, Vol 3, Part G, 3.3.
public struct GATTCharacteristicDefinition: Hashable, Sendable {
    /// Its UUID.
    public var uuid: BluetoothUUID
    /// Its properties.
    public var properties: GATTCharacteristicProperties
    /// The source of its value.
    public var value: GATTValueSource
    /// The security that a link needs to read it.
    public var read: GATTAccess
    /// The security that a link needs to write it.
    public var write: GATTAccess
    /// The security that a link needs to subscribe to it.
    public var subscribe: GATTAccess
    /// The shortest key that counts as encryption for the value: 7 to 16 bytes.
    public var minimumKeySize: UInt8
    /// The extended properties, used where `properties` has `extendedProperties`.
    public var extendedProperties: GATTExtendedProperties
    /// Further descriptors, in the order of their handles.
    public var descriptors: [GATTDescriptorDefinition]

    /// A characteristic, open to every link unless said otherwise.
    public init(
        uuid: BluetoothUUID,
        properties: GATTCharacteristicProperties,
        value: GATTValueSource,
        read: GATTAccess = .open,
        write: GATTAccess = .open,
        subscribe: GATTAccess = .open,
        minimumKeySize: UInt8 = GATTCharacteristicDefinition.shortestKey,
        extendedProperties: GATTExtendedProperties = [],
        descriptors: [GATTDescriptorDefinition] = []
    ) {
        self.uuid = uuid
        self.properties = properties
        self.value = value
        self.read = read
        self.write = write
        self.subscribe = subscribe
        self.minimumKeySize = minimumKeySize
        self.extendedProperties = extendedProperties
        self.descriptors = descriptors
    }

    /// The shortest key that encryption can have, in bytes (Core 6.0, Vol 3, Part H, 2.3.4).
    public static let shortestKey: UInt8 = 7
}

/// A descriptor that a characteristic is to have (Core 6.0, Vol 3, Part G, 3.3.3).
public struct GATTDescriptorDefinition: Hashable, Sendable {
    /// Its UUID.
    public var uuid: BluetoothUUID
    /// The source of its value.
    public var value: GATTValueSource
    /// The security that a link needs to read it.
    public var read: GATTAccess
    /// The security that a link needs to write it.
    public var write: GATTAccess

    /// A descriptor that everyone reads and nobody writes unless said otherwise.
    public init(uuid: BluetoothUUID, value: GATTValueSource, read: GATTAccess = .open, write: GATTAccess = .never) {
        self.uuid = uuid
        self.value = value
        self.read = read
        self.write = write
    }

    /// The Characteristic User Description descriptor: a text as UTF-8 (Core 6.0, Vol 3, Part G, 3.3.3.2).
    public static func userDescription(_ text: String) -> GATTDescriptorDefinition {
        GATTDescriptorDefinition(uuid: GATTAttributeType.userDescription, value: .constant(Array(text.utf8)))
    }

    /// The Characteristic Presentation Format descriptor: a format, a power of ten, and the numbers of unit and
    /// description (Core 6.0, Vol 3, Part G, 3.3.3.5).
    public static func presentationFormat(
        format: UInt8,
        exponent: Int8 = 0,
        unit: UInt16,
        namespace: UInt8 = 0x01,
        description: UInt16 = 0x0000
    ) -> GATTDescriptorDefinition {
        var writer = ByteWriter(reservingCapacity: 7)
        writer.write(format)
        writer.write(UInt8(bitPattern: exponent))
        writer.write(unit)
        writer.write(namespace)
        writer.write(description)
        return GATTDescriptorDefinition(uuid: GATTAttributeType.presentationFormat, value: .constant(writer.bytes))
    }
}

/// The security that a link must have before an attribute may be read or written over it (Core 6.0, Vol 3, Part F,
/// 3.2.5).
public enum GATTAccess: Sendable, Hashable, CaseIterable {
    /// No link is enough: access is never allowed.
    case never
    /// Any link is enough.
    case open
    case encrypted
    /// The link is encrypted by a key that was authenticated.
    case authenticated
}

/// The security of a link (Core 6.0, Vol 3, Part C, 10.2.1 (LE security mode 1)).
public struct GATTLinkSecurity: Hashable, Sendable {
    /// The level of a link's security.
    public enum Level: Int, Sendable, Comparable, CaseIterable {
        case none
        /// Encrypted, by a key that anyone could have agreed upon.
        case encrypted
        /// Encrypted by a key that was authenticated.
        case authenticated

        /// Ordered from weaker to stronger.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// The longest key, in bytes (Core 6.0, Vol 3, Part H, 2.3.4).
    public static let longestKey: UInt8 = 16

    /// The level.
    public var level: Level
    /// The length of the key that encrypts the link, 7 to 16 bytes; without meaning on a link that is not encrypted.
    public var keySize: UInt8
    /// True when both sides have a key from an earlier pairing, in use or not.
    public var isBonded: Bool

    /// The security of a link; a fresh one has none.
    public init(level: Level = .none, keySize: UInt8 = Self.longestKey, isBonded: Bool = false) {
        self.level = level
        self.keySize = keySize
        self.isBonded = isBonded
    }

    /// The error for a link that is not secure enough; nil where it is, and for `never`, which no link satisfies.
    ///
    /// Without a key to encrypt with, pairing has to come first: Insufficient Authentication. With one, encryption is
    /// all that is missing: Insufficient Encryption. Core 6.0, Vol 3, Part C, 10.3.1.
    func refusal(for access: GATTAccess, keySize required: UInt8) -> ATTError? {
        switch access {
        case .never, .open: return nil
        case .encrypted, .authenticated:
            guard level >= .encrypted else { return isBonded ? .insufficientEncryption : .insufficientAuthentication }
            if access == .authenticated, level < .authenticated { return .insufficientAuthentication }
            return keySize < required ? .encryptionKeySizeTooShort : nil
        }
    }
}
