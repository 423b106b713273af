// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The next step of a procedure.
enum GATTStep: Sendable {
    /// Send this request, and go on with its answer.
    case send(ATTPDU)
    /// End with this result.
    case finish(GATTClient.Outcome)
}

/// A procedure of the client, as a value: one request at a time, each chosen by the answer before it.
protocol GATTProcedure: Sendable {
    /// The first step.
    mutating func begin(mtu: Int) throws(GATTError) -> GATTStep
    /// The step after a response; the bearer has made sure that it is the one that answers the request.
    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep
    /// The step after a refusal.
    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep
    /// True for a search through a server's attributes, which ends at a refusal whichever request that names.
    var isSearch: Bool { get }
}

/// An Error Response to a procedure's request.
struct GATTRefusal: Sendable {
    /// The request that was sent.
    var request: ATTOpcode
    /// The request that the server has named.
    var named: ATTOpcode
    var handle: AttributeHandle
    var error: ATTError

    /// The refusal as the procedure's error.
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

    /// Takes an attribute of one handle.
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
