// SPDX-License-Identifier: GPL-2.0-or-later

/// Reads the input piece by piece; after its end, it returns zeros.
struct FuzzInput {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func word() -> UInt16 { UInt16(byte()) | UInt16(byte()) << 8 }

    /// Returns a number from 0 to `limit` - 1.
    mutating func below(_ limit: Int) -> Int { Int(byte()) % limit }

    mutating func chance(_ percent: Int) -> Bool { !isAtEnd && below(100) < percent }

    /// Returns the next bytes; fewer at the end of the input.
    mutating func take(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Returns up to `most` bytes, whose number is read from the input first.
    mutating func bytes(_ most: Int) -> [UInt8] { take(below(most + 1)) }

    /// Returns all remaining bytes.
    mutating func remaining() -> [UInt8] { take(rest.count) }
}
