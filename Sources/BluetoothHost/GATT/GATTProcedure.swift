// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

enum GATTStep: Sendable {
    /// Send this request, and continue with its answer.
    case send(ATTPDU)
    case finish(GATTClient.Outcome)
}

/// Procedure of the client as a value: one request at a time, each depending on the previous answer.
protocol GATTProcedure: Sendable {
    mutating func begin(mtu: Int) throws(GATTError) -> GATTStep
    /// Returns the step after a response; the bearer has checked that it answers the request.
    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep
    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep
    /// True for a search through a server's attributes, which an Error Response ends even if it names another request.
    var isSearch: Bool { get }
}

/// Search by consecutive requests over the remaining range.
protocol GATTSearch: GATTProcedure {
    /// Returns the request for the rest of the range, or the result.
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

    /// Error codes with which servers end a search that has found something, including Attribute Not Found.
    ///
    /// None of them asks for a more secure link.
    private static let ends: Set<ATTError> = [
        .attributeNotFound, .invalidHandle, .readNotPermitted, .writeNotPermitted, .unlikelyError,
    ]

    /// Returns true if the search is over and its results are complete.
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

    /// Returns the error for an answer that the bearer should have rejected.
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

/// Progress of a search through a server's handles: in ascending order, up to a limit of attributes.
struct GATTProgress: Sendable {
    /// Handles still to be searched; nil at the end.
    private(set) var rest: AttributeHandleRange?
    private var attributes = 0
    private let limit: Int

    init(_ range: AttributeHandleRange, limit: Int) {
        rest = range
        self.limit = limit
    }

    /// Accepts an attribute with the handles from `first` to `last`, which must both be in the remaining range.
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
    /// Creates a UUID from a value of 2 or 16 bytes; nil for any other length.
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
    /// Creates a handle from its low and high byte.
    init(low: UInt8, high: UInt8) {
        self.init(UInt16(low) | UInt16(high) &<< 8)
    }
}

/// Input to one step of a procedure.
enum GATTProcedureInput: Sendable {
    case beginning
    case response(ATTPDU)
    case refusal(GATTRefusal)
}

/// Procedure of the client of any type, for queues of procedures.
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

/// Reason why a procedure of the client failed.
public enum GATTError: Error, Equatable, Sendable {
    case errorResponse(request: ATTOpcode, handle: AttributeHandle, error: ATTError)
    /// Error Response to another request than ours, which has ended without an answer.
    case errorForAnotherRequest(ATTOpcode, expected: ATTOpcode)
    /// Handle below an earlier one, or outside the requested range.
    case handleOutOfOrder(AttributeHandle, expected: AttributeHandleRange)
    /// Range whose end is below its start.
    case invalidRange(AttributeHandleRange)
    /// List item of a length that its type cannot have.
    case invalidItemLength(ATTOpcode, Int)
    /// Value of a length that its type cannot have.
    case invalidValueLength(AttributeHandle, Int)
    case tooManyRequests(limit: Int)
    /// More attributes than a procedure accepts.
    case tooManyAttributes(limit: Int)
    case tookTooLong(limit: Duration)
    /// Value longer than the limit for sending or receiving.
    case valueTooLong(limit: Int)
    /// Echo of a prepared write that differs from the request.
    case echoDiffers(AttributeHandle)
    /// Characteristic without notifications and indications, or without the requested kind.
    case notSubscribable(AttributeHandle)
    case invalidArgument(AttributeHandleRange)
    /// Too many queued procedures or unread results.
    case queueFull(limit: Int)
    /// Repeated MTU exchange, which is allowed only once.
    case exchangedAlready
    /// Failed bearer, whose link has to be closed.
    case bearer(ATTBearer.Failure)
}

extension GATTError: CustomStringConvertible {
    /// One-line description for people.
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
