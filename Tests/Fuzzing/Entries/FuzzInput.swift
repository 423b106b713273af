// SPDX-License-Identifier: GPL-2.0-or-later

/// An input, taken piece by piece; behind its end there are zeros.
struct FuzzInput {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func word() -> UInt16 { UInt16(byte()) | UInt16(byte()) << 8 }

    /// A number from 0 to `limit` - 1.
    mutating func below(_ limit: Int) -> Int { Int(byte()) % limit }

    mutating func chance(_ percent: Int) -> Bool { !isAtEnd && below(100) < percent }

    /// The next bytes, fewer where the input ends.
    mutating func take(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Bytes with their number before them, at most `most`.
    mutating func bytes(_ most: Int) -> [UInt8] { take(below(most + 1)) }

    /// All that is left.
    mutating func remaining() -> [UInt8] { take(rest.count) }
}
