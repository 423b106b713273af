// SPDX-License-Identifier: GPL-2.0-or-later

/// The six kinds of ATT PDUs.
///
/// Core 6.0, Vol 3, Part F, 3.3.
public enum ATTPDUKind: Sendable, CaseIterable {
    /// From client to server; the server answers with a response or an error.
    case request
    /// From server to client, the answer to a request.
    case response
    /// From client to server, unanswered.
    case command
    /// From server to client, unanswered.
    case notification
    /// From server to client; the client answers with a confirmation.
    case indication
    /// From client to server, the answer to an indication.
    case confirmation
}

extension ATTOpcode {
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

    /// Every opcode with its name, its kind, and, for requests and indications, the PDU that answers it.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.8.
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

    /// Every opcode of the specification, in the order of its table.
    public static let known: [ATTOpcode] = table.map { $0.opcode }

    private var row: Row? { Self.table.first { $0.opcode == self } }

    /// The specification's name; nil for an opcode that it does not have.
    public var name: String? { row?.name }

    /// The kind; nil for an opcode that the specification does not have.
    public var kind: ATTPDUKind? { row?.kind }

    /// The opcode that answers this request or indication; nil for every other kind.
    public var answer: ATTOpcode? { row?.response }
}
