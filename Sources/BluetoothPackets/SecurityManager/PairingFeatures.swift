// SPDX-License-Identifier: GPL-2.0-or-later

/// The features that a device offers for pairing.
///
/// Core 6.0, Vol 3, Part H, 3.5.1.
public struct PairingFeatures: Hashable, Sendable {
    /// What the user sees of the device, and can tell it.
    ///
    /// Core 6.0, Vol 3, Part H, 2.3.2 and 3.5.1, table 3.4.
    public enum IOCapability: UInt8, Hashable, Sendable, CaseIterable {
        /// It shows six digits.
        case displayOnly = 0
        /// It shows six digits, and takes yes or no.
        case displayYesNo = 1
        /// It takes six digits.
        case keyboardOnly = 2
        /// Neither.
        case noInputNoOutput = 3
        /// It shows six digits, and takes six digits as well as yes or no.
        case keyboardDisplay = 4
    }

    /// AuthReq, the reserved bits included.
    ///
    /// Core 6.0, Vol 3, Part H, 3.5.1, figure 3.3.
    public struct Authentication: OptionSet, Hashable, Sendable {
        /// The byte.
        public let rawValue: UInt8

        /// The requirements of a byte.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Bonding.
        public static let bonding = Authentication(rawValue: 0x01)
        /// MITM: a stranger in the middle has to be kept out.
        public static let mitmProtection = Authentication(rawValue: 0x04)
        /// SC: the device knows LE Secure Connections.
        public static let secureConnections = Authentication(rawValue: 0x08)
        /// Keypress notifications.
        public static let keypress = Authentication(rawValue: 0x10)
        /// CT2: the device knows the function h7.
        public static let ct2 = Authentication(rawValue: 0x20)
    }

    /// The keys that one of the devices distributes, the reserved bits included.
    ///
    /// Core 6.0, Vol 3, Part H, 3.6.1.
    public struct Keys: OptionSet, Hashable, Sendable {
        /// The byte.
        public let rawValue: UInt8

        /// The keys of a byte.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// EncKey: long term key, EDIV and Rand; without meaning for LE Secure Connections.
        public static let encryption = Keys(rawValue: 0x01)
        /// IdKey: identity resolving key and identity address.
        public static let identity = Keys(rawValue: 0x02)
        /// SignKey: connection signature resolving key.
        public static let signing = Keys(rawValue: 0x04)
        /// LinkKey: a key for BR/EDR, derived from the one of LE.
        public static let link = Keys(rawValue: 0x08)
    }

    /// IO Capability.
    public var ioCapability: IOCapability
    /// OOB data flag: the device has received the other's data by another way than the radio.
    public var hasOutOfBandData: Bool
    /// AuthReq.
    public var authentication: Authentication
    /// Maximum Encryption Key Size, 7 … 16 bytes.
    public var maximumKeySize: UInt8
    /// Initiator Key Distribution.
    public var initiatorKeys: Keys
    /// Responder Key Distribution.
    public var responderKeys: Keys

    /// The sizes that a key may have, in bytes.
    ///
    /// Core 6.0, Vol 3, Part H, 2.3.4.
    public static let keySizes: ClosedRange<UInt8> = 7...16

    /// Features from their fields.
    public init(
        ioCapability: IOCapability,
        hasOutOfBandData: Bool = false,
        authentication: Authentication,
        maximumKeySize: UInt8 = 16,
        initiatorKeys: Keys,
        responderKeys: Keys
    ) {
        self.ioCapability = ioCapability
        self.hasOutOfBandData = hasOutOfBandData
        self.authentication = authentication
        self.maximumKeySize = maximumKeySize
        self.initiatorKeys = initiatorKeys
        self.responderKeys = responderKeys
    }

    /// Reads the six bytes behind the code; a value that is reserved for future use is refused.
    init(from reader: inout ByteReader) throws(DecodingError) {
        let io = try reader.readUInt8("IO Capability")
        guard let ioCapability = IOCapability(rawValue: io) else {
            throw reader.error("IO Capability", .invalidValue(UInt64(io)))
        }
        let flag = try reader.readUInt8("OOB data flag")
        guard flag <= 1 else { throw reader.error("OOB data flag", .invalidValue(UInt64(flag))) }
        let authentication = Authentication(rawValue: try reader.readUInt8("AuthReq"))
        let size = try reader.readUInt8("Maximum Encryption Key Size")
        guard Self.keySizes.contains(size) else {
            throw reader.error("Maximum Encryption Key Size", .invalidValue(UInt64(size)))
        }
        self.init(
            ioCapability: ioCapability,
            hasOutOfBandData: flag == 1,
            authentication: authentication,
            maximumKeySize: size,
            initiatorKeys: Keys(rawValue: try reader.readUInt8("Initiator Key Distribution")),
            responderKeys: Keys(rawValue: try reader.readUInt8("Responder Key Distribution"))
        )
    }

    /// The six bytes behind the code.
    var encoded: [UInt8] {
        [
            ioCapability.rawValue, hasOutOfBandData ? 1 : 0, authentication.rawValue, maximumKeySize,
            initiatorKeys.rawValue, responderKeys.rawValue,
        ]
    }
}
