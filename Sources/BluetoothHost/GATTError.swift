// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Why a procedure of the client came to nothing.
public enum GATTError: Error, Equatable, Sendable {
    /// The server refused a request.
    case errorResponse(request: ATTOpcode, handle: AttributeHandle, error: ATTError)
    /// The server named a handle below those it had named before, or outside the range that was asked for.
    case handleOutOfOrder(AttributeHandle, expected: AttributeHandleRange)
    /// The server named a range whose end lies below its start.
    case invalidRange(AttributeHandleRange)
    /// An item of a list has a length that its type cannot have.
    case invalidItemLength(ATTOpcode, Int)
    /// A read value has a length that its type cannot have.
    case invalidValueLength(AttributeHandle, Int)
    /// The procedure has made as many requests as it may.
    case tooManyRequests(limit: Int)
    /// The server has named as many attributes as a procedure accepts.
    case tooManyAttributes(limit: Int)
    /// The procedure has lasted as long as it may.
    case tookTooLong(limit: Duration)
    /// The value is longer than what may be sent or received.
    case valueTooLong(limit: Int)
    /// The server gave back a prepared write that differs from what was sent.
    case echoDiffers(AttributeHandle)
    /// The characteristic has no client characteristic configuration descriptor.
    case noClientConfiguration(AttributeHandle)
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
