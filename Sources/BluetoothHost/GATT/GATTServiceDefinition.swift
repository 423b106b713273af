// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Source of an attribute's value.
public enum GATTValueSource: Hashable, Sendable {
    /// Constant value of 0 to 512 bytes.
    case constant([UInt8])
    /// Value that the server stores; clients may write values whose length is in `lengths`, which must be within 0 to
    /// 512 bytes.
    case stored([UInt8], lengths: ClosedRange<Int>)
    /// Value for which the owner answers every read and write request.
    case dynamic
}

/// Definition of a service that a server offers (Core 6.0, Vol 3, Part G, 3.1).
public struct GATTServiceDefinition: Hashable, Sendable {
    /// UUID of the service.
    public var uuid: BluetoothUUID
    /// True for a primary service; false for a secondary service, which is only useful when included in another
    /// service.
    public var isPrimary: Bool
    /// Included services; they must be added to the database first.
    public var includes: [GATTService]
    /// Characteristics, in the order of their handles.
    public var characteristics: [GATTCharacteristicDefinition]

    /// Creates a service definition; by default the service is primary.
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

/// Extended properties of a characteristic (Core 6.0, Vol 3, Part G, 3.3.3.1).
public struct GATTExtendedProperties: OptionSet, Hashable, Sendable {
    /// Two-byte value of the descriptor.
    public let rawValue: UInt16

    /// Creates properties from the descriptor's two-byte value.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Support for reliable writes of the value.
    public static let reliableWrite = GATTExtendedProperties(rawValue: 0x0001)
    /// Support for writing the user description.
    public static let writableAuxiliaries = GATTExtendedProperties(rawValue: 0x0002)
}

/// Definition of a characteristic that a server offers.
///
/// The properties define the supported operations: read, write, notify, indicate. The access fields define the security
/// that each operation requires. A client characteristic configuration descriptor is added for `notify` and `indicate`,
/// and an extended properties descriptor for `extendedProperties`. Core 6.0, Vol 3, Part G, 3.3.
public struct GATTCharacteristicDefinition: Hashable, Sendable {
    /// UUID of the characteristic.
    public var uuid: BluetoothUUID
    /// Properties of the characteristic.
    public var properties: GATTCharacteristicProperties
    /// Source of the characteristic's value.
    public var value: GATTValueSource
    /// Link security required to read the value.
    public var read: GATTAccess
    /// Link security required to write the value.
    public var write: GATTAccess
    /// Link security required to subscribe to the value.
    public var subscribe: GATTAccess
    /// Minimum key size for access that requires encryption: 7 to 16 bytes.
    public var minimumKeySize: UInt8
    /// Extended properties; used only if `properties` contains `extendedProperties`.
    public var extendedProperties: GATTExtendedProperties
    /// Additional descriptors, in the order of their handles.
    public var descriptors: [GATTDescriptorDefinition]

    /// Creates a characteristic definition; by default every link may access the characteristic.
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

    /// Minimum encryption key size, in bytes (Core 6.0, Vol 3, Part H, 2.3.4).
    public static let shortestKey: UInt8 = 7
}

/// Definition of a descriptor (Core 6.0, Vol 3, Part G, 3.3.3).
public struct GATTDescriptorDefinition: Hashable, Sendable {
    /// UUID of the descriptor.
    public var uuid: BluetoothUUID
    /// Source of the descriptor's value.
    public var value: GATTValueSource
    /// Link security required to read the descriptor.
    public var read: GATTAccess
    /// Link security required to write the descriptor.
    public var write: GATTAccess

    /// Creates a descriptor definition; by default the descriptor is readable over every link and not writable.
    public init(uuid: BluetoothUUID, value: GATTValueSource, read: GATTAccess = .open, write: GATTAccess = .never) {
        self.uuid = uuid
        self.value = value
        self.read = read
        self.write = write
    }

    /// Returns a Characteristic User Description descriptor with a UTF-8 text (Core 6.0, Vol 3, Part G, 3.3.3.2).
    public static func userDescription(_ text: String) -> GATTDescriptorDefinition {
        GATTDescriptorDefinition(uuid: GATTAttributeType.userDescription, value: .constant(Array(text.utf8)))
    }

    /// Returns a Characteristic Presentation Format descriptor with a format, a decimal exponent, a unit and a
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

/// Link security required to read or write an attribute (Core 6.0, Vol 3, Part F, 3.2.5).
public enum GATTAccess: Sendable, Hashable, CaseIterable {
    /// Access is never allowed.
    case never
    /// Access is allowed over every link.
    case open
    case encrypted
    /// Access requires a link that is encrypted with an authenticated key.
    case authenticated
}

/// Security of a link (Core 6.0, Vol 3, Part C, 10.2.1: LE security mode 1).
public struct GATTLinkSecurity: Hashable, Sendable {
    /// Security level of a link.
    public enum Level: Int, Sendable, Comparable, CaseIterable {
        case none
        /// The link is encrypted with an unauthenticated key.
        case encrypted
        /// The link is encrypted with an authenticated key.
        case authenticated

        /// Returns true if `left` is weaker than `right`.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// Maximum encryption key size, in bytes (Core 6.0, Vol 3, Part H, 2.3.4).
    public static let longestKey: UInt8 = 16

    /// Security level of the link.
    public var level: Level
    /// Size of the link's encryption key, 7 to 16 bytes; has no meaning if the link is not encrypted.
    public var keySize: UInt8
    /// True if both sides have a key from an earlier pairing, whether it is in use or not.
    public var isBonded: Bool

    /// Creates the security of a link; the defaults are those of a new link, which is not encrypted.
    public init(level: Level = .none, keySize: UInt8 = Self.longestKey, isBonded: Bool = false) {
        self.level = level
        self.keySize = keySize
        self.isBonded = isBonded
    }

    /// Returns the error for a link that is not secure enough for `access`; nil if it is secure enough or if `access`
    /// is `never`.
    ///
    /// Without a key, the devices must first be paired: Insufficient Authentication. With a key, only encryption is
    /// missing: Insufficient Encryption. Core 6.0, Vol 3, Part C, 10.3.1.
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
