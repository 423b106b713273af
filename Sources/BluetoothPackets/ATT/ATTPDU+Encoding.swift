// SPDX-License-Identifier: GPL-2.0-or-later

extension ATTPDU {
    /// The opcode.
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

    /// The bytes of the PDU.
    ///
    /// A UUID is written in its shortest form. Items of a list take their length from the first; what the length field
    /// cannot express is for the caller to avoid.
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

extension ByteWriter {
    /// Appends the two bytes of a handle.
    mutating func write(_ handle: AttributeHandle) {
        write(handle.rawValue)
    }

    /// Appends the first and the last handle of a range.
    mutating func write(_ range: AttributeHandleRange) {
        write(range.start.rawValue)
        write(range.end.rawValue)
    }

    /// Appends a UUID in the form that a Find Information Response announced.
    mutating func write(_ uuid: BluetoothUUID, _ format: ATTPDU.InformationFormat) {
        if format == .uuid16 {
            write(uuid.shortForm16 ?? 0)
        } else {
            write(uuid.low)
            write(uuid.high)
        }
    }
}
