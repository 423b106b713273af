// SPDX-License-Identifier: GPL-2.0-or-later

/// The responses that are lists: at least one item, all of one length, filling the PDU.
extension ATTPDU {
    @_lifetime(reader: copy reader)
    static func findInformationResponse(_ reader: inout ByteReader) throws(DecodingError) -> ATTPDU {
        let start = reader.error("Format", .truncated(needed: 1, available: 0))
        let byte = try reader.readUInt8("Format")
        guard let format = InformationFormat(rawValue: byte) else {
            throw DecodingError(
                packet: start.packet,
                field: start.field,
                offset: start.offset,
                reason: .invalidValue(UInt64(byte))
            )
        }
        let field = "Information Data"
        try reader.requireItems(ofLength: 2 &+ format.uuidByteCount, field)
        var items: [Information] = []
        while !reader.isAtEnd {
            let handle = try reader.readHandle(field)
            let type = try reader.readUUID(byteCount: format.uuidByteCount, field)
            items.append(Information(handle: handle, type: type))
        }
        return .findInformationResponse(format: format, items)
    }

    @_lifetime(reader: copy reader)
    static func findByTypeValueResponse(_ reader: inout ByteReader) throws(DecodingError) -> ATTPDU {
        let field = "Handles Information List"
        try reader.requireItems(ofLength: 4, field)
        var items: [AttributeHandleRange] = []
        while !reader.isAtEnd {
            let start = try reader.readHandle(field)
            items.append(AttributeHandleRange(start: start, end: try reader.readHandle(field)))
        }
        return .findByTypeValueResponse(items)
    }

    @_lifetime(reader: copy reader)
    static func readByTypeResponse(_ reader: inout ByteReader) throws(DecodingError) -> ATTPDU {
        let length = try reader.readItemLength(atLeast: 2)
        let field = "Attribute Data List"
        try reader.requireItems(ofLength: length, field)
        var items: [HandleValue] = []
        while !reader.isAtEnd {
            let handle = try reader.readHandle(field)
            items.append(HandleValue(handle: handle, value: try reader.readBytes(count: length &- 2, field)))
        }
        return .readByTypeResponse(items)
    }

    @_lifetime(reader: copy reader)
    static func readByGroupTypeResponse(_ reader: inout ByteReader) throws(DecodingError) -> ATTPDU {
        let length = try reader.readItemLength(atLeast: 4)
        let field = "Attribute Data List"
        try reader.requireItems(ofLength: length, field)
        var items: [GroupValue] = []
        while !reader.isAtEnd {
            let start = try reader.readHandle(field)
            let range = AttributeHandleRange(start: start, end: try reader.readHandle(field))
            items.append(GroupValue(range: range, value: try reader.readBytes(count: length &- 4, field)))
        }
        return .readByGroupTypeResponse(items)
    }

    /// Two or more lengths with values; only the last value may be shorter than its length.
    @_lifetime(reader: copy reader)
    static func readMultipleVariableResponse(_ reader: inout ByteReader) throws(DecodingError) -> ATTPDU {
        let field = "Length Value Tuple List"
        var items: [LengthValue] = []
        while !reader.isAtEnd || items.count < 2 {
            let length = try reader.readUInt16(field)
            let count = min(Int(length), reader.remaining)
            items.append(LengthValue(length: length, value: try reader.readBytes(count: count, field)))
        }
        return .readMultipleVariableResponse(items)
    }

    /// Two or more handles with lengths and values, none cut short.
    @_lifetime(reader: copy reader)
    static func multipleHandleValueNotification(_ reader: inout ByteReader) throws(DecodingError) -> ATTPDU {
        let field = "Handle Length Value Tuple List"
        var items: [HandleValue] = []
        while !reader.isAtEnd || items.count < 2 {
            let handle = try reader.readHandle(field)
            let length = try reader.readUInt16(field)
            items.append(HandleValue(handle: handle, value: try reader.readBytes(count: Int(length), field)))
        }
        return .multipleHandleValueNotification(items)
    }
}

extension ByteReader {
    /// The byte that tells the length of each item; refuses one that cannot hold an item's handles.
    @_lifetime(self: copy self)
    fileprivate mutating func readItemLength(atLeast minimum: Int) throws(DecodingError) -> Int {
        let field = "Length"
        let position = offset
        let length = Int(try readUInt8(field))
        guard length >= minimum else {
            var refusal = error(field, .invalidLength(length))
            refusal.offset = position
            throw refusal
        }
        return length
    }

    /// Refuses a rest that is empty or not a whole number of items.
    fileprivate func requireItems(ofLength length: Int, _ field: String) throws(DecodingError) {
        guard length > 0, remaining >= length else {
            throw error(field, .truncated(needed: length, available: remaining))
        }
        guard remaining % length == 0 else { throw error(field, .invalidLength(remaining)) }
    }
}
