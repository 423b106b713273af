// SPDX-License-Identifier: GPL-2.0-or-later

/// PDU of the Attribute Protocol, with one case for each opcode.
///
/// Parsing checks only the layout; the caller must check the order of handles and the MTU. Core 6.0, Vol 3, Part F,
/// 3.4.
public enum ATTPDU: Equatable, Sendable {
    /// Rejects a request (Core 6.0, Vol 3, Part F, 3.4.1.1).
    case errorResponse(request: ATTOpcode, handle: AttributeHandle, error: ATTError)

    /// Reports the largest MTU that the client can receive (Core 6.0, Vol 3, Part F, 3.4.2.1).
    case exchangeMTURequest(clientReceiveMTU: UInt16)
    /// Reports the largest MTU that the server can receive (Core 6.0, Vol 3, Part F, 3.4.2.2).
    case exchangeMTUResponse(serverReceiveMTU: UInt16)

    /// Requests the types of all attributes in a range (Core 6.0, Vol 3, Part F, 3.4.3.1).
    case findInformationRequest(AttributeHandleRange)
    /// Returns the handles and types of one or more attributes (Core 6.0, Vol 3, Part F, 3.4.3.2).
    case findInformationResponse(format: InformationFormat, [Information])
    /// Requests the attributes that have the given 16-bit type and value (Core 6.0, Vol 3, Part F, 3.4.3.3).
    case findByTypeValueRequest(AttributeHandleRange, type: UInt16, value: [UInt8])
    /// Returns one or more attributes, each with the end of its group (Core 6.0, Vol 3, Part F, 3.4.3.4).
    case findByTypeValueResponse([AttributeHandleRange])

    /// Requests the values of the attributes with the given type (Core 6.0, Vol 3, Part F, 3.4.4.1).
    case readByTypeRequest(AttributeHandleRange, type: BluetoothUUID)
    /// Returns one or more handles with their values, which all have the same length (Core 6.0, Vol 3, Part F,
    /// 3.4.4.2).
    case readByTypeResponse([HandleValue])
    /// Requests a value (Core 6.0, Vol 3, Part F, 3.4.4.3).
    case readRequest(AttributeHandle)
    /// Returns the value, truncated to what fits in the PDU (Core 6.0, Vol 3, Part F, 3.4.4.4).
    case readResponse(value: [UInt8])
    /// Requests the part of a value that starts at `offset` (Core 6.0, Vol 3, Part F, 3.4.4.5).
    case readBlobRequest(AttributeHandle, offset: UInt16)
    /// Returns the part of the value, truncated to what fits in the PDU (Core 6.0, Vol 3, Part F, 3.4.4.6).
    case readBlobResponse(value: [UInt8])
    /// Requests two or more values of known length (Core 6.0, Vol 3, Part F, 3.4.4.7).
    case readMultipleRequest([AttributeHandle])
    /// Returns the concatenated values (Core 6.0, Vol 3, Part F, 3.4.4.8).
    case readMultipleResponse(values: [UInt8])
    /// Requests the values of the attributes with the given grouping type (Core 6.0, Vol 3, Part F, 3.4.4.9).
    case readByGroupTypeRequest(AttributeHandleRange, type: BluetoothUUID)
    /// Returns one or more groups with their values, which all have the same length (Core 6.0, Vol 3, Part F,
    /// 3.4.4.10).
    case readByGroupTypeResponse([GroupValue])
    /// Requests two or more values of any length (Core 6.0, Vol 3, Part F, 3.4.4.11).
    case readMultipleVariableRequest([AttributeHandle])
    /// Returns two or more values with their lengths (Core 6.0, Vol 3, Part F, 3.4.4.12).
    case readMultipleVariableResponse([LengthValue])

    /// Requests that the server write a value (Core 6.0, Vol 3, Part F, 3.4.5.1).
    case writeRequest(AttributeHandle, value: [UInt8])
    /// Confirms that the value was written (Core 6.0, Vol 3, Part F, 3.4.5.2).
    case writeResponse
    /// Writes a value without a response (Core 6.0, Vol 3, Part F, 3.4.5.3).
    case writeCommand(AttributeHandle, value: [UInt8])
    /// Writes a value with a 12-byte signature and without a response (Core 6.0, Vol 3, Part F, 3.4.5.4).
    case signedWriteCommand(AttributeHandle, value: [UInt8], signature: [UInt8])

    /// Requests that the server queue a part of a value until the write is executed (Core 6.0, Vol 3, Part F, 3.4.6.1).
    case prepareWriteRequest(AttributeHandle, offset: UInt16, value: [UInt8])
    /// Echoes the part that the server has received (Core 6.0, Vol 3, Part F, 3.4.6.2).
    case prepareWriteResponse(AttributeHandle, offset: UInt16, value: [UInt8])
    /// Requests that the server execute or cancel the prepared writes (Core 6.0, Vol 3, Part F, 3.4.6.3).
    case executeWriteRequest(ExecuteFlags)
    /// Confirms that the prepared writes were executed or cancelled (Core 6.0, Vol 3, Part F, 3.4.6.4).
    case executeWriteResponse

    /// Notifies the client of a value (Core 6.0, Vol 3, Part F, 3.4.7.1).
    case handleValueNotification(AttributeHandle, value: [UInt8])
    /// Indicates a value, which the client must confirm (Core 6.0, Vol 3, Part F, 3.4.7.2).
    case handleValueIndication(AttributeHandle, value: [UInt8])
    /// Confirms an indication (Core 6.0, Vol 3, Part F, 3.4.7.3).
    case handleValueConfirmation
    /// Notifies the client of two or more values (Core 6.0, Vol 3, Part F, 3.4.7.4).
    case multipleHandleValueNotification([HandleValue])

    /// Format of the attribute types in a Find Information Response (Core 6.0, Vol 3, Part F, 3.4.3.2).
    public enum InformationFormat: UInt8, Sendable, CaseIterable {
        /// The types are 16-bit UUIDs.
        case uuid16 = 0x01
        /// The types are 128-bit UUIDs.
        case uuid128 = 0x02

        /// Length of one UUID, in bytes.
        public var uuidByteCount: Int { self == .uuid16 ? 2 : 16 }
    }

    /// Handle and type of an attribute.
    public struct Information: Hashable, Sendable {
        /// Handle of the attribute.
        public var handle: AttributeHandle
        /// Type of the attribute.
        public var type: BluetoothUUID

        /// Creates an item from a handle and a type.
        public init(handle: AttributeHandle, type: BluetoothUUID) {
            self.handle = handle
            self.type = type
        }
    }

    /// Handle and value of an attribute.
    public struct HandleValue: Hashable, Sendable {
        /// Handle of the attribute.
        public var handle: AttributeHandle
        /// Value of the attribute, possibly truncated: a Read By Type Response has room for 0 to 253 bytes.
        public var value: [UInt8]

        /// Creates an item from a handle and a value.
        public init(handle: AttributeHandle, value: [UInt8]) {
            self.handle = handle
            self.value = value
        }
    }

    /// Handles of a group and the value of its first attribute.
    public struct GroupValue: Hashable, Sendable {
        /// Range from the attribute that declares the group to the group's last attribute.
        public var range: AttributeHandleRange
        /// Value of the declaring attribute, possibly truncated: there is room for 0 to 251 bytes.
        public var value: [UInt8]

        /// Creates an item from a group's handles and its value.
        public init(range: AttributeHandleRange, value: [UInt8]) {
            self.range = range
            self.value = value
        }
    }

    /// Value with its length on the server; the last value in a response may be truncated.
    public struct LengthValue: Hashable, Sendable {
        /// Length of the value on the server, in bytes.
        public var length: UInt16
        /// Bytes of the value in this response; fewer than `length` if the value is truncated.
        public var value: [UInt8]

        /// Creates an item from a length and a value.
        public init(length: UInt16, value: [UInt8]) {
            self.length = length
            self.value = value
        }
    }

    /// Action to perform on the prepared writes: execute or cancel (Core 6.0, Vol 3, Part F, 3.4.6.3).
    public enum ExecuteFlags: UInt8, Sendable, CaseIterable {
        case cancel = 0x00
        /// Write all prepared values in the order in which they were received.
        case write = 0x01
    }

    /// Length of an authentication signature, in bytes (Core 6.0, Vol 3, Part F, 3.3.1).
    public static let signatureByteCount = 12

    /// Handle of the first attribute that the PDU names; nil if it does not name one.
    public var attribute: AttributeHandle? {
        switch self {
        case .errorResponse(_, let handle, _), .readRequest(let handle), .readBlobRequest(let handle, _),
            .writeRequest(let handle, _), .writeCommand(let handle, _), .signedWriteCommand(let handle, _, _),
            .prepareWriteRequest(let handle, _, _), .prepareWriteResponse(let handle, _, _),
            .handleValueNotification(let handle, _), .handleValueIndication(let handle, _):
            handle
        case .findInformationRequest(let range), .findByTypeValueRequest(let range, _, _),
            .readByTypeRequest(let range, _), .readByGroupTypeRequest(let range, _):
            range.start
        case .findInformationResponse(_, let items): items.first?.handle
        case .findByTypeValueResponse(let ranges): ranges.first?.start
        case .readByTypeResponse(let items), .multipleHandleValueNotification(let items): items.first?.handle
        case .readByGroupTypeResponse(let groups): groups.first?.range.start
        case .readMultipleRequest(let handles), .readMultipleVariableRequest(let handles): handles.first
        case .exchangeMTURequest, .exchangeMTUResponse, .readResponse, .readBlobResponse, .readMultipleResponse,
            .readMultipleVariableResponse, .writeResponse, .executeWriteRequest, .executeWriteResponse,
            .handleValueConfirmation:
            nil
        }
    }

    /// Attribute value, or part of a value, that the PDU contains; nil unless it contains exactly one.
    public var attributeValue: [UInt8]? {
        switch self {
        case .findByTypeValueRequest(_, _, let value), .readResponse(let value), .readBlobResponse(let value),
            .writeRequest(_, let value), .writeCommand(_, let value), .signedWriteCommand(_, let value, _),
            .prepareWriteRequest(_, _, let value), .prepareWriteResponse(_, _, let value),
            .handleValueNotification(_, let value), .handleValueIndication(_, let value):
            value
        default: nil
        }
    }
}

/// Parsers for responses that consist of a list: one or more items of equal length, which fill the PDU.
extension ATTPDU {
    @_lifetime(reader: copy reader)
    static func findInformationResponse(_ reader: inout ByteReader) throws(DecodingError) -> ATTPDU {
        let start = reader.error("Format", .truncated(needed: 1, available: 0))
        let byte = try reader.readUInt8("Format")
        guard let format = InformationFormat(rawValue: byte) else {
            throw DecodingError(
                packet: start.packet,
                field: start.field,
                offset: start.offset,
                reason: .invalidValue(UInt64(byte))
            )
        }
        let field = "Information Data"
        try reader.requireItems(ofLength: 2 &+ format.uuidByteCount, field)
        var items: [Information] = []
        while !reader.isAtEnd {
            let handle = try reader.readHandle(field)
            let type = try reader.readUUID(byteCount: format.uuidByteCount, field)
            items.append(Information(handle: handle, type: type))
        }
        return .findInformationResponse(format: format, items)
    }

    @_lifetime(reader: copy reader)
    static func findByTypeValueResponse(_ reader: inout ByteReader) throws(DecodingError) -> ATTPDU {
        let field = "Handles Information List"
        try reader.requireItems(ofLength: 4, field)
        var items: [AttributeHandleRange] = []
        while !reader.isAtEnd {
            let start = try reader.readHandle(field)
            items.append(AttributeHandleRange(start: start, end: try reader.readHandle(field)))
        }
        return .findByTypeValueResponse(items)
    }

    @_lifetime(reader: copy reader)
    static func readByTypeResponse(_ reader: inout ByteReader) throws(DecodingError) -> ATTPDU {
        let length = try reader.readItemLength(atLeast: 2)
        let field = "Attribute Data List"
        try reader.requireItems(ofLength: length, field)
        var items: [HandleValue] = []
        while !reader.isAtEnd {
            let handle = try reader.readHandle(field)
            items.append(HandleValue(handle: handle, value: try reader.readBytes(count: length &- 2, field)))
        }
        return .readByTypeResponse(items)
    }

    @_lifetime(reader: copy reader)
    static func readByGroupTypeResponse(_ reader: inout ByteReader) throws(DecodingError) -> ATTPDU {
        let length = try reader.readItemLength(atLeast: 4)
        let field = "Attribute Data List"
        try reader.requireItems(ofLength: length, field)
        var items: [GroupValue] = []
        while !reader.isAtEnd {
            let start = try reader.readHandle(field)
            let range = AttributeHandleRange(start: start, end: try reader.readHandle(field))
            items.append(GroupValue(range: range, value: try reader.readBytes(count: length &- 4, field)))
        }
        return .readByGroupTypeResponse(items)
    }

    /// Reads two or more lengths with their values; only the last value may be shorter than its length.
    @_lifetime(reader: copy reader)
    static func readMultipleVariableResponse(_ reader: inout ByteReader) throws(DecodingError) -> ATTPDU {
        let field = "Length Value Tuple List"
        var items: [LengthValue] = []
        while !reader.isAtEnd || items.count < 2 {
            let length = try reader.readUInt16(field)
            let count = min(Int(length), reader.remaining)
            items.append(LengthValue(length: length, value: try reader.readBytes(count: count, field)))
        }
        return .readMultipleVariableResponse(items)
    }

    /// Reads two or more handles with lengths and values; none of the values may be truncated.
    @_lifetime(reader: copy reader)
    static func multipleHandleValueNotification(_ reader: inout ByteReader) throws(DecodingError) -> ATTPDU {
        let field = "Handle Length Value Tuple List"
        var items: [HandleValue] = []
        while !reader.isAtEnd || items.count < 2 {
            let handle = try reader.readHandle(field)
            let length = try reader.readUInt16(field)
            items.append(HandleValue(handle: handle, value: try reader.readBytes(count: Int(length), field)))
        }
        return .multipleHandleValueNotification(items)
    }
}

extension ByteReader {
    /// Reads the length of the list's items; throws an error if an item of that length cannot contain its handles.
    @_lifetime(self: copy self)
    fileprivate mutating func readItemLength(atLeast minimum: Int) throws(DecodingError) -> Int {
        let field = "Length"
        let position = offset
        let length = Int(try readUInt8(field))
        guard length >= minimum else {
            var refusal = error(field, .invalidLength(length))
            refusal.offset = position
            throw refusal
        }
        return length
    }

    /// Throws an error unless the remaining bytes consist of one or more complete items.
    fileprivate func requireItems(ofLength length: Int, _ field: String) throws(DecodingError) {
        guard length > 0, remaining >= length else {
            throw error(field, .truncated(needed: length, available: remaining))
        }
        guard remaining % length == 0 else { throw error(field, .invalidLength(remaining)) }
    }
}
