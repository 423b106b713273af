// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The effect of one write request, or of a queue of prepared ones, checked as a whole before any of it happens.
///
/// Core 6.0, Vol 3, Part F, 3.4.5.1 and 3.4.6.3.
struct GATTWritePlan: Sendable {
    /// The reason why nothing is written.
    struct Refusal: Error {
        var error: ATTError
        var handle: AttributeHandle
    }

    /// Stored values and configurations as they will be, in the order in which they were first written.
    private(set) var values: [ATTPDU.HandleValue] = []
    /// The writes that the owner has to agree to; parts that follow one another are joined.
    private(set) var dynamic: [GATTServer.Write] = []

    /// Checks all the writes; nothing has changed when one is refused.
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

    /// A first part that begins at 0 replaces the value; any other part is written into it.
    private mutating func add(
        _ write: GATTServer.Write,
        _ current: (AttributeHandle) -> [UInt8]
    ) throws(Refusal) {
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

    /// Core 6.0, Vol 3, Part G, 3.3.3.3 for the bits of a configuration.
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
