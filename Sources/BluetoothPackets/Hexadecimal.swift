// SPDX-License-Identifier: GPL-2.0-or-later

/// Hexadecimal text, in capitals.
public enum Hexadecimal {
    /// The last `digits` hexadecimal digits of `value`, with leading zeros.
    public static func text(_ value: UInt64, digits: Int) -> String {
        let plain = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, digits - plain.utf8.count)) + plain
    }

    /// Two digits a byte, such as `0D0A`.
    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.reduce(into: "") { $0 += text(UInt64($1), digits: 2) }
    }

    /// The bytes of pairs of digits, in letters of either case; nil for anything else.
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
