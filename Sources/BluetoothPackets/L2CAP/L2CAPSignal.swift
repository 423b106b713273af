// SPDX-License-Identifier: GPL-2.0-or-later

/// Command on the signalling channel of an LE connection (Core 6.0, Vol 3, Part A, 4).
public enum L2CAPSignal: Hashable, Sendable {
    /// Command Reject Response (0x01, 4.1), with the data that its reason requires.
    case commandReject(identifier: UInt8, reason: RejectReason, data: [UInt8])
    /// Disconnection Request (0x06, 4.6), which closes a channel but not the connection.
    case disconnectionRequest(identifier: UInt8, destination: L2CAPChannel, source: L2CAPChannel)
    /// Disconnection Response (0x07, 4.7).
    case disconnectionResponse(identifier: UInt8, destination: L2CAPChannel, source: L2CAPChannel)
    /// Connection Parameter Update Request (0x12, 4.20), sent by the peripheral to the central.
    case connectionParameterUpdateRequest(identifier: UInt8, ConnectionParameters)
    /// Connection Parameter Update Response (0x13, 4.21).
    case connectionParameterUpdateResponse(identifier: UInt8, isAccepted: Bool)
    /// LE Credit Based Connection Request (0x14, 4.22).
    case leCreditBasedConnectionRequest(identifier: UInt8, spsm: UInt16, source: L2CAPChannel)
    /// LE Credit Based Connection Response (0x15, 4.23) that refuses the channel.
    case leCreditBasedConnectionRefusal(identifier: UInt8, CreditRefusal)
    /// L2CAP Credit Based Connection Request (0x17, 4.25).
    case creditBasedConnectionRequest(identifier: UInt8, spsm: UInt16, sources: [L2CAPChannel])
    /// L2CAP Credit Based Connection Response (0x18, 4.26) that refuses all channels.
    case creditBasedConnectionRefusal(identifier: UInt8, CreditRefusal)
    case other(code: UInt8, identifier: UInt8)

    /// Reason why a command was rejected.
    public struct RejectReason: RawRepresentable, Hashable, Sendable {
        /// Reason code.
        public let rawValue: UInt16

        /// Creates a reason from its code.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// The receiver does not support the command.
        public static let notUnderstood = RejectReason(rawValue: 0x0000)
        /// The channel does not exist; the data contains its two identifiers.
        public static let invalidChannel = RejectReason(rawValue: 0x0002)
    }

    /// Reason why a credit based channel was refused.
    public struct CreditRefusal: RawRepresentable, Hashable, Sendable {
        /// Result code.
        public let rawValue: UInt16

        /// Creates a reason from its result code.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// The SPSM is not supported.
        public static let spsmNotSupported = CreditRefusal(rawValue: 0x0002)
    }

    /// Command codes (Core 6.0, Vol 3, Part A, 4, table 4.2).
    private enum Code {
        static let commandReject: UInt8 = 0x01
        static let disconnectionRequest: UInt8 = 0x06
        static let disconnectionResponse: UInt8 = 0x07
        static let parameterUpdateRequest: UInt8 = 0x12
        static let parameterUpdateResponse: UInt8 = 0x13
        static let leCreditRequest: UInt8 = 0x14
        static let leCreditResponse: UInt8 = 0x15
        static let creditRequest: UInt8 = 0x17
        static let creditResponse: UInt8 = 0x18
    }

    /// Codes of responses, which themselves are never answered.
    private static let responses: Set<UInt8> = [
        0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x15, 0x18, 0x1A,
    ]
    /// Maximum number of channels in one L2CAP Credit Based Connection Request.
    private static let maximumChannels = 5

    /// Identifier that a request and its response have in common; never 0.
    public var identifier: UInt8 {
        switch self {
        case .commandReject(let identifier, _, _), .disconnectionRequest(let identifier, _, _),
            .disconnectionResponse(let identifier, _, _), .connectionParameterUpdateRequest(let identifier, _),
            .connectionParameterUpdateResponse(let identifier, _),
            .leCreditBasedConnectionRequest(let identifier, _, _), .leCreditBasedConnectionRefusal(let identifier, _),
            .creditBasedConnectionRequest(let identifier, _, _), .creditBasedConnectionRefusal(let identifier, _),
            .other(_, let identifier):
            identifier
        }
    }

    /// True if the command is a response.
    public var isResponse: Bool {
        switch self {
        case .commandReject, .disconnectionResponse, .connectionParameterUpdateResponse,
            .leCreditBasedConnectionRefusal, .creditBasedConnectionRefusal:
            true
        case .other(let code, _): Self.responses.contains(code)
        default: false
        }
    }

    /// Parses the payload of a signalling frame, which contains only one command on LE.
    public init(_ payload: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(payload, packet: "L2CAP Signalling")
        let code = try reader.readUInt8("Code")
        let identifier = try reader.readUInt8("Identifier")
        guard identifier != 0 else { throw reader.error("Identifier", .invalidValue(0)) }
        let length = Int(try reader.readUInt16("Data Length"))
        guard length == reader.remaining else { throw reader.error("Data Length", .invalidLength(length)) }
        switch code {
        case Code.commandReject:
            let reason = RejectReason(rawValue: try reader.readUInt16("Reason"))
            let data = [UInt8](copying: reader.readRest())
            self = .commandReject(identifier: identifier, reason: reason, data: data)
        case Code.disconnectionRequest, Code.disconnectionResponse:
            let destination = L2CAPChannel(rawValue: try reader.readUInt16("Destination CID"))
            let source = L2CAPChannel(rawValue: try reader.readUInt16("Source CID"))
            self =
                code == Code.disconnectionRequest
                ? .disconnectionRequest(identifier: identifier, destination: destination, source: source)
                : .disconnectionResponse(identifier: identifier, destination: destination, source: source)
        case Code.parameterUpdateRequest:
            let parameters = try ConnectionParameters(from: &reader)
            self = .connectionParameterUpdateRequest(identifier: identifier, parameters)
        case Code.parameterUpdateResponse:
            let result = try reader.readUInt16("Result")
            self = .connectionParameterUpdateResponse(identifier: identifier, isAccepted: result == 0)
        case Code.leCreditRequest:
            let spsm = try reader.readUInt16("SPSM")
            let source = L2CAPChannel(rawValue: try reader.readUInt16("Source CID"))
            for field in ["MTU", "MPS", "Initial Credits"] { _ = try reader.readUInt16(field) }
            self = .leCreditBasedConnectionRequest(identifier: identifier, spsm: spsm, source: source)
        case Code.creditRequest:
            let spsm = try reader.readUInt16("SPSM")
            for field in ["MTU", "MPS", "Initial Credits"] { _ = try reader.readUInt16(field) }
            var sources: [L2CAPChannel] = []
            while !reader.isAtEnd {
                guard sources.count < Self.maximumChannels else {
                    throw reader.error("Source CID", .trailing(count: reader.remaining))
                }
                sources.append(L2CAPChannel(rawValue: try reader.readUInt16("Source CID")))
            }
            self = .creditBasedConnectionRequest(identifier: identifier, spsm: spsm, sources: sources)
        default:
            _ = reader.readRest()
            self = .other(code: code, identifier: identifier)
        }
        try reader.expectEnd()
    }

    /// The command in encoded form, without the L2CAP header.
    public var encoded: [UInt8] {
        var data = ByteWriter()
        let code: UInt8
        switch self {
        case .commandReject(_, let reason, let bytes):
            code = Code.commandReject
            data.write(reason.rawValue)
            data.write(bytes)
        case .disconnectionRequest(_, let destination, let source):
            code = Code.disconnectionRequest
            data.write(destination.rawValue)
            data.write(source.rawValue)
        case .disconnectionResponse(_, let destination, let source):
            code = Code.disconnectionResponse
            data.write(destination.rawValue)
            data.write(source.rawValue)
        case .connectionParameterUpdateRequest(_, let parameters):
            code = Code.parameterUpdateRequest
            parameters.write(to: &data)
        case .connectionParameterUpdateResponse(_, let isAccepted):
            code = Code.parameterUpdateResponse
            data.write(UInt16(isAccepted ? 0 : 1))
        case .leCreditBasedConnectionRequest(_, let spsm, let source):
            code = Code.leCreditRequest
            data.write(spsm)
            data.write(source.rawValue)
            Self.writeLeast(to: &data)
        case .leCreditBasedConnectionRefusal(_, let result):
            code = Code.leCreditResponse
            // Destination CID, MTU, MPS and credits are not used in a refusal.
            for _ in 0..<4 { data.write(UInt16(0)) }
            data.write(result.rawValue)
        case .creditBasedConnectionRequest(_, let spsm, let sources):
            code = Code.creditRequest
            data.write(spsm)
            Self.writeLeast(to: &data)
            for source in sources { data.write(source.rawValue) }
        case .creditBasedConnectionRefusal(_, let result):
            code = Code.creditResponse
            // MTU, MPS and credits are not used in a refusal; no channels follow the result.
            for _ in 0..<3 { data.write(UInt16(0)) }
            data.write(result.rawValue)
        case .other(let other, _): code = other
        }
        var writer = ByteWriter()
        writer.write(code)
        writer.write(identifier)
        writer.write(UInt16(truncatingIfNeeded: data.bytes.count))
        writer.write(data.bytes)
        return writer.bytes
    }

    /// Writes the minimum values of MTU and MPS, and one credit.
    private static func writeLeast(to writer: inout ByteWriter) {
        writer.write(UInt16(64))
        writer.write(UInt16(64))
        writer.write(UInt16(1))
    }
}

/// Channel of a connection (Core 6.0, Vol 3, Part A, 2.1).
public struct L2CAPChannel: RawRepresentable, Hashable, Sendable {
    /// Channel identifier (CID).
    public let rawValue: UInt16

    /// Creates a channel from its identifier.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Channel of the Attribute Protocol.
    public static let attribute = L2CAPChannel(rawValue: 0x0004)
    /// Signalling channel of L2CAP on LE connections.
    public static let signalling = L2CAPChannel(rawValue: 0x0005)
    /// Channel of the Security Manager Protocol.
    public static let securityManager = L2CAPChannel(rawValue: 0x0006)
}

/// View of a basic L2CAP frame (Core 6.0, Vol 3, Part A, 3.1).
public struct L2CAPFrame: ~Escapable {
    /// Channel of the frame.
    public let channel: L2CAPChannel
    /// Payload of the frame.
    public let payload: Span<UInt8>

    /// Length of the header, in bytes.
    public static let headerLength = 4
    /// Maximum payload length, in bytes; the length field has 16 bits.
    public static let maximumPayloadLength = Int(UInt16.max)

    /// Parses a complete frame; its length field must equal the number of bytes after the channel.
    @_lifetime(copy frame)
    public init(_ frame: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(frame, packet: "L2CAP Basic Frame")
        let length = Int(try reader.readUInt16("PDU Length"))
        channel = L2CAPChannel(rawValue: try reader.readUInt16("Channel ID"))
        payload = try reader.readSpan(count: length, "Information Payload")
        try reader.expectEnd()
    }

    /// Returns a frame in encoded form, or nil if the payload is too long.
    public static func encoded(_ channel: L2CAPChannel, _ payload: [UInt8]) -> [UInt8]? {
        guard payload.count <= maximumPayloadLength else { return nil }
        var writer = ByteWriter(reservingCapacity: headerLength &+ payload.count)
        writer.write(UInt16(truncatingIfNeeded: payload.count))
        writer.write(channel.rawValue)
        writer.write(payload)
        return writer.bytes
    }
}
