// SPDX-License-Identifier: GPL-2.0-or-later

/// A cursor over a packet's bytes: every `read` checks the bounds, advances, or throws and leaves the cursor where it
/// was.
///
/// Multi-byte integers are little-endian, as everywhere in HCI, L2CAP and ATT.
public struct ByteReader: ~Escapable {
    private let bytes: Span<UInt8>
    private let packet: String
    /// The position of the next byte, counted from the packet's first.
    public private(set) var offset = 0

    /// Begins at the first of `bytes`; `packet` is the name that errors carry.
    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>, packet: String) {
        self.bytes = bytes
        self.packet = packet
    }

    /// The number of bytes not yet read.
    public var remaining: Int { bytes.count &- offset }

    /// True when every byte was read.
    public var isAtEnd: Bool { offset == bytes.count }

    /// The next byte.
    @_lifetime(self: copy self)
    public mutating func readUInt8(_ field: String) throws(DecodingError) -> UInt8 {
        try require(1, field)
        let value = bytes[offset]
        offset &+= 1
        return value
    }

    /// The next byte as a signed number, such as an RSSI in dBm.
    @_lifetime(self: copy self)
    public mutating func readInt8(_ field: String) throws(DecodingError) -> Int8 {
        Int8(bitPattern: try readUInt8(field))
    }

    /// The next two bytes.
    @_lifetime(self: copy self)
    public mutating func readUInt16(_ field: String) throws(DecodingError) -> UInt16 {
        UInt16(truncatingIfNeeded: try readInteger(byteCount: 2, field))
    }

    /// The next four bytes.
    @_lifetime(self: copy self)
    public mutating func readUInt32(_ field: String) throws(DecodingError) -> UInt32 {
        UInt32(truncatingIfNeeded: try readInteger(byteCount: 4, field))
    }

    /// The next eight bytes.
    @_lifetime(self: copy self)
    public mutating func readUInt64(_ field: String) throws(DecodingError) -> UInt64 {
        try readInteger(byteCount: 8, field)
    }

    /// The next sixteen bytes.
    @_lifetime(self: copy self)
    public mutating func readUInt128(_ field: String) throws(DecodingError) -> UInt128 {
        try require(16, field)
        let low = try readUInt64(field)
        return UInt128(try readUInt64(field)) &<< 64 | UInt128(low)
    }

    /// The next six bytes, as an address.
    @_lifetime(self: copy self)
    public mutating func readAddress(_ field: String) throws(DecodingError) -> BluetoothAddress {
        BluetoothAddress(rawValue: try readInteger(byteCount: 6, field))
    }

    /// The next 2, 4 or 16 bytes as a UUID.
    @_lifetime(self: copy self)
    public mutating func readUUID(byteCount: Int, _ field: String) throws(DecodingError) -> BluetoothUUID {
        switch byteCount {
        case 2: return BluetoothUUID(try readUInt16(field))
        case 4: return BluetoothUUID(try readUInt32(field))
        case 16:
            try require(16, field)
            let low = try readUInt64(field)
            let high = try readUInt64(field)
            return BluetoothUUID(high: high, low: low)
        default: throw error(field, .invalidLength(byteCount))
        }
    }

    /// The next `count` bytes, in place.
    @_lifetime(self: copy self)
    @_lifetime(copy self)
    public mutating func readSpan(count: Int, _ field: String) throws(DecodingError) -> Span<UInt8> {
        try require(count, field)
        let start = offset
        offset &+= count
        return bytes.extracting(start..<offset)
    }

    /// The next `count` bytes, copied.
    @_lifetime(self: copy self)
    public mutating func readBytes(count: Int, _ field: String) throws(DecodingError) -> [UInt8] {
        [UInt8](copying: try readSpan(count: count, field))
    }

    /// All that is left, in place.
    @_lifetime(self: copy self)
    @_lifetime(copy self)
    public mutating func readRest() -> Span<UInt8> {
        let start = offset
        offset = bytes.count
        return bytes.extracting(start..<offset)
    }

    /// Refuses a packet of which bytes are left over.
    public func expectEnd() throws(DecodingError) {
        guard isAtEnd else { throw error("end", .trailing(count: remaining)) }
    }

    /// An error about a field at the cursor, for checks that the reader cannot make.
    public func error(_ field: String, _ reason: DecodingError.Reason) -> DecodingError {
        DecodingError(packet: packet, field: field, offset: offset, reason: reason)
    }

    private func require(_ count: Int, _ field: String) throws(DecodingError) {
        guard count >= 0, count <= remaining else {
            throw error(field, .truncated(needed: count, available: remaining))
        }
    }

    @_lifetime(self: copy self)
    private mutating func readInteger(byteCount: Int, _ field: String) throws(DecodingError) -> UInt64 {
        try require(byteCount, field)
        var value: UInt64 = 0
        for index in 0..<byteCount {
            value |= UInt64(bytes[offset &+ index]) &<< UInt64(8 &* index)
        }
        offset &+= byteCount
        return value
    }
}

extension [UInt8] {
    /// The bytes of a span, copied.
    public init(copying span: Span<UInt8>) {
        self.init()
        reserveCapacity(span.count)
        for index in span.indices { append(span[index]) }
    }
}
