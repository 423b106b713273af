// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Response to a read request, created from the database and the values known so far (Core 6.0, Vol 3, Part F, 3.4.3
/// and 3.4.4).
struct GATTReadAnswer {
    /// Reason why the response cannot be created.
    enum Interruption: Error {
        case refused(ATTError, AttributeHandle)
        /// The owner must first supply the value.
        case needs(AttributeHandle, offset: Int)
    }

    /// Maximum length of a list item, including its handles, in bytes; its length field is one byte long.
    private static let longestItem = 0xFF

    let database: GATTServerDatabase
    let security: GATTLinkSecurity
    let stored: [AttributeHandle: [UInt8]]
    let configurations: [AttributeHandle: UInt16]
    let supplied: [AttributeHandle: Result<[UInt8], ATTError>]
    let mtu: Int

    /// Returns the response; throws the error to respond with, or the handle of a value that the owner must supply.
    func response(to request: ATTPDU) throws(Interruption) -> ATTPDU {
        switch request {
        case .findInformationRequest(let range): return try findInformation(range)
        case .findByTypeValueRequest(let range, let type, let value):
            return try findByTypeValue(range, BluetoothUUID(type), value)
        case .readByTypeRequest(let range, let type): return try readByType(range, type)
        case .readByGroupTypeRequest(let range, let type): return try readByGroupType(range, type)
        case .readRequest(let handle):
            let value = try value(of: handle, offset: 0)
            return .readResponse(value: Array(value.prefix(mtu &- 1)))
        case .readBlobRequest(let handle, let offset):
            let value = try value(of: handle, offset: Int(offset))
            guard Int(offset) <= value.count else { throw .refused(.invalidOffset, handle) }
            return .readBlobResponse(value: Array(value.dropFirst(Int(offset)).prefix(mtu &- 1)))
        case .readMultipleRequest(let handles): return try readMultiple(handles)
        case .readMultipleVariableRequest(let handles): return try readMultipleVariable(handles)
        default: throw .refused(.requestNotSupported, .invalid)
        }
    }

    // MARK: Values

    private func value(of handle: AttributeHandle, offset: Int) throws(Interruption) -> [UInt8] {
        guard let attribute = database.attribute(handle) else { throw .refused(.invalidHandle, handle) }
        return try value(of: attribute, offset: offset)
    }

    private func value(of attribute: GATTAttribute, offset: Int = 0) throws(Interruption) -> [UInt8] {
        let handle = attribute.handle
        guard attribute.read != .never else { throw .refused(.readNotPermitted, handle) }
        if let error = security.refusal(for: attribute.read, keySize: attribute.minimumKeySize) {
            throw .refused(error, handle)
        }
        switch attribute.source {
        case .constant(let bytes): return bytes
        case .stored: return stored[handle] ?? []
        case .configuration(let value, _):
            let bits = configurations[value] ?? 0
            return [UInt8(truncatingIfNeeded: bits), UInt8(bits &>> 8)]
        case .dynamic:
            switch supplied[handle] {
            case .success(let bytes): return bytes
            case .failure(let error): throw .refused(error, handle)
            case nil: throw .needs(handle, offset: offset)
            }
        }
    }

    // MARK: Requests

    /// Returns the attributes in a range; rejects a start that is 0x0000 or above the end with Invalid Handle (Core
    /// 6.0, Vol 3, Part F, 3.4.3.1).
    private func attributes(in range: AttributeHandleRange) throws(Interruption) -> ArraySlice<GATTAttribute> {
        guard range.isValid else { throw .refused(.invalidHandle, range.start) }
        return database.attributes(in: range)
    }

    private func findInformation(_ range: AttributeHandleRange) throws(Interruption) -> ATTPDU {
        let found = try attributes(in: range)
        guard let first = found.first else { throw .refused(.attributeNotFound, range.start) }
        let format: ATTPDU.InformationFormat = first.type.shortForm16 == nil ? .uuid128 : .uuid16
        let room = max(1, (mtu &- 2) / (2 &+ format.uuidByteCount))
        let items = found.prefix(room).prefix { ($0.type.shortForm16 == nil) == (format == .uuid128) }
        return .findInformationResponse(
            format: format,
            items.map { ATTPDU.Information(handle: $0.handle, type: $0.type) }
        )
    }

    private func findByTypeValue(
        _ range: AttributeHandleRange,
        _ type: BluetoothUUID,
        _ wanted: [UInt8]
    ) throws(Interruption) -> ATTPDU {
        let room = max(1, (mtu &- 1) / 4)
        var items: [AttributeHandleRange] = []
        for attribute in try attributes(in: range) where attribute.type == type {
            guard items.count < room else { break }
            do throws(Interruption) {
                guard try value(of: attribute) == wanted else { continue }
            } catch {
                // A value that cannot be read is treated as not found.
                if case .refused = error { continue }
                throw error
            }
            items.append(AttributeHandleRange(start: attribute.handle, end: attribute.groupEnd))
        }
        guard !items.isEmpty else { throw .refused(.attributeNotFound, range.start) }
        return .findByTypeValueResponse(items)
    }

    private func readByType(_ range: AttributeHandleRange, _ type: BluetoothUUID) throws(Interruption) -> ATTPDU {
        let items = try items(range, type, overhead: 2) { attribute, value in
            ATTPDU.HandleValue(handle: attribute.handle, value: value)
        }
        return .readByTypeResponse(items)
    }

    /// Reads the groups of a type; only services are groups (Core 6.0, Vol 3, Part G, 2.5.3).
    private func readByGroupType(_ range: AttributeHandleRange, _ type: BluetoothUUID) throws(Interruption) -> ATTPDU {
        guard range.isValid else { throw .refused(.invalidHandle, range.start) }
        guard type == GATTAttributeType.primaryService || type == GATTAttributeType.secondaryService else {
            throw .refused(.unsupportedGroupType, range.start)
        }
        let items = try items(range, type, overhead: 4) { attribute, value in
            let group = AttributeHandleRange(start: attribute.handle, end: attribute.groupEnd)
            return ATTPDU.GroupValue(range: group, value: value)
        }
        return .readByGroupTypeResponse(items)
    }

    /// Returns as many attributes of a type as fit in the response, all with values of the same length.
    ///
    /// Throws an error if the first attribute cannot be read; stops before any later attribute that cannot be read.
    private func items<Item>(
        _ range: AttributeHandleRange,
        _ type: BluetoothUUID,
        overhead: Int,
        _ item: (GATTAttribute, [UInt8]) -> Item
    ) throws(Interruption) -> [Item] {
        var items: [Item] = []
        var length = 0
        var room = 1
        for attribute in try attributes(in: range) where attribute.type == type {
            guard items.count < room else { break }
            let bytes: [UInt8]
            do throws(Interruption) {
                bytes = try value(of: attribute)
            } catch {
                if case .refused = error, !items.isEmpty { break }
                throw error
            }
            if items.isEmpty {
                length = bytes.count
                let itemLength = min(overhead &+ length, mtu &- 2, Self.longestItem)
                room = max(1, (mtu &- 2) / max(1, itemLength))
            }
            guard bytes.count == length else { break }
            items.append(item(attribute, Array(bytes.prefix(min(mtu &- 2, Self.longestItem) &- overhead))))
        }
        guard !items.isEmpty else { throw .refused(.attributeNotFound, range.start) }
        return items
    }

    /// Reads several values; every value must be readable, even those that do not fit in the response.
    private func readMultiple(_ handles: [AttributeHandle]) throws(Interruption) -> ATTPDU {
        var bytes: [UInt8] = []
        for handle in handles {
            let value = try value(of: handle, offset: 0)
            if bytes.count < mtu { bytes += value }
        }
        return .readMultipleResponse(values: Array(bytes.prefix(mtu &- 1)))
    }

    /// Reads several values with their lengths; the first value that does not fit is truncated, reported with its full
    /// length, and ends the response.
    private func readMultipleVariable(_ handles: [AttributeHandle]) throws(Interruption) -> ATTPDU {
        var items: [ATTPDU.LengthValue] = []
        var room = mtu &- 1
        for handle in handles {
            let value = try value(of: handle, offset: 0)
            guard room >= 2 else {
                room = 0
                continue
            }
            room &-= 2
            items.append(
                ATTPDU.LengthValue(length: UInt16(truncatingIfNeeded: value.count), value: Array(value.prefix(room)))
            )
            room = max(0, room &- value.count)
        }
        return .readMultipleVariableResponse(items)
    }
}
