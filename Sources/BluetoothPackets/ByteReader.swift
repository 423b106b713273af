// SPDX-License-Identifier: GPL-2.0-or-later

/// Bounds-checked cursor over a packet's bytes.
///
/// Every `read` method either advances the cursor, or throws an error and leaves the cursor unchanged.
///
/// Multi-byte integers are little-endian, as they are throughout HCI, L2CAP and ATT.
public struct ByteReader: ~Escapable {
    private let bytes: Span<UInt8>
    private let packet: String
    /// Position of the next byte, counted from the start of the packet.
    public private(set) var offset = 0

    /// Creates a reader at the start of `bytes`; error messages refer to the packet as `packet`.
    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>, packet: String) {
        self.bytes = bytes
        self.packet = packet
    }

    /// Number of unread bytes.
    public var remaining: Int { bytes.count &- offset }

    /// True if all bytes were read.
    public var isAtEnd: Bool { offset == bytes.count }

    /// Reads the next byte.
    @_lifetime(self: copy self)
    public mutating func readUInt8(_ field: String) throws(DecodingError) -> UInt8 {
        try require(1, field)
        let value = bytes[offset]
        offset &+= 1
        return value
    }

    /// Reads the next byte as a signed number; used, for example, for an RSSI in dBm.
    @_lifetime(self: copy self)
    public mutating func readInt8(_ field: String) throws(DecodingError) -> Int8 {
        Int8(bitPattern: try readUInt8(field))
    }

    /// Reads the next two bytes as a number.
    @_lifetime(self: copy self)
    public mutating func readUInt16(_ field: String) throws(DecodingError) -> UInt16 {
        UInt16(truncatingIfNeeded: try readInteger(byteCount: 2, field))
    }

    /// Reads the next four bytes as a number.
    @_lifetime(self: copy self)
    public mutating func readUInt32(_ field: String) throws(DecodingError) -> UInt32 {
        UInt32(truncatingIfNeeded: try readInteger(byteCount: 4, field))
    }

    /// Reads the next eight bytes as a number.
    @_lifetime(self: copy self)
    public mutating func readUInt64(_ field: String) throws(DecodingError) -> UInt64 {
        try readInteger(byteCount: 8, field)
    }

    /// Reads the next sixteen bytes as a number.
    @_lifetime(self: copy self)
    public mutating func readUInt128(_ field: String) throws(DecodingError) -> UInt128 {
        try require(16, field)
        let low = try readUInt64(field)
        return UInt128(try readUInt64(field)) &<< 64 | UInt128(low)
    }

    /// Reads the next six bytes as an address.
    @_lifetime(self: copy self)
    public mutating func readAddress(_ field: String) throws(DecodingError) -> BluetoothAddress {
        BluetoothAddress(rawValue: try readInteger(byteCount: 6, field))
    }

    /// Reads the next 2, 4 or 16 bytes as a UUID.
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

    /// Reads the next `count` bytes without copying them.
    @_lifetime(self: copy self)
    @_lifetime(copy self)
    public mutating func readSpan(count: Int, _ field: String) throws(DecodingError) -> Span<UInt8> {
        try require(count, field)
        let start = offset
        offset &+= count
        return bytes.extracting(start..<offset)
    }

    /// Reads a copy of the next `count` bytes.
    @_lifetime(self: copy self)
    public mutating func readBytes(count: Int, _ field: String) throws(DecodingError) -> [UInt8] {
        [UInt8](copying: try readSpan(count: count, field))
    }

    /// Reads all remaining bytes without copying them.
    @_lifetime(self: copy self)
    @_lifetime(copy self)
    public mutating func readRest() -> Span<UInt8> {
        let start = offset
        offset = bytes.count
        return bytes.extracting(start..<offset)
    }

    /// Throws an error if unread bytes remain.
    public func expectEnd() throws(DecodingError) {
        guard isAtEnd else { throw error("end", .trailing(count: remaining)) }
    }

    /// Returns an error for a field at the cursor, for callers that perform additional checks.
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
    /// Creates an array with a copy of a span's bytes.
    public init(copying span: Span<UInt8>) {
        self.init()
        reserveCapacity(span.count)
        for index in span.indices { append(span[index]) }
    }
}

/// Packet under construction.
///
/// Multi-byte integers are written in little-endian order.
public struct ByteWriter: Sendable {
    /// Bytes written so far.
    public private(set) var bytes: [UInt8] = []

    /// Creates an empty packet with room for `capacity` bytes.
    public init(reservingCapacity capacity: Int = 32) {
        bytes.reserveCapacity(capacity)
    }

    /// Appends one byte.
    public mutating func write(_ value: UInt8) {
        bytes.append(value)
    }

    /// Appends an integer of 16, 32, 64 or 128 bits.
    public mutating func write(_ value: some FixedWidthInteger & UnsignedInteger) {
        var rest = value
        for _ in 0..<(value.bitWidth / 8) {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// Appends bytes unchanged.
    public mutating func write(_ value: some Sequence<UInt8>) {
        bytes.append(contentsOf: value)
    }

    /// Appends the six bytes of an address, least significant byte first.
    public mutating func write(_ value: BluetoothAddress) {
        var rest = value.rawValue
        for _ in 0..<6 {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// Appends a UUID as two bytes if it has a 16-bit form, otherwise as sixteen bytes.
    ///
    /// ATT does not use the 32-bit form (Core 6.0, Vol 3, Part F, 3.2.1).
    public mutating func write(_ value: BluetoothUUID) {
        if let short = value.shortForm16 {
            write(short)
        } else {
            write(value.low)
            write(value.high)
        }
    }
}

/// Type whose values have a fixed encoding in packets.
package protocol ByteWritable {
    func write(to writer: inout ByteWriter)
}

extension ByteWriter {
    /// Returns the concatenated encodings of the values.
    package static func bytes<each Value: ByteWritable>(_ values: repeat each Value) -> [UInt8] {
        var writer = ByteWriter()
        repeat (each values).write(to: &writer)
        return writer.bytes
    }
}

extension ByteWritable where Self: FixedWidthInteger & UnsignedInteger {
    package func write(to writer: inout ByteWriter) { writer.write(self) }
}

extension UInt8: ByteWritable {}
extension UInt16: ByteWritable {}
extension UInt32: ByteWritable {}
extension UInt64: ByteWritable {}
extension UInt128: ByteWritable {}
extension ConnectionParameters: ByteWritable {}
extension ManagementAddress: ByteWritable {}

extension [UInt8]: ByteWritable {
    package func write(to writer: inout ByteWriter) { writer.write(self) }
}

extension BluetoothAddress: ByteWritable {
    package func write(to writer: inout ByteWriter) { writer.write(self) }
}

extension Span<UInt8> {
    /// Returns the eight bytes starting at `offset` as a little-endian number; traps if they are out of bounds.
    @inlinable @inline(__always)
    func word(at offset: Int) -> UInt64 {
        // Sound: the bounds are checked, and any eight bytes form a valid number.
        UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Returns true if these bytes start with `prefix`; compares up to sixteen bytes at a time.
    @inlinable @inline(__always)
    public func begins(with prefix: Span<UInt8>) -> Bool {
        let count = prefix.count
        guard self.count >= count else { return false }
        guard count >= 16 else {
            guard count >= 8 else {
                for index in 0..<count where self[index] != prefix[index] { return false }
                return true
            }
            return word(at: 0) == prefix.word(at: 0) && word(at: count &- 8) == prefix.word(at: count &- 8)
        }
        let last = count &- 16
        // The last sixteen bytes overlap the preceding ones if the count is not a multiple of sixteen.
        var difference = self.difference(prefix, at: last)
        var offset = 0
        while offset < last {
            difference |= self.difference(prefix, at: offset)
            offset &+= 16
        }
        return difference == SIMD2<UInt64>()
    }

    /// Returns the differing bits of the sixteen bytes at `offset`, which must be within both spans.
    @inlinable @inline(__always)
    func difference(_ other: Span<UInt8>, at offset: Int) -> SIMD2<UInt64> {
        // Sound: `begins` has compared the counts, and any sixteen bytes form two valid numbers.
        let one = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: SIMD2<UInt64>.self)
        let two = unsafe other.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: SIMD2<UInt64>.self)
        return one ^ two
    }
}

/// Error found while decoding a packet, with the packet, the field, its position, and the reason.
public struct DecodingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Reason why a field is invalid.
    public enum Reason: Equatable, Sendable {
        /// The field needs more bytes than remain.
        case truncated(needed: Int, available: Int)
        /// Bytes remain after the last field.
        case trailing(count: Int)
        /// A length field has a value that is not possible for this packet.
        case invalidLength(Int)
        case invalidValue(UInt64)
        /// The code (an opcode or an event code) is that of a different packet.
        case unexpectedCode(UInt16)
    }

    /// Name of the packet in the specification, such as `Read By Type Response`.
    public var packet: String
    /// Name of the field.
    public var field: String
    /// Offset of the field from the start of the packet, in bytes.
    public var offset: Int
    /// Reason why the field is invalid.
    public var reason: Reason

    public init(packet: String, field: String, offset: Int, reason: Reason) {
        self.packet = packet
        self.field = field
        self.offset = offset
        self.reason = reason
    }

    /// Message in one line: packet, field, offset and reason.
    public var description: String {
        let fault =
            switch reason {
            case .truncated(let needed, let available): "needs \(needed) bytes, \(available) are left"
            case .trailing(let count): "\(count) bytes too many"
            case .invalidLength(let length): "impossible length \(length)"
            case .invalidValue(let value): "impossible value \(value)"
            case .unexpectedCode(let code): "unexpected code \(code)"
            }
        return "\(packet): \(field) at byte \(offset): \(fault)"
    }
}

/// Conversions to and from hexadecimal text, which is written in uppercase.
public enum Hexadecimal {
    /// Returns `value` with at least `digits` hexadecimal digits, padded with leading zeros.
    public static func text(_ value: UInt64, digits: Int) -> String {
        let plain = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, digits - plain.utf8.count)) + plain
    }

    /// Returns the bytes as text with two digits per byte, such as `0D0A`.
    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.reduce(into: "") { $0 += text(UInt64($1), digits: 2) }
    }

    /// Parses pairs of hexadecimal digits in either case; returns nil for any other text.
    public static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var first: UInt8?
        for scalar in text.unicodeScalars {
            guard let digit = digit(scalar) else { return nil }
            if let high = first { bytes.append(high &<< 4 | digit) }
            first = first == nil ? digit : nil
        }
        return first == nil ? bytes : nil
    }

    private static func digit(_ scalar: Unicode.Scalar) -> UInt8? {
        switch scalar {
        case "0"..."9": UInt8(truncatingIfNeeded: scalar.value &- 0x30)
        case "a"..."f": UInt8(truncatingIfNeeded: scalar.value &- 0x57)
        case "A"..."F": UInt8(truncatingIfNeeded: scalar.value &- 0x37)
        default: nil
        }
    }
}
