// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Procedure that exchanges the MTU, which stays 23 bytes if the server does not support the request (Core 6.0, Vol 3,
/// Part G, 4.3.1).
struct GATTMTUExchange: GATTProcedure {
    let localMTU: UInt16

    mutating func begin(mtu: Int) throws(GATTError) -> GATTStep {
        .send(.exchangeMTURequest(clientReceiveMTU: localMTU))
    }

    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep {
        .finish(.mtu(UInt16(truncatingIfNeeded: mtu)))
    }

    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep {
        guard refusal.error == .requestNotSupported else { throw refusal.asError }
        return .finish(.mtu(UInt16(truncatingIfNeeded: mtu)))
    }
}

/// Procedure that reads a value or descriptor with a single request; the response may truncate the value (Core 6.0, Vol
/// 3, Part G, 4.8.1 and 4.12.1).
struct GATTRead: GATTProcedure {
    let handle: AttributeHandle

    mutating func begin(mtu: Int) throws(GATTError) -> GATTStep {
        .send(.readRequest(handle))
    }

    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep {
        guard case .readResponse(let value) = response else { throw unexpected(response) }
        return .finish(.value(value))
    }
}

/// Procedure that reads a value or descriptor in parts, until a part is shorter than the maximum.
///
/// The first part is read with a Read Request, because servers are not required to support Read Blob. Core 6.0, Vol 3,
/// Part G, 4.8.3 and 4.12.2.
struct GATTLongRead: GATTProcedure {
    let handle: AttributeHandle
    let limit: Int
    private var value: [UInt8] = []

    init(handle: AttributeHandle, limit: Int) {
        self.handle = handle
        self.limit = limit
    }

    mutating func begin(mtu: Int) throws(GATTError) -> GATTStep {
        .send(.readRequest(handle))
    }

    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep {
        let part: [UInt8]
        switch response {
        case .readResponse(let bytes), .readBlobResponse(let bytes): part = bytes
        default: throw unexpected(response)
        }
        value += part
        guard value.count <= limit else { throw .valueTooLong(limit: limit) }
        let isLast = part.count < mtu &- 1 || value.count == limit
        return isLast
            ? .finish(.value(value))
            : .send(.readBlobRequest(handle, offset: UInt16(truncatingIfNeeded: value.count)))
    }

    /// Finishes the read if an error in response to Read Blob means that the value is complete, or that the server does
    /// not support the request.
    ///
    /// Once the specification's maximum length is reached, Invalid Offset also means that the value is complete.
    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep {
        let isWhole = refusal.error == .invalidOffset && value.count >= GATTClient.longestValue
        guard refusal.request == .readBlobRequest,
            isWhole || refusal.error == .attributeNotLong || refusal.error == .requestNotSupported
        else { throw refusal.asError }
        return .finish(.value(value))
    }
}

/// Procedure that reads all values of one type in a handle range (Core 6.0, Vol 3, Part G, 4.8.2).
struct GATTReadByUUID: GATTProcedure {
    private let uuid: BluetoothUUID
    private var progress: GATTProgress
    private var values: [ATTPDU.HandleValue] = []

    init(uuid: BluetoothUUID, range: AttributeHandleRange, limit: Int) {
        self.uuid = uuid
        progress = GATTProgress(range, limit: limit)
    }

    mutating func begin(mtu: Int) throws(GATTError) -> GATTStep {
        next()
    }

    private func next() -> GATTStep {
        guard let rest = progress.rest else { return .finish(.values(values)) }
        return .send(.readByTypeRequest(rest, type: uuid))
    }

    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep {
        guard case .readByTypeResponse(let items) = response else { throw unexpected(response) }
        for item in items {
            try progress.accept(item.handle)
            values.append(item)
        }
        return next()
    }

    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep {
        guard refusal.error == .attributeNotFound, !values.isEmpty else { throw refusal.asError }
        return .finish(.values(values))
    }
}

/// Procedure that writes a value or descriptor with a single request (Core 6.0, Vol 3, Part G, 4.9.3 and 4.12.3).
struct GATTWrite: GATTProcedure {
    let handle: AttributeHandle
    let value: [UInt8]

    mutating func begin(mtu: Int) throws(GATTError) -> GATTStep {
        let limit = mtu &- 3
        guard value.count <= limit else { throw .valueTooLong(limit: limit) }
        return .send(.writeRequest(handle, value: value))
    }

    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep {
        .finish(.done)
    }
}

/// Procedure that writes one or more values in parts, which the server queues and then writes all at once (Core 6.0,
/// Vol 3, Part G, 4.9.4, 4.9.5 and 4.12.4).
///
/// The server's echo of each part is verified. The queue is cancelled if an echo differs or a part is rejected.
struct GATTPreparedWrite: GATTProcedure {
    private let items: [ATTPDU.HandleValue]
    private var index = 0
    private var offset = 0
    private var part: [UInt8] = []
    /// Reason why the queue is being cancelled; nil if it is not being cancelled.
    private var reason: GATTError?

    init(_ items: [ATTPDU.HandleValue]) {
        self.items = items
    }

    mutating func begin(mtu: Int) throws(GATTError) -> GATTStep {
        prepare(mtu: mtu)
    }

    private mutating func prepare(mtu: Int) -> GATTStep {
        guard index < items.count else { return .send(.executeWriteRequest(.write)) }
        let item = items[index]
        part = Array(item.value.dropFirst(offset).prefix(max(0, mtu &- 5)))
        return .send(.prepareWriteRequest(item.handle, offset: UInt16(truncatingIfNeeded: offset), value: part))
    }

    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep {
        switch response {
        case .prepareWriteResponse(let handle, let echoedOffset, let echo):
            guard index < items.count else { throw unexpected(response) }
            let item = items[index]
            guard handle == item.handle, Int(echoedOffset) == offset, echo == part else {
                return cancel(.echoDiffers(item.handle))
            }
            offset &+= part.count
            if offset >= item.value.count {
                index &+= 1
                offset = 0
            }
            return prepare(mtu: mtu)
        case .executeWriteResponse:
            if let reason { throw reason }
            return .finish(.done)
        default: throw unexpected(response)
        }
    }

    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep {
        if let reason { throw reason }
        guard refusal.request == .prepareWriteRequest else { throw refusal.asError }
        return cancel(refusal.asError)
    }

    private mutating func cancel(_ error: GATTError) -> GATTStep {
        reason = error
        return .send(.executeWriteRequest(.cancel))
    }
}

/// Planned result of one write request or one queue of prepared writes; all writes are checked before any is executed
/// (Core 6.0, Vol 3, Part F, 3.4.5.1 and 3.4.6.3).
struct GATTWritePlan: Sendable {
    /// Error because of which nothing is written.
    struct Refusal: Error {
        var error: ATTError
        var handle: AttributeHandle
    }

    /// New stored values and configurations, in the order in which they were first written.
    private(set) var values: [ATTPDU.HandleValue] = []
    /// Writes that the owner must accept; consecutive parts are joined.
    private(set) var dynamic: [GATTServer.Write] = []

    /// Checks all writes without changing any values; throws an error if one of them is rejected.
    init(
        _ writes: [GATTServer.Write],
        database: GATTServerDatabase,
        current: (AttributeHandle) -> [UInt8]
    ) throws(Refusal) {
        for write in writes {
            guard let attribute = database.attribute(write.handle) else {
                throw Refusal(error: .invalidHandle, handle: write.handle)
            }
            switch attribute.source {
            case .constant: throw Refusal(error: .writeNotPermitted, handle: write.handle)
            case .dynamic: try addDynamic(write)
            case .stored, .configuration: try add(write, current)
            }
        }
        for item in values { try check(item, database) }
    }

    private mutating func addDynamic(_ write: GATTServer.Write) throws(Refusal) {
        guard write.offset &+ write.value.count <= GATTClient.longestValue else {
            throw Refusal(error: .invalidAttributeValueLength, handle: write.handle)
        }
        if let last = dynamic.last, last.handle == write.handle, last.offset &+ last.value.count == write.offset {
            dynamic[dynamic.count &- 1].value += write.value
        } else {
            dynamic.append(write)
        }
    }

    /// Adds one part: the first part replaces the value if its offset is 0; any other part overwrites bytes of the
    /// value.
    private mutating func add(_ write: GATTServer.Write, _ current: (AttributeHandle) -> [UInt8]) throws(Refusal) {
        let index: Int
        if let known = values.firstIndex(where: { $0.handle == write.handle }) {
            index = known
        } else {
            index = values.count
            let value = write.offset == 0 ? [] : current(write.handle)
            values.append(ATTPDU.HandleValue(handle: write.handle, value: value))
        }
        let value = values[index].value
        guard write.offset <= value.count else { throw Refusal(error: .invalidOffset, handle: write.handle) }
        let end = write.offset &+ write.value.count
        guard end <= GATTClient.longestValue else {
            throw Refusal(error: .invalidAttributeValueLength, handle: write.handle)
        }
        values[index].value = Array(value.prefix(write.offset)) + write.value + value.dropFirst(end)
    }

    /// Checks the length of a value, or the bits of a configuration (Core 6.0, Vol 3, Part G, 3.3.3.3).
    private func check(_ item: ATTPDU.HandleValue, _ database: GATTServerDatabase) throws(Refusal) {
        switch database.attribute(item.handle)?.source {
        case .stored(let lengths):
            guard lengths.contains(item.value.count) else {
                throw Refusal(error: .invalidAttributeValueLength, handle: item.handle)
            }
        case .configuration(_, let allowed):
            guard item.value.count == 2 else {
                throw Refusal(error: .invalidAttributeValueLength, handle: item.handle)
            }
            guard AttributeHandle(low: item.value[0], high: item.value[1]).rawValue & ~allowed == 0 else {
                throw Refusal(error: .valueNotAllowed, handle: item.handle)
            }
        default: break
        }
    }
}
