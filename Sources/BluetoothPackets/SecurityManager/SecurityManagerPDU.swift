// SPDX-License-Identifier: GPL-2.0-or-later

/// PDU of the Security Manager Protocol.
///
/// 128-bit values are represented as integers; they are sent least significant byte first. Core 6.0, Vol 3, Part H, 3.
public enum SecurityManagerPDU: Hashable, Sendable {
    /// Pairing Request (0x01, 3.5.1), with the central's features.
    case pairingRequest(PairingFeatures)
    /// Pairing Response (0x02, 3.5.2), with the peripheral's features.
    case pairingResponse(PairingFeatures)
    /// Pairing Confirm (0x03, 3.5.3), with a confirm value.
    case pairingConfirm(UInt128)
    /// Pairing Random (0x04, 3.5.4), with the random value from which the confirm value was computed.
    case pairingRandom(UInt128)
    /// Pairing Failed (0x05, 3.5.5).
    case pairingFailed(PairingFailure)
    /// Encryption Information (0x06, 3.6.2), with a long term key.
    case encryptionInformation(UInt128)
    /// Central Identification (0x07, 3.6.3), with the EDIV and Rand that identify a long term key.
    case centralIdentification(diversifier: UInt16, random: UInt64)
    /// Identity Information (0x08, 3.6.4), with an identity resolving key.
    case identityInformation(UInt128)
    /// Identity Address Information (0x09, 3.6.5), with a public or static random address.
    case identityAddressInformation(DeviceAddress)
    /// Signing Information (0x0A, 3.6.6), with a connection signature resolving key.
    case signingInformation(UInt128)
    /// Security Request (0x0B, 3.6.7), with which a peripheral asks the central to pair or to encrypt the link.
    case securityRequest(PairingFeatures.Authentication)
    /// Pairing Public Key (0x0C, 3.5.6), with a point's coordinates of 32 bytes each, most significant byte first.
    case pairingPublicKey(x: [UInt8], y: [UInt8])
    /// Pairing DHKey Check (0x0D, 3.5.7), with a check value.
    case pairingDHKeyCheck(UInt128)
    /// Pairing Keypress Notification (0x0E, 3.5.8), with a keypress of the user.
    case pairingKeypressNotification(Keypress)
    /// PDU whose code is reserved for future use.
    case other(code: UInt8)

    /// Keypress of a user who is entering a passkey (Core 6.0, Vol 3, Part H, 3.5.8, table 3.9).
    public enum Keypress: UInt8, Hashable, Sendable, CaseIterable {
        case started = 0
        case digitEntered = 1
        case digitErased = 2
        case cleared = 3
        case completed = 4
    }

    /// Length of a coordinate, in bytes.
    public static let coordinateLength = 32

    private enum Code {
        static let pairingRequest: UInt8 = 0x01
        static let pairingResponse: UInt8 = 0x02
        static let pairingConfirm: UInt8 = 0x03
        static let pairingRandom: UInt8 = 0x04
        static let pairingFailed: UInt8 = 0x05
        static let encryptionInformation: UInt8 = 0x06
        static let centralIdentification: UInt8 = 0x07
        static let identityInformation: UInt8 = 0x08
        static let identityAddressInformation: UInt8 = 0x09
        static let signingInformation: UInt8 = 0x0A
        static let securityRequest: UInt8 = 0x0B
        static let pairingPublicKey: UInt8 = 0x0C
        static let pairingDHKeyCheck: UInt8 = 0x0D
        static let pairingKeypressNotification: UInt8 = 0x0E
    }

    /// Parses a frame of the Security Manager channel; ignores the bytes that follow a reserved code.
    public init(_ payload: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(payload, packet: "SMP")
        let code = try reader.readUInt8("Code")
        switch code {
        case Code.pairingRequest: self = .pairingRequest(try PairingFeatures(from: &reader))
        case Code.pairingResponse: self = .pairingResponse(try PairingFeatures(from: &reader))
        case Code.pairingConfirm: self = .pairingConfirm(try reader.readUInt128("Confirm Value"))
        case Code.pairingRandom: self = .pairingRandom(try reader.readUInt128("Random Value"))
        case Code.pairingFailed: self = .pairingFailed(PairingFailure(rawValue: try reader.readUInt8("Reason")))
        case Code.encryptionInformation: self = .encryptionInformation(try reader.readUInt128("Long Term Key"))
        case Code.centralIdentification:
            let diversifier = try reader.readUInt16("EDIV")
            self = .centralIdentification(diversifier: diversifier, random: try reader.readUInt64("Rand"))
        case Code.identityInformation: self = .identityInformation(try reader.readUInt128("Identity Resolving Key"))
        case Code.identityAddressInformation:
            let value = try reader.readUInt8("AddrType")
            guard let type = AddressType(rawValue: value) else {
                throw reader.error("AddrType", .invalidValue(UInt64(value)))
            }
            self = .identityAddressInformation(DeviceAddress(try reader.readAddress("BD_ADDR"), type))
        case Code.signingInformation: self = .signingInformation(try reader.readUInt128("Signature Key"))
        case Code.securityRequest:
            self = .securityRequest(PairingFeatures.Authentication(rawValue: try reader.readUInt8("AuthReq")))
        case Code.pairingPublicKey:
            let x = try reader.readBytes(count: Self.coordinateLength, "Public Key X")
            let y = try reader.readBytes(count: Self.coordinateLength, "Public Key Y")
            self = .pairingPublicKey(x: x.reversed(), y: y.reversed())
        case Code.pairingDHKeyCheck: self = .pairingDHKeyCheck(try reader.readUInt128("DHKey Check"))
        case Code.pairingKeypressNotification:
            let value = try reader.readUInt8("Notification Type")
            guard let keypress = Keypress(rawValue: value) else {
                throw reader.error("Notification Type", .invalidValue(UInt64(value)))
            }
            self = .pairingKeypressNotification(keypress)
        default:
            _ = reader.readRest()
            self = .other(code: code)
        }
        try reader.expectEnd()
    }

    /// The PDU in encoded form; if the code is reserved, only the code.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(code)
        switch self {
        case .pairingRequest(let features), .pairingResponse(let features): writer.write(features.encoded)
        case .pairingConfirm(let value), .pairingRandom(let value), .encryptionInformation(let value),
            .identityInformation(let value), .signingInformation(let value), .pairingDHKeyCheck(let value):
            writer.write(value)
        case .pairingFailed(let failure): writer.write(failure.rawValue)
        case .centralIdentification(let diversifier, let random):
            writer.write(diversifier)
            writer.write(random)
        case .identityAddressInformation(let identity):
            writer.write(identity.type.rawValue)
            writer.write(identity.address)
        case .securityRequest(let authentication): writer.write(authentication.rawValue)
        case .pairingPublicKey(let x, let y):
            writer.write(x.reversed())
            writer.write(y.reversed())
        case .pairingKeypressNotification(let keypress): writer.write(keypress.rawValue)
        case .other: break
        }
        return writer.bytes
    }

    /// Code of the PDU (Core 6.0, Vol 3, Part H, 3.3, table 3.3).
    private var code: UInt8 {
        switch self {
        case .pairingRequest: Code.pairingRequest
        case .pairingResponse: Code.pairingResponse
        case .pairingConfirm: Code.pairingConfirm
        case .pairingRandom: Code.pairingRandom
        case .pairingFailed: Code.pairingFailed
        case .encryptionInformation: Code.encryptionInformation
        case .centralIdentification: Code.centralIdentification
        case .identityInformation: Code.identityInformation
        case .identityAddressInformation: Code.identityAddressInformation
        case .signingInformation: Code.signingInformation
        case .securityRequest: Code.securityRequest
        case .pairingPublicKey: Code.pairingPublicKey
        case .pairingDHKeyCheck: Code.pairingDHKeyCheck
        case .pairingKeypressNotification: Code.pairingKeypressNotification
        case .other(let code): code
        }
    }
}

/// Features that a device offers for pairing (Core 6.0, Vol 3, Part H, 3.5.1).
public struct PairingFeatures: Hashable, Sendable {
    /// Input and output capability of a device for pairing (Core 6.0, Vol 3, Part H, 2.3.2 and 3.5.1, table 3.4).
    public enum IOCapability: UInt8, Hashable, Sendable, CaseIterable {
        /// The device can display six digits, but the user cannot enter anything.
        case displayOnly = 0
        /// The device can display six digits, and the user can answer yes or no.
        case displayYesNo = 1
        /// The user can enter six digits, but the device has no display.
        case keyboardOnly = 2
        case noInputNoOutput = 3
        /// The device can display six digits, and the user can enter six digits or answer yes or no.
        case keyboardDisplay = 4
    }

    /// Authentication requirements (AuthReq), including the reserved bits (Core 6.0, Vol 3, Part H, 3.5.1, figure 3.3).
    public struct Authentication: OptionSet, Hashable, Sendable {
        /// Value of the AuthReq byte.
        public let rawValue: UInt8

        /// Creates requirements from the AuthReq byte.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The device wants to store the keys of the pairing (Bonding).
        public static let bonding = Authentication(rawValue: 0x01)
        /// Protection against a man in the middle is required (MITM).
        public static let mitmProtection = Authentication(rawValue: 0x04)
        /// The device supports LE Secure Connections (SC).
        public static let secureConnections = Authentication(rawValue: 0x08)
    }

    /// Set of keys that a device distributes, including the reserved bits (Core 6.0, Vol 3, Part H, 3.6.1).
    public struct Keys: OptionSet, Hashable, Sendable {
        /// Value of the key distribution byte.
        public let rawValue: UInt8

        /// Creates a set of keys from the key distribution byte.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Long term key, EDIV and Rand (EncKey); not meaningful for LE Secure Connections.
        public static let encryption = Keys(rawValue: 0x01)
        /// Identity resolving key and identity address (IdKey).
        public static let identity = Keys(rawValue: 0x02)
        /// Connection signature resolving key (SignKey).
        public static let signing = Keys(rawValue: 0x04)
        /// BR/EDR key that is derived from the LE key (LinkKey).
        public static let link = Keys(rawValue: 0x08)
    }

    /// Input and output capability of the device.
    public var ioCapability: IOCapability
    /// True if the device has received the peer's data out of band (OOB data flag).
    public var hasOutOfBandData: Bool
    /// Authentication requirements of the device (AuthReq).
    public var authentication: Authentication
    /// Maximum encryption key size that the device supports, 7 … 16 bytes.
    public var maximumKeySize: UInt8
    /// Keys that the initiator distributes.
    public var initiatorKeys: Keys
    /// Keys that the responder distributes.
    public var responderKeys: Keys

    /// Range of valid key sizes, in bytes (Core 6.0, Vol 3, Part H, 2.3.4).
    public static let keySizes: ClosedRange<UInt8> = 7...16

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

    /// Reads the six bytes that follow the code; throws an error for reserved values.
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

    /// The features as the six bytes that follow the code.
    var encoded: [UInt8] {
        [
            ioCapability.rawValue, hasOutOfBandData ? 1 : 0, authentication.rawValue, maximumKeySize,
            initiatorKeys.rawValue, responderKeys.rawValue,
        ]
    }
}

/// Reason why a pairing failed (Core 6.0, Vol 3, Part H, 3.5.5, table 3.7).
public struct PairingFailure: RawRepresentable, Error, Hashable, Sendable {
    /// Reason code.
    public let rawValue: UInt8

    /// Creates a reason from its code.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The user did not enter the passkey.
    public static let passkeyEntryFailed = PairingFailure(rawValue: 0x01)
    /// No out-of-band data is available.
    public static let outOfBandNotAvailable = PairingFailure(rawValue: 0x02)
    /// The devices cannot provide the authentication that one of them requires.
    public static let authenticationRequirements = PairingFailure(rawValue: 0x03)
    /// The random value that was received does not match the confirm value.
    public static let confirmValueFailed = PairingFailure(rawValue: 0x04)
    /// The device does not support pairing.
    public static let pairingNotSupported = PairingFailure(rawValue: 0x05)
    /// The key would be too short.
    public static let encryptionKeySize = PairingFailure(rawValue: 0x06)
    /// The device does not support the command.
    public static let commandNotSupported = PairingFailure(rawValue: 0x07)
    /// No other reason fits.
    public static let unspecifiedReason = PairingFailure(rawValue: 0x08)
    /// Too little time has passed since the last attempt.
    public static let repeatedAttempts = PairingFailure(rawValue: 0x09)
    /// A length or a value is outside its range.
    public static let invalidParameters = PairingFailure(rawValue: 0x0A)
    /// The DHKey check value is wrong.
    public static let dhKeyCheckFailed = PairingFailure(rawValue: 0x0B)
    /// The user reported that the numbers differ.
    public static let numericComparisonFailed = PairingFailure(rawValue: 0x0C)
}
