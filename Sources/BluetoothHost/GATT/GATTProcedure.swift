// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

enum GATTStep: Sendable {
    /// Send this request, then continue with its answer.
    case send(ATTPDU)
    case finish(GATTClient.Outcome)
}

/// Client procedure as a value type; sends one request at a time, each depending on the previous answer.
protocol GATTProcedure: Sendable {
    mutating func begin(mtu: Int) throws(GATTError) -> GATTStep
    /// Returns the next step after a response; the bearer has checked that the response answers the request.
    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep
    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep
    /// True for a search through a server's attributes; an Error Response ends the search even if it names another
    /// request.
    var isSearch: Bool { get }
}

/// Search that sends consecutive requests, each for the remaining range of handles.
protocol GATTSearch: GATTProcedure {
    /// Returns the request for the remaining range, or the result if no handles remain.
    func next() -> GATTStep
}

extension GATTSearch {
    var isSearch: Bool { true }

    func begin(mtu: Int) throws(GATTError) -> GATTStep { next() }
}

/// Error Response to a procedure's request.
struct GATTRefusal: Sendable {
    var request: ATTOpcode
    var named: ATTOpcode
    var handle: AttributeHandle
    var error: ATTError

    var asError: GATTError {
        named == request
            ? .errorResponse(request: request, handle: handle, error: error)
            : .errorForAnotherRequest(named, expected: request)
    }

    /// Error codes that end a search successfully if it has found at least one attribute.
    ///
    /// They include Attribute Not Found, but not the errors that require a more secure link.
    private static let ends: Set<ATTError> = [
        .attributeNotFound, .invalidHandle, .readNotPermitted, .writeNotPermitted, .unlikelyError,
    ]

    /// Returns true if the error means that the search is complete.
    func endsSearch(foundSome: Bool) -> Bool {
        guard foundSome else { return error == .attributeNotFound }
        return Self.ends.contains(error) || error.isApplicationError
    }
}

extension GATTProcedure {
    var isSearch: Bool { false }

    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep {
        throw refusal.asError
    }

    /// Returns the error for a response that the bearer should have rejected.
    func unexpected(_ response: ATTPDU) -> GATTError {
        .bearer(.unexpectedPDU(response.opcode, expected: nil))
    }

    mutating func step(_ input: GATTProcedureInput, mtu: Int) throws(GATTError) -> GATTStep {
        switch input {
        case .beginning: return try begin(mtu: mtu)
        case .response(let response): return try receive(response, mtu: mtu)
        case .refusal(let refusal):
            if refusal.named != refusal.request, !isSearch { throw refusal.asError }
            return try receive(refusal, mtu: mtu)
        }
    }
}

/// Progress of a search through a server's handles, which must ascend; the number of attributes is limited.
struct GATTProgress: Sendable {
    /// Handles that are still to be searched; nil if no handles remain.
    private(set) var rest: AttributeHandleRange?
    private var attributes = 0
    private let limit: Int

    init(_ range: AttributeHandleRange, limit: Int) {
        rest = range
        self.limit = limit
    }

    /// Accepts an attribute with the handles from `first` to `last`, both of which must be in the remaining range.
    mutating func accept(from first: AttributeHandle, to last: AttributeHandle) throws(GATTError) {
        guard first <= last else { throw .invalidRange(AttributeHandleRange(start: first, end: last)) }
        guard let range = rest, range.contains(first) else {
            throw .handleOutOfOrder(first, expected: rest ?? AttributeHandleRange(start: .invalid, end: .invalid))
        }
        guard range.contains(last) else { throw .handleOutOfOrder(last, expected: range) }
        guard attributes < limit else { throw .tooManyAttributes(limit: limit) }
        attributes &+= 1
        if last < range.end, let next = last.next {
            rest = AttributeHandleRange(start: next, end: range.end)
        } else {
            rest = nil
        }
    }

    mutating func accept(_ handle: AttributeHandle) throws(GATTError) {
        try accept(from: handle, to: handle)
    }
}

extension BluetoothUUID {
    /// Creates a UUID from a value of 2 or 16 bytes; returns nil for any other length.
    init?(attValue bytes: some Collection<UInt8>) {
        guard bytes.count == 2 || bytes.count == 16 else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for byte in bytes.reversed() {
            high = high &<< 8 | low &>> 56
            low = low &<< 8 | UInt64(byte)
        }
        if bytes.count == 2 {
            self.init(UInt16(truncatingIfNeeded: low))
        } else {
            self.init(high: high, low: low)
        }
    }
}

extension AttributeHandle {
    /// Creates a handle from its low and high bytes.
    init(low: UInt8, high: UInt8) {
        self.init(UInt16(low) | UInt16(high) &<< 8)
    }
}

/// Input for one step of a procedure.
enum GATTProcedureInput: Sendable {
    case beginning
    case response(ATTPDU)
    case refusal(GATTRefusal)
}

/// Type-erased client procedure, for the queue of procedures.
enum GATTAnyProcedure: Sendable {
    case mtuExchange(GATTMTUExchange)
    case read(GATTRead)
    case longRead(GATTLongRead)
    case readByUUID(GATTReadByUUID)
    case primaryServiceDiscovery(GATTPrimaryServiceDiscovery)
    case serviceSearch(GATTServiceSearch)
    case includedServiceDiscovery(GATTIncludedServiceDiscovery)
    case characteristicDiscovery(GATTCharacteristicDiscovery)
    case descriptorDiscovery(GATTDescriptorDiscovery)
    case configuration(GATTConfiguration)
    case write(GATTWrite)
    case preparedWrite(GATTPreparedWrite)
    case nothing(GATTNothing)

    mutating func step(_ input: GATTProcedureInput, mtu: Int) throws(GATTError) -> GATTStep {
        switch self {
        case .mtuExchange(var procedure):
            defer { self = .mtuExchange(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .read(var procedure):
            defer { self = .read(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .longRead(var procedure):
            defer { self = .longRead(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .readByUUID(var procedure):
            defer { self = .readByUUID(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .primaryServiceDiscovery(var procedure):
            defer { self = .primaryServiceDiscovery(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .serviceSearch(var procedure):
            defer { self = .serviceSearch(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .includedServiceDiscovery(var procedure):
            defer { self = .includedServiceDiscovery(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .characteristicDiscovery(var procedure):
            defer { self = .characteristicDiscovery(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .descriptorDiscovery(var procedure):
            defer { self = .descriptorDiscovery(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .configuration(var procedure):
            defer { self = .configuration(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .write(var procedure):
            defer { self = .write(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .preparedWrite(var procedure):
            defer { self = .preparedWrite(procedure) }
            return try procedure.step(input, mtu: mtu)
        case .nothing(var procedure):
            defer { self = .nothing(procedure) }
            return try procedure.step(input, mtu: mtu)
        }
    }
}

/// Reason why a client procedure failed.
public enum GATTError: Error, Equatable, Sendable {
    case errorResponse(request: ATTOpcode, handle: AttributeHandle, error: ATTError)
    /// The server sent an Error Response to a different request; our request has ended without an answer.
    case errorForAnotherRequest(ATTOpcode, expected: ATTOpcode)
    /// The server sent a handle that is not above the previous one, or that is outside the requested range.
    case handleOutOfOrder(AttributeHandle, expected: AttributeHandleRange)
    /// The server sent a range whose end is below its start.
    case invalidRange(AttributeHandleRange)
    /// The server sent a list item with a length that is invalid for its type.
    case invalidItemLength(ATTOpcode, Int)
    /// The server sent a value with a length that is invalid for its type.
    case invalidValueLength(AttributeHandle, Int)
    case tooManyRequests(limit: Int)
    /// The server has more attributes than a procedure accepts.
    case tooManyAttributes(limit: Int)
    case tookTooLong(limit: Duration)
    /// The value to send or receive is longer than the limit.
    case valueTooLong(limit: Int)
    /// The server's echo of a prepared write differs from the request.
    case echoDiffers(AttributeHandle)
    /// The characteristic supports neither notifications nor indications, or it does not support the requested kind.
    case notSubscribable(AttributeHandle)
    case invalidArgument(AttributeHandleRange)
    /// Too many procedures are queued, or too many results are unread.
    case queueFull(limit: Int)
    /// The MTU was already exchanged; this is allowed only once.
    case exchangedAlready
    /// The bearer failed, and its link must be closed.
    case bearer(ATTBearer.Failure)
}

extension GATTError: CustomStringConvertible {
    /// Human-readable description in one line.
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
        case .notSubscribable(let handle):
            "the characteristic with the value \(handle) does not support this subscription"
        case .invalidArgument(let range): "\(range) is no range of handles"
        case .queueFull(let limit): "more than \(limit) procedures or commands are queued"
        case .exchangedAlready: "the MTU was exchanged already"
        case .bearer(let failure): "bearer failed: \(failure)"
        }
    }
}
