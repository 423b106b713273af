// SPDX-License-Identifier: GPL-2.0-or-later

/// A PDU of the Security Manager Protocol.
///
/// Numbers of 128 bits are numbers here: on the air their least significant byte comes first.
///
/// Core 6.0, Vol 3, Part H, 3.
public enum SecurityManagerPDU: Hashable, Sendable {
    /// Pairing Request (0x01, 3.5.1): the central wants to pair.
    case pairingRequest(PairingFeatures)
    /// Pairing Response (0x02, 3.5.2): the peripheral's features.
    case pairingResponse(PairingFeatures)
    /// Pairing Confirm (0x03, 3.5.3).
    case pairingConfirm(UInt128)
    /// Pairing Random (0x04, 3.5.4): the number that was confirmed before.
    case pairingRandom(UInt128)
    /// Pairing Failed (0x05, 3.5.5).
    case pairingFailed(PairingFailure)
    /// Encryption Information (0x06, 3.6.2): a long term key.
    case encryptionInformation(UInt128)
    /// Central Identification (0x07, 3.6.3): EDIV and Rand, which name a long term key.
    case centralIdentification(diversifier: UInt16, random: UInt64)
    /// Identity Information (0x08, 3.6.4): an identity resolving key.
    case identityInformation(UInt128)
    /// Identity Address Information (0x09, 3.6.5): a public or static random address.
    case identityAddressInformation(DeviceAddress)
    /// Signing Information (0x0A, 3.6.6): a connection signature resolving key.
    case signingInformation(UInt128)
    /// Security Request (0x0B, 3.6.7): the peripheral wants the central to pair or to encrypt.
    case securityRequest(PairingFeatures.Authentication)
    /// Pairing Public Key (0x0C, 3.5.6): the coordinates of a point, 32 bytes each, the most significant first.
    case pairingPublicKey(x: [UInt8], y: [UInt8])
    /// Pairing DHKey Check (0x0D, 3.5.7).
    case pairingDHKeyCheck(UInt128)
    /// Pairing Keypress Notification (0x0E, 3.5.8).
    case pairingKeypressNotification(Keypress)
    /// A PDU whose code is reserved for future use.
    case other(code: UInt8)

    /// A change of a passkey that is being typed.
    ///
    /// Core 6.0, Vol 3, Part H, 3.5.8, table 3.9.
    public enum Keypress: UInt8, Hashable, Sendable, CaseIterable {
        /// Passkey entry started.
        case started = 0
        /// Passkey digit entered.
        case digitEntered = 1
        /// Passkey digit erased.
        case digitErased = 2
        /// Passkey cleared.
        case cleared = 3
        /// Passkey entry completed.
        case completed = 4
    }

    /// The bytes of a coordinate.
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

    /// Reads a frame of the Security Manager's channel; of a reserved code whatever follows.
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

    /// The PDU's bytes; of a reserved code only itself.
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

    /// The code.
    ///
    /// Core 6.0, Vol 3, Part H, 3.3, table 3.3.
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
