// SPDX-License-Identifier: GPL-2.0-or-later

extension ATTPDU {
    /// The attribute that the PDU is about, or the first of those that it names; nil where it names none.
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

    /// The one attribute value, or the one part of a value, that the PDU carries; nil where it carries none or several.
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
