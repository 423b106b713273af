// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

enum GATTStep: Sendable {
    /// Send this request, and go on with its answer.
    case send(ATTPDU)
    case finish(GATTClient.Outcome)
}

/// A procedure of the client, as a value: one request at a time, each chosen by the answer before it.
protocol GATTProcedure: Sendable {
    mutating func begin(mtu: Int) throws(GATTError) -> GATTStep
    /// The step after a response; the bearer has made sure that it is the one that answers the request.
    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep
    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep
    /// True for a search through a server's attributes, which ends at a refusal whichever request that names.
    var isSearch: Bool { get }
}

/// A search, one request after another over what is left of a range.
protocol GATTSearch: GATTProcedure {
    /// The request for the rest of the range, or the result.
    func next() -> GATTStep
}

extension GATTSearch {
    var isSearch: Bool { true }

    func begin(mtu: Int) throws(GATTError) -> GATTStep { next() }
}

/// An Error Response to a procedure's request.
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

    /// The codes by which servers end a search that has found something, in the place of Attribute Not Found.
    ///
    /// None of them asks for a more secure link.
    private static let ends: Set<ATTError> = [
        .attributeNotFound, .invalidHandle, .readNotPermitted, .writeNotPermitted, .unlikelyError,
    ]

    /// True where a search is over, and what it has found is all there is.
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

    /// The error for an answer that the bearer should not have let through.
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

/// The progress of a search through a server's handles: only upwards, and up to a number of attributes.
struct GATTProgress: Sendable {
    /// The handles that are still to be searched; nil at the end.
    private(set) var rest: AttributeHandleRange?
    private var attributes = 0
    private let limit: Int

    init(_ range: AttributeHandleRange, limit: Int) {
        rest = range
        self.limit = limit
    }

    /// Takes an attribute that covers the handles from `first` to `last`; both must lie in the rest.
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
    /// The UUID of 2 or 16 bytes in a value; nil for any other number.
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
    /// The handle of two bytes, the less significant first.
    init(low: UInt8, high: UInt8) {
        self.init(UInt16(low) | UInt16(high) &<< 8)
    }
}

/// What a procedure is told, each time of one thing.
enum GATTProcedureInput: Sendable {
    case beginning
    case response(ATTPDU)
    case refusal(GATTRefusal)
}

/// One of the client's procedures, as a value that stands in a list with others.
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

/// The reason why a procedure of the client failed.
public enum GATTError: Error, Equatable, Sendable {
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
    case tooManyRequests(limit: Int)
    /// The server has named as many attributes as a procedure accepts.
    case tooManyAttributes(limit: Int)
    case tookTooLong(limit: Duration)
    /// The value is longer than what may be sent or received.
    case valueTooLong(limit: Int)
    /// The server gave back a prepared write that differs from what was sent.
    case echoDiffers(AttributeHandle)
    /// The characteristic can neither notify nor indicate, or not in the way that was asked for.
    case notSubscribable(AttributeHandle)
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
