// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The answers of a server that has no attributes.
///
/// Core 6.0, Vol 3, Part F, 3.4.
enum ATTEmptyServer {
    /// What is sent back.
    enum Answer {
        case response(ATTPDU)
        case error(ATTError, AttributeHandle)

        /// An error that names no handle.
        static func refusal(_ error: ATTError) -> Answer { .error(error, .invalid) }
    }

    /// The answer to a request that could be read.
    static func answer(to request: ATTPDU) -> Answer {
        switch request {
        case .findInformationRequest(let range), .findByTypeValueRequest(let range, _, _),
            .readByTypeRequest(let range, _):
            return search(range)
        case .readByGroupTypeRequest(let range, let type):
            guard range.isValid else { return search(range) }
            guard type == GATTAttributeType.primaryService || type == GATTAttributeType.secondaryService else {
                return .error(.unsupportedGroupType, range.start)
            }
            return search(range)
        case .readRequest(let handle), .readBlobRequest(let handle, _), .writeRequest(let handle, _),
            .prepareWriteRequest(let handle, _, _):
            return .error(.invalidHandle, handle)
        case .readMultipleRequest(let handles), .readMultipleVariableRequest(let handles):
            return .error(.invalidHandle, handles.first ?? .invalid)
        case .executeWriteRequest:
            // Nothing was ever prepared: to write it, or to forget it, is done at once.
            return .response(.executeWriteResponse)
        default:
            return .refusal(.requestNotSupported)
        }
    }

    /// Core 6.0, Vol 3, Part F, 3.4.3.1: a start of 0x0000 or above the end is Invalid Handle, with the start.
    private static func search(_ range: AttributeHandleRange) -> Answer {
        .error(range.isValid ? .attributeNotFound : .invalidHandle, range.start)
    }
}
