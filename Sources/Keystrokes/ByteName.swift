// SPDX-License-Identifier: GPL-2.0-or-later

/// Bytes as people write them: the ASCII names of control characters, or `0x` and one or two hexadecimal digits, in
/// letters of either case.
public enum ByteName {
    /// The byte of a name or number; nil for any other text.
    public static func byte(_ text: some StringProtocol) -> UInt8? {
        let word = text.lowercased()
        if let named = all.first(where: { $0.name == word }) { return named.byte }
        let digits = word.dropFirst(2)
        guard word.hasPrefix("0x"), 1...2 ~= digits.utf8.count, !digits.contains("+"), !digits.contains("-") else {
            return nil
        }
        return UInt8(digits, radix: 16)
    }

    /// The name of a byte; nil where it has none.
    public static func name(of byte: UInt8) -> String? { all.first { $0.byte == byte }?.name }

    /// All names.
    ///
    /// If a byte has two, the first is the one that is written.
    public static let all: [(name: String, byte: UInt8)] = [
        ("nul", 0), ("soh", 1), ("stx", 2), ("etx", 3), ("eot", 4), ("tab", 9), ("ht", 9), ("lf", 10), ("cr", 13),
        ("etb", 23), ("esc", 27), ("fs", 28), ("gs", 29), ("rs", 30), ("us", 31), ("space", 32),
    ]
}
