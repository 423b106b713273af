// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Writes a value or descriptor in one request.
///
/// Core 6.0, Vol 3, Part G, 4.9.3 and 4.12.3.
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

/// Writes values part by part into the server's queue, compares each echo, and has them all written at once; or has
/// the queue emptied when an echo differs or a part is refused.
///
/// Core 6.0, Vol 3, Part G, 4.9.4, 4.9.5 and 4.12.4.
struct GATTPreparedWrite: GATTProcedure {
    private let items: [ATTPDU.HandleValue]
    private var index = 0
    private var offset = 0
    /// The part that was sent last.
    private var part: [UInt8] = []
    /// The reason why the queue is being emptied; nil while it is filled.
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
        return .send(
            .prepareWriteRequest(item.handle, offset: UInt16(truncatingIfNeeded: offset), value: part)
        )
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
