// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Exchanges the MTU; a server that does not know the request leaves it at 23.
///
/// Core 6.0, Vol 3, Part G, 4.3.1.
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

/// Reads a value or descriptor, as much of it as one response carries.
///
/// Core 6.0, Vol 3, Part G, 4.8.1 and 4.12.1.
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

/// Reads a value or descriptor of any length, part by part, until a part is shorter than a response could be.
///
/// The first part is read by a Read Request, because a server need not have Read Blob.
///
/// Core 6.0, Vol 3, Part G, 4.8.3 and 4.12.2.
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

    /// A refused Read Blob that says that there is no more, or that the server has no such request: the parts were all.
    ///
    /// Behind the longest value that the specification allows, Invalid Offset says no more than that.
    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep {
        let isWhole = refusal.error == .invalidOffset && value.count >= GATTClient.longestValue
        guard refusal.request == .readBlobRequest,
            isWhole || refusal.error == .attributeNotLong || refusal.error == .requestNotSupported
        else { throw refusal.asError }
        return .finish(.value(value))
    }
}

/// Reads the values of one type in a range.
///
/// Core 6.0, Vol 3, Part G, 4.8.2.
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
