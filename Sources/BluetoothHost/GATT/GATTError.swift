// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// The reason why a procedure of the client failed.
public enum GATTError: Error, Equatable, Sendable {
    /// The server refused a request.
    case errorResponse(request: ATTOpcode, handle: AttributeHandle, error: ATTError)
    /// The server refused another request than ours, which has ended without an answer.
    case errorForAnotherRequest(ATTOpcode, expected: ATTOpcode)
    /// The server named a handle below those it had named before, or outside the range that was asked for.
    case handleOutOfOrder(AttributeHandle, expected: AttributeHandleRange)
    /// The server named a range whose end lies below its start.
    case invalidRange(AttributeHandleRange)
    /// An item of a list has a length that its type cannot have.
    case invalidItemLength(ATTOpcode, Int)
    /// A read value has a length that its type cannot have.
    case invalidValueLength(AttributeHandle, Int)
    /// The procedure has reached its limit of requests.
    case tooManyRequests(limit: Int)
    /// The server has named as many attributes as a procedure accepts.
    case tooManyAttributes(limit: Int)
    /// The procedure has reached its limit of time.
    case tookTooLong(limit: Duration)
    /// The value is longer than what may be sent or received.
    case valueTooLong(limit: Int)
    /// The server gave back a prepared write that differs from what was sent.
    case echoDiffers(AttributeHandle)
    /// The characteristic can neither notify nor indicate, or not in the way that was asked for.
    case notSubscribable(AttributeHandle)
    /// The range or handle that was asked for is not one.
    case invalidArgument(AttributeHandleRange)
    /// Too many procedures wait, or too many of their results.
    case queueFull(limit: Int)
    /// The MTU can be exchanged once.
    case exchangedAlready
    /// The bearer has failed; its link has to be closed.
    case bearer(ATTBearer.Failure)
}

extension GATTError: CustomStringConvertible {
    /// One line for people.
    public var description: String {
        switch self {
        case .errorResponse(let request, let handle, let error): "\(request) refused at \(handle): \(error)"
        case .errorForAnotherRequest(let opcode, let expected): "Error Response to \(opcode), expected \(expected)"
        case .handleOutOfOrder(let handle, let expected): "handle \(handle) is not in \(expected)"
        case .invalidRange(let range): "impossible range \(range)"
        case .invalidItemLength(let opcode, let length): "\(opcode) with items of \(length) bytes"
        case .invalidValueLength(let handle, let length): "value of \(handle) has \(length) bytes"
        case .tooManyRequests(let limit): "more than \(limit) requests"
        case .tooManyAttributes(let limit): "more than \(limit) attributes"
        case .tookTooLong(let limit): "longer than \(limit.components.seconds) s"
        case .valueTooLong(let limit): "value longer than \(limit) bytes"
        case .echoDiffers(let handle): "prepared write of \(handle) echoed differently"
        case .notSubscribable(let handle): "characteristic value \(handle) is not notified or indicated so"
        case .invalidArgument(let range): "\(range) is no range of handles"
        case .queueFull(let limit): "more than \(limit) procedures or commands wait"
        case .exchangedAlready: "the MTU was exchanged already"
        case .bearer(let failure): "bearer failed: \(failure)"
        }
    }
}
