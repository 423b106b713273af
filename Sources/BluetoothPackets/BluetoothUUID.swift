// SPDX-License-Identifier: GPL-2.0-or-later

/// Bluetooth UUID of 16, 32 or 128 bits (Core 6.0, Vol 3, Part B, 2.5.1).
///
/// It is stored in its 128-bit form, so that different forms of the same UUID compare as equal.
public struct BluetoothUUID: Hashable, Sendable {
    /// Most significant 64 bits.
    public let high: UInt64
    /// Least significant 64 bits.
    public let low: UInt64

    /// Least significant 64 bits of the base UUID `00000000-0000-1000-8000-00805F9B34FB`.
    private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB
    /// Most significant 64 bits of the base UUID, in which the first 32 bits are zero.
    private static let baseHigh: UInt64 = 0x0000_0000_0000_1000

    /// Creates a UUID from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates a UUID from its 16-bit form.
    public init(_ value: UInt16) {
        self.init(UInt32(value))
    }

    /// Creates a UUID from its 32-bit form.
    public init(_ value: UInt32) {
        self.init(high: UInt64(value) &<< 32 | Self.baseHigh, low: Self.baseLow)
    }

    /// Parses `180A`, `0x180A`, `0000180A`, or the 36 characters of the 128-bit form, with hexadecimal digits in either
    /// case.
    ///
    /// Returns nil for any other text.
    public init?(_ text: some StringProtocol) {
        var digits = Substring(text)
        if digits.utf8.count == 36 {
            var value: (UInt64, UInt64) = (0, 0)
            var position = 0
            for byte in digits.utf8 {
                if position == 8 || position == 13 || position == 18 || position == 23 {
                    guard byte == UInt8(ascii: "-") else { return nil }
                } else {
                    guard let digit = Self.hexDigit(byte) else { return nil }
                    value.0 = value.0 &<< 4 | value.1 &>> 60
                    value.1 = value.1 &<< 4 | digit
                }
                position += 1
            }
            self.init(high: value.0, low: value.1)
            return
        }
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") { digits = digits.dropFirst(2) }
        guard digits.utf8.count == 4 || digits.utf8.count == 8 else { return nil }
        var value: UInt64 = 0
        for byte in digits.utf8 {
            guard let digit = Self.hexDigit(byte) else { return nil }
            value = value &<< 4 | digit
        }
        self.init(UInt32(truncatingIfNeeded: value))
    }

    /// Returns a random UUID (RFC 9562, version 4).
    public static func random() -> BluetoothUUID {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }

    /// Returns a random UUID (RFC 9562, version 4) from the given generator.
    public static func random(using generator: inout some RandomNumberGenerator) -> BluetoothUUID {
        let high: UInt64 = generator.next()
        let low: UInt64 = generator.next()
        return BluetoothUUID(high: high & ~0xF000 | 0x4000, low: low & ~(0b11 &<< 62) | 0b10 &<< 62)
    }

    /// 16-bit form; nil if there is none.
    public var shortForm16: UInt16? { shortForm32.flatMap { UInt16(exactly: $0) } }

    /// 32-bit form, which a 16-bit UUID has as well; nil if there is none.
    public var shortForm32: UInt32? {
        guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh else { return nil }
        return UInt32(truncatingIfNeeded: high &>> 32)
    }

    private static func hexDigit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte &- UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte &- UInt8(ascii: "a") &+ 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte &- UInt8(ascii: "A") &+ 10)
        default: nil
        }
    }
}

extension BluetoothUUID: ExpressibleByIntegerLiteral {
    /// Creates a 16-bit or 32-bit UUID from a literal, such as `0x180F`.
    public init(integerLiteral value: UInt32) { self.init(value) }
}

extension BluetoothUUID: CustomStringConvertible {
    /// The shortest form in uppercase: `180A`, `12345678`, or the 36 characters of the 128-bit form.
    public var description: String {
        if let value = shortForm16 { return Hexadecimal.text(UInt64(value), digits: 4) }
        if let value = shortForm32 { return Hexadecimal.text(UInt64(value), digits: 8) }
        return fullDescription
    }

    /// The 36 characters of the 128-bit form, in uppercase.
    public var fullDescription: String {
        [
            Hexadecimal.text(high &>> 32, digits: 8), Hexadecimal.text(high &>> 16 & 0xFFFF, digits: 4),
            Hexadecimal.text(high & 0xFFFF, digits: 4), Hexadecimal.text(low &>> 48, digits: 4),
            Hexadecimal.text(low & 0xFFFF_FFFF_FFFF, digits: 12),
        ].joined(separator: "-")
    }
}
