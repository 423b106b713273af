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
}
