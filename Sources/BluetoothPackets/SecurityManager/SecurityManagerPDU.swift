// SPDX-License-Identifier: GPL-2.0-or-later

/// A PDU of the Security Manager Protocol, as far as a device that does not pair must know it.
///
/// Core 6.0, Vol 3, Part H, 3.
public enum SecurityManagerPDU: Hashable, Sendable {
    /// Pairing Request (0x01, 3.5.1): the central wants to pair.
    case pairingRequest(PairingFeatures)
    /// Pairing Failed (0x05, 3.5.5).
    case pairingFailed(PairingFailure)
    /// Security Request (0x0B, 3.6.7): the peripheral wants the central to pair or to encrypt.
    case securityRequest(authentication: UInt8)
    /// Any other PDU.
    case other(code: UInt8)

    /// The features that a device offers for pairing.
    ///
    /// Core 6.0, Vol 3, Part H, 3.5.1.
    public struct PairingFeatures: Hashable, Sendable {
        /// IO Capability: 0x03 is NoInputNoOutput.
        public var ioCapability: UInt8
        /// OOB data flag.
        public var outOfBand: UInt8
        /// AuthReq.
        public var authentication: UInt8
        /// Maximum Encryption Key Size, 7 … 16.
        public var maximumKeySize: UInt8
        /// Initiator Key Distribution.
        public var initiatorKeys: UInt8
        /// Responder Key Distribution.
        public var responderKeys: UInt8

        /// Features from their fields.
        public init(
            ioCapability: UInt8,
            outOfBand: UInt8,
            authentication: UInt8,
            maximumKeySize: UInt8,
            initiatorKeys: UInt8,
            responderKeys: UInt8
        ) {
            self.ioCapability = ioCapability
            self.outOfBand = outOfBand
            self.authentication = authentication
            self.maximumKeySize = maximumKeySize
            self.initiatorKeys = initiatorKeys
            self.responderKeys = responderKeys
        }
    }

    /// The reason why pairing failed.
    ///
    /// Core 6.0, Vol 3, Part H, 3.5.5, table 3.7.
    public struct PairingFailure: RawRepresentable, Hashable, Sendable {
        /// The code.
        public let rawValue: UInt8

        /// A reason from its code.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The device does not pair.
        public static let pairingNotSupported = PairingFailure(rawValue: 0x05)
        /// The device does not know the command.
        public static let commandNotSupported = PairingFailure(rawValue: 0x07)
    }

    private enum Code {
        static let pairingRequest: UInt8 = 0x01
        static let pairingFailed: UInt8 = 0x05
        static let securityRequest: UInt8 = 0x0B
    }

    /// Reads a frame of the Security Manager's channel.
    public init(_ payload: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(payload, packet: "SMP")
        let code = try reader.readUInt8("Code")
        switch code {
        case Code.pairingRequest:
            let fields = try reader.readSpan(count: 6, "Pairing Request")
            self = .pairingRequest(
                PairingFeatures(
                    ioCapability: fields[0],
                    outOfBand: fields[1],
                    authentication: fields[2],
                    maximumKeySize: fields[3],
                    initiatorKeys: fields[4],
                    responderKeys: fields[5]
                )
            )
        case Code.pairingFailed:
            self = .pairingFailed(PairingFailure(rawValue: try reader.readUInt8("Reason")))
        case Code.securityRequest:
            self = .securityRequest(authentication: try reader.readUInt8("AuthReq"))
        default:
            _ = reader.readRest()
            self = .other(code: code)
        }
        try reader.expectEnd()
    }

    /// The PDU's bytes; of any other only its code.
    public var encoded: [UInt8] {
        switch self {
        case .pairingRequest(let features):
            [
                Code.pairingRequest, features.ioCapability, features.outOfBand, features.authentication,
                features.maximumKeySize, features.initiatorKeys, features.responderKeys,
            ]
        case .pairingFailed(let failure): [Code.pairingFailed, failure.rawValue]
        case .securityRequest(let authentication): [Code.securityRequest, authentication]
        case .other(let code): [code]
        }
    }
}
