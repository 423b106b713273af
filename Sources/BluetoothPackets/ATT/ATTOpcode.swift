// SPDX-License-Identifier: GPL-2.0-or-later

/// First byte of an ATT PDU (Core 6.0, Vol 3, Part F, 3.3.1 and 3.4.8).
///
/// It consists of a six-bit method, the command flag and the authentication signature flag.
public struct ATTOpcode: RawRepresentable, Hashable, Sendable {
    /// Opcode as a byte.
    public let rawValue: UInt8

    /// Creates an opcode from any byte, known or unknown.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Bit that marks a command, which has no response even if the opcode is unknown.
    public static let commandFlag: UInt8 = 0x40
    /// Bit that marks a PDU with an authentication signature.
    public static let signatureFlag: UInt8 = 0x80
    /// Mask of the method bits.
    public static let methodMask: UInt8 = 0x3F

    /// True if the command flag is set.
    public var isCommand: Bool { rawValue & Self.commandFlag != 0 }
    /// True if the authentication signature flag is set.
    public var hasSignature: Bool { rawValue & Self.signatureFlag != 0 }

    /// ATT_ERROR_RSP.
    public static let errorResponse = ATTOpcode(rawValue: 0x01)
    /// ATT_EXCHANGE_MTU_REQ.
    public static let exchangeMTURequest = ATTOpcode(rawValue: 0x02)
    /// ATT_EXCHANGE_MTU_RSP.
    public static let exchangeMTUResponse = ATTOpcode(rawValue: 0x03)
    /// ATT_FIND_INFORMATION_REQ.
    public static let findInformationRequest = ATTOpcode(rawValue: 0x04)
    /// ATT_FIND_INFORMATION_RSP.
    public static let findInformationResponse = ATTOpcode(rawValue: 0x05)
    /// ATT_FIND_BY_TYPE_VALUE_REQ.
    public static let findByTypeValueRequest = ATTOpcode(rawValue: 0x06)
    /// ATT_FIND_BY_TYPE_VALUE_RSP.
    public static let findByTypeValueResponse = ATTOpcode(rawValue: 0x07)
    /// ATT_READ_BY_TYPE_REQ.
    public static let readByTypeRequest = ATTOpcode(rawValue: 0x08)
    /// ATT_READ_BY_TYPE_RSP.
    public static let readByTypeResponse = ATTOpcode(rawValue: 0x09)
    /// ATT_READ_REQ.
    public static let readRequest = ATTOpcode(rawValue: 0x0A)
    /// ATT_READ_RSP.
    public static let readResponse = ATTOpcode(rawValue: 0x0B)
    /// ATT_READ_BLOB_REQ.
    public static let readBlobRequest = ATTOpcode(rawValue: 0x0C)
    /// ATT_READ_BLOB_RSP.
    public static let readBlobResponse = ATTOpcode(rawValue: 0x0D)
    /// ATT_READ_MULTIPLE_REQ.
    public static let readMultipleRequest = ATTOpcode(rawValue: 0x0E)
    /// ATT_READ_MULTIPLE_RSP.
    public static let readMultipleResponse = ATTOpcode(rawValue: 0x0F)
    /// ATT_READ_BY_GROUP_TYPE_REQ.
    public static let readByGroupTypeRequest = ATTOpcode(rawValue: 0x10)
    /// ATT_READ_BY_GROUP_TYPE_RSP.
    public static let readByGroupTypeResponse = ATTOpcode(rawValue: 0x11)
    /// ATT_WRITE_REQ.
    public static let writeRequest = ATTOpcode(rawValue: 0x12)
    /// ATT_WRITE_RSP.
    public static let writeResponse = ATTOpcode(rawValue: 0x13)
    /// ATT_PREPARE_WRITE_REQ.
    public static let prepareWriteRequest = ATTOpcode(rawValue: 0x16)
    /// ATT_PREPARE_WRITE_RSP.
    public static let prepareWriteResponse = ATTOpcode(rawValue: 0x17)
    /// ATT_EXECUTE_WRITE_REQ.
    public static let executeWriteRequest = ATTOpcode(rawValue: 0x18)
    /// ATT_EXECUTE_WRITE_RSP.
    public static let executeWriteResponse = ATTOpcode(rawValue: 0x19)
    /// ATT_HANDLE_VALUE_NTF.
    public static let handleValueNotification = ATTOpcode(rawValue: 0x1B)
    /// ATT_HANDLE_VALUE_IND.
    public static let handleValueIndication = ATTOpcode(rawValue: 0x1D)
    /// ATT_HANDLE_VALUE_CFM.
    public static let handleValueConfirmation = ATTOpcode(rawValue: 0x1E)
    /// ATT_READ_MULTIPLE_VARIABLE_REQ.
    public static let readMultipleVariableRequest = ATTOpcode(rawValue: 0x20)
    /// ATT_READ_MULTIPLE_VARIABLE_RSP.
    public static let readMultipleVariableResponse = ATTOpcode(rawValue: 0x21)
    /// ATT_MULTIPLE_HANDLE_VALUE_NTF.
    public static let multipleHandleValueNotification = ATTOpcode(rawValue: 0x23)
    /// ATT_WRITE_CMD.
    public static let writeCommand = ATTOpcode(rawValue: 0x52)
    /// ATT_SIGNED_WRITE_CMD.
    public static let signedWriteCommand = ATTOpcode(rawValue: 0xD2)

    private struct Row: Sendable {
        var opcode: ATTOpcode
        var name: String
        var kind: ATTPDUKind
        var response: ATTOpcode?

        init(_ opcode: ATTOpcode, _ name: String, _ kind: ATTPDUKind, _ response: ATTOpcode? = nil) {
            self.opcode = opcode
            self.name = name
            self.kind = kind
            self.response = response
        }
    }

    /// All opcodes with their names, kinds and, for requests and indications, the opcodes of their responses (Core 6.0,
    /// Vol 3, Part F, 3.4.8).
    private static let table: [Row] = [
        Row(.errorResponse, "Error Response", .response),
        Row(.exchangeMTURequest, "Exchange MTU Request", .request, .exchangeMTUResponse),
        Row(.exchangeMTUResponse, "Exchange MTU Response", .response),
        Row(.findInformationRequest, "Find Information Request", .request, .findInformationResponse),
        Row(.findInformationResponse, "Find Information Response", .response),
        Row(.findByTypeValueRequest, "Find By Type Value Request", .request, .findByTypeValueResponse),
        Row(.findByTypeValueResponse, "Find By Type Value Response", .response),
        Row(.readByTypeRequest, "Read By Type Request", .request, .readByTypeResponse),
        Row(.readByTypeResponse, "Read By Type Response", .response),
        Row(.readRequest, "Read Request", .request, .readResponse),
        Row(.readResponse, "Read Response", .response),
        Row(.readBlobRequest, "Read Blob Request", .request, .readBlobResponse),
        Row(.readBlobResponse, "Read Blob Response", .response),
        Row(.readMultipleRequest, "Read Multiple Request", .request, .readMultipleResponse),
        Row(.readMultipleResponse, "Read Multiple Response", .response),
        Row(.readByGroupTypeRequest, "Read By Group Type Request", .request, .readByGroupTypeResponse),
        Row(.readByGroupTypeResponse, "Read By Group Type Response", .response),
        Row(.writeRequest, "Write Request", .request, .writeResponse),
        Row(.writeResponse, "Write Response", .response),
        Row(.prepareWriteRequest, "Prepare Write Request", .request, .prepareWriteResponse),
        Row(.prepareWriteResponse, "Prepare Write Response", .response),
        Row(.executeWriteRequest, "Execute Write Request", .request, .executeWriteResponse),
        Row(.executeWriteResponse, "Execute Write Response", .response),
        Row(.handleValueNotification, "Handle Value Notification", .notification),
        Row(.handleValueIndication, "Handle Value Indication", .indication, .handleValueConfirmation),
        Row(.handleValueConfirmation, "Handle Value Confirmation", .confirmation),
        Row(.readMultipleVariableRequest, "Read Multiple Variable Request", .request, .readMultipleVariableResponse),
        Row(.readMultipleVariableResponse, "Read Multiple Variable Response", .response),
        Row(.multipleHandleValueNotification, "Multiple Handle Value Notification", .notification),
        Row(.writeCommand, "Write Command", .command),
        Row(.signedWriteCommand, "Signed Write Command", .command),
    ]

    /// All opcodes that the specification defines, in the order of `table`.
    public static let known: [ATTOpcode] = table.map { $0.opcode }

    private var row: Row? { Self.table.first { $0.opcode == self } }

    /// Name of the PDU in the specification; nil for an unknown opcode.
    public var name: String? { row?.name }

    /// Kind of the PDU; nil for an unknown opcode.
    public var kind: ATTPDUKind? { row?.kind }

    /// Opcode of the response to this request or indication; nil for other kinds.
    public var answer: ATTOpcode? { row?.response }
}

extension ATTOpcode: CustomStringConvertible {
    /// The specification's name or, for an unknown opcode, the byte: `Read Request`, `opcode 0x7F`.
    public var description: String {
        name ?? "opcode 0x" + Hexadecimal.text(UInt64(rawValue), digits: 2)
    }
}

/// Six kinds of ATT PDUs (Core 6.0, Vol 3, Part F, 3.3).
public enum ATTPDUKind: Sendable, CaseIterable {
    /// Sent from client to server; the server answers with a response or an error.
    case request
    /// Sent from server to client in response to a request.
    case response
    /// Sent from client to server; there is no response.
    case command
    /// Sent from server to client; there is no response.
    case notification
    /// Sent from server to client; the client answers with a confirmation.
    case indication
    /// Sent from client to server in response to an indication.
    case confirmation
}
