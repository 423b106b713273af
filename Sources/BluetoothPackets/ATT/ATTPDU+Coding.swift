// SPDX-License-Identifier: GPL-2.0-or-later

extension ATTPDU {
    /// Parses the whole of `bytes` as one PDU; throws an error if the layout is invalid or the opcode is unknown.
    public init(_ bytes: Span<UInt8>) throws(DecodingError) {
        guard !bytes.isEmpty else {
            throw DecodingError(
                packet: "ATT PDU",
                field: "Attribute Opcode",
                offset: 0,
                reason: .truncated(needed: 1, available: 0)
            )
        }
        let opcode = ATTOpcode(rawValue: bytes[0])
        guard let name = opcode.name else {
            throw DecodingError(
                packet: "ATT PDU",
                field: "Attribute Opcode",
                offset: 0,
                reason: .unexpectedCode(UInt16(opcode.rawValue))
            )
        }
        var reader = ByteReader(bytes, packet: name)
        _ = try reader.readUInt8("Attribute Opcode")
        if opcode.kind == .response {
            self = try Self.response(opcode, &reader)
        } else {
            self = try Self.other(opcode, &reader)
        }
        try reader.expectEnd()
    }

    @_lifetime(reader: copy reader)
    private static func response(_ opcode: ATTOpcode, _ reader: inout ByteReader) throws(DecodingError) -> ATTPDU {
        switch opcode {
        case .errorResponse:
            let request = ATTOpcode(rawValue: try reader.readUInt8("Request Opcode In Error"))
            let handle = try reader.readHandle("Attribute Handle In Error")
            return .errorResponse(
                request: request,
                handle: handle,
                error: ATTError(rawValue: try reader.readUInt8("Error Code"))
            )
        case .exchangeMTUResponse:
            return .exchangeMTUResponse(serverReceiveMTU: try reader.readUInt16("Server Rx MTU"))
        case .findInformationResponse: return try findInformationResponse(&reader)
        case .findByTypeValueResponse: return try findByTypeValueResponse(&reader)
        case .readByTypeResponse: return try readByTypeResponse(&reader)
        case .readResponse: return .readResponse(value: reader.readRestBytes())
        case .readBlobResponse: return .readBlobResponse(value: reader.readRestBytes())
        case .readMultipleResponse: return .readMultipleResponse(values: reader.readRestBytes())
        case .readByGroupTypeResponse: return try readByGroupTypeResponse(&reader)
        case .writeResponse: return .writeResponse
        case .prepareWriteResponse:
            let handle = try reader.readHandle("Attribute Handle")
            let offset = try reader.readUInt16("Value Offset")
            return .prepareWriteResponse(handle, offset: offset, value: reader.readRestBytes())
        case .executeWriteResponse: return .executeWriteResponse
        case .readMultipleVariableResponse: return try readMultipleVariableResponse(&reader)
        default: throw reader.error("Attribute Opcode", .unexpectedCode(UInt16(opcode.rawValue)))
        }
    }

    @_lifetime(reader: copy reader)
    private static func other(_ opcode: ATTOpcode, _ reader: inout ByteReader) throws(DecodingError) -> ATTPDU {
        switch opcode {
        case .exchangeMTURequest:
            return .exchangeMTURequest(clientReceiveMTU: try reader.readUInt16("Client Rx MTU"))
        case .findInformationRequest: return .findInformationRequest(try reader.readHandleRange())
        case .findByTypeValueRequest:
            let range = try reader.readHandleRange()
            let type = try reader.readUInt16("Attribute Type")
            return .findByTypeValueRequest(range, type: type, value: reader.readRestBytes())
        case .readByTypeRequest:
            let range = try reader.readHandleRange()
            return .readByTypeRequest(
                range,
                type: try reader.readUUID(byteCount: reader.uuidByteCount, "Attribute Type")
            )
        case .readRequest: return .readRequest(try reader.readHandle("Attribute Handle"))
        case .readBlobRequest:
            let handle = try reader.readHandle("Attribute Handle")
            return .readBlobRequest(handle, offset: try reader.readUInt16("Value Offset"))
        case .readMultipleRequest: return .readMultipleRequest(try reader.readSetOfHandles())
        case .readByGroupTypeRequest:
            let range = try reader.readHandleRange()
            return .readByGroupTypeRequest(
                range,
                type: try reader.readUUID(byteCount: reader.uuidByteCount, "Attribute Group Type")
            )
        case .readMultipleVariableRequest: return .readMultipleVariableRequest(try reader.readSetOfHandles())
        case .writeRequest:
            let handle = try reader.readHandle("Attribute Handle")
            return .writeRequest(handle, value: reader.readRestBytes())
        case .writeCommand:
            let handle = try reader.readHandle("Attribute Handle")
            return .writeCommand(handle, value: reader.readRestBytes())
        case .signedWriteCommand:
            let handle = try reader.readHandle("Attribute Handle")
            guard reader.remaining >= signatureByteCount else {
                throw reader.error(
                    "Authentication Signature",
                    .truncated(needed: signatureByteCount, available: reader.remaining)
                )
            }
            let value = try reader.readBytes(count: reader.remaining &- signatureByteCount, "Attribute Value")
            return .signedWriteCommand(handle, value: value, signature: reader.readRestBytes())
        case .prepareWriteRequest:
            let handle = try reader.readHandle("Attribute Handle")
            let offset = try reader.readUInt16("Value Offset")
            return .prepareWriteRequest(handle, offset: offset, value: reader.readRestBytes())
        case .executeWriteRequest:
            let unread = reader.error("Flags", .truncated(needed: 1, available: 0))
            let byte = try reader.readUInt8("Flags")
            guard let flags = ExecuteFlags(rawValue: byte) else {
                throw DecodingError(
                    packet: unread.packet,
                    field: unread.field,
                    offset: unread.offset,
                    reason: .invalidValue(UInt64(byte))
                )
            }
            return .executeWriteRequest(flags)
        case .handleValueNotification:
            let handle = try reader.readHandle("Attribute Handle")
            return .handleValueNotification(handle, value: reader.readRestBytes())
        case .handleValueIndication:
            let handle = try reader.readHandle("Attribute Handle")
            return .handleValueIndication(handle, value: reader.readRestBytes())
        case .handleValueConfirmation: return .handleValueConfirmation
        case .multipleHandleValueNotification: return try multipleHandleValueNotification(&reader)
        default: throw reader.error("Attribute Opcode", .unexpectedCode(UInt16(opcode.rawValue)))
        }
    }

    /// Opcode of the PDU.
    public var opcode: ATTOpcode {
        switch self {
        case .errorResponse: .errorResponse
        case .exchangeMTURequest: .exchangeMTURequest
        case .exchangeMTUResponse: .exchangeMTUResponse
        case .findInformationRequest: .findInformationRequest
        case .findInformationResponse: .findInformationResponse
        case .findByTypeValueRequest: .findByTypeValueRequest
        case .findByTypeValueResponse: .findByTypeValueResponse
        case .readByTypeRequest: .readByTypeRequest
        case .readByTypeResponse: .readByTypeResponse
        case .readRequest: .readRequest
        case .readResponse: .readResponse
        case .readBlobRequest: .readBlobRequest
        case .readBlobResponse: .readBlobResponse
        case .readMultipleRequest: .readMultipleRequest
        case .readMultipleResponse: .readMultipleResponse
        case .readByGroupTypeRequest: .readByGroupTypeRequest
        case .readByGroupTypeResponse: .readByGroupTypeResponse
        case .readMultipleVariableRequest: .readMultipleVariableRequest
        case .readMultipleVariableResponse: .readMultipleVariableResponse
        case .writeRequest: .writeRequest
        case .writeResponse: .writeResponse
        case .writeCommand: .writeCommand
        case .signedWriteCommand: .signedWriteCommand
        case .prepareWriteRequest: .prepareWriteRequest
        case .prepareWriteResponse: .prepareWriteResponse
        case .executeWriteRequest: .executeWriteRequest
        case .executeWriteResponse: .executeWriteResponse
        case .handleValueNotification: .handleValueNotification
        case .handleValueIndication: .handleValueIndication
        case .handleValueConfirmation: .handleValueConfirmation
        case .multipleHandleValueNotification: .multipleHandleValueNotification
        }
    }

    /// The PDU in encoded form.
    ///
    /// A UUID is written in its shortest form. The length of a list's first item is used as the length of all items.
    /// The caller must not pass items whose length does not fit into the length field.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(opcode.rawValue)
        switch self {
        case .errorResponse(let request, let handle, let error):
            writer.write(request.rawValue)
            writer.write(handle)
            writer.write(error.rawValue)
        case .exchangeMTURequest(let mtu), .exchangeMTUResponse(let mtu):
            writer.write(mtu)
        case .findInformationRequest(let range):
            writer.write(range)
        case .findInformationResponse(let format, let items):
            writer.write(format.rawValue)
            for item in items {
                writer.write(item.handle)
                writer.write(item.type, format)
            }
        case .findByTypeValueRequest(let range, let type, let value):
            writer.write(range)
            writer.write(type)
            writer.write(value)
        case .findByTypeValueResponse(let items):
            for item in items { writer.write(item) }
        case .readByTypeRequest(let range, let type), .readByGroupTypeRequest(let range, let type):
            writer.write(range)
            writer.write(type)
        case .readByTypeResponse(let items):
            writer.write(UInt8(truncatingIfNeeded: 2 &+ (items.first?.value.count ?? 0)))
            for item in items {
                writer.write(item.handle)
                writer.write(item.value)
            }
        case .readByGroupTypeResponse(let items):
            writer.write(UInt8(truncatingIfNeeded: 4 &+ (items.first?.value.count ?? 0)))
            for item in items {
                writer.write(item.range)
                writer.write(item.value)
            }
        case .readRequest(let handle):
            writer.write(handle)
        case .readResponse(let value), .readBlobResponse(let value), .readMultipleResponse(let value):
            writer.write(value)
        case .readBlobRequest(let handle, let offset):
            writer.write(handle)
            writer.write(offset)
        case .readMultipleRequest(let handles), .readMultipleVariableRequest(let handles):
            for handle in handles { writer.write(handle) }
        case .readMultipleVariableResponse(let items):
            for item in items {
                writer.write(item.length)
                writer.write(item.value)
            }
        case .writeRequest(let handle, let value), .writeCommand(let handle, let value),
            .handleValueNotification(let handle, let value), .handleValueIndication(let handle, let value):
            writer.write(handle)
            writer.write(value)
        case .signedWriteCommand(let handle, let value, let signature):
            writer.write(handle)
            writer.write(value)
            writer.write(signature)
        case .prepareWriteRequest(let handle, let offset, let value),
            .prepareWriteResponse(let handle, let offset, let value):
            writer.write(handle)
            writer.write(offset)
            writer.write(value)
        case .executeWriteRequest(let flags):
            writer.write(flags.rawValue)
        case .writeResponse, .executeWriteResponse, .handleValueConfirmation:
            break
        case .multipleHandleValueNotification(let items):
            for item in items {
                writer.write(item.handle)
                writer.write(UInt16(truncatingIfNeeded: item.value.count))
                writer.write(item.value)
            }
        }
        return writer.bytes
    }
}

extension ByteReader {
    @_lifetime(self: copy self)
    mutating func readHandle(_ field: String) throws(DecodingError) -> AttributeHandle {
        AttributeHandle(try readUInt16(field))
    }

    /// Reads the next four bytes as a handle range.
    @_lifetime(self: copy self)
    mutating func readHandleRange() throws(DecodingError) -> AttributeHandleRange {
        let start = try readHandle("Starting Handle")
        return AttributeHandleRange(start: start, end: try readHandle("Ending Handle"))
    }

    /// Returns a copy of all remaining bytes, and moves to the end.
    @_lifetime(self: copy self)
    mutating func readRestBytes() -> [UInt8] {
        [UInt8](copying: readRest())
    }

    /// Reads all remaining bytes as handles; throws an error if there are fewer than two handles.
    @_lifetime(self: copy self)
    mutating func readSetOfHandles() throws(DecodingError) -> [AttributeHandle] {
        guard remaining >= 4 else {
            throw error("Set Of Handles", .truncated(needed: 4, available: remaining))
        }
        var handles: [AttributeHandle] = []
        while !isAtEnd { handles.append(try readHandle("Set Of Handles")) }
        return handles
    }

    /// Length of a UUID that occupies the remaining bytes: 16 or 2, because ATT has no 32-bit UUIDs (Core 6.0, Vol 3,
    /// Part F, 3.2.1).
    var uuidByteCount: Int { remaining == 16 ? 16 : 2 }
}

extension ByteWriter {
    mutating func write(_ handle: AttributeHandle) {
        write(handle.rawValue)
    }

    mutating func write(_ range: AttributeHandleRange) {
        write(range.start.rawValue)
        write(range.end.rawValue)
    }

    /// Appends a UUID in the format of a Find Information Response.
    mutating func write(_ uuid: BluetoothUUID, _ format: ATTPDU.InformationFormat) {
        if format == .uuid16 {
            write(uuid.shortForm16 ?? 0)
        } else {
            write(uuid.low)
            write(uuid.high)
        }
    }
}
