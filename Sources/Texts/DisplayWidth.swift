// SPDX-License-Identifier: GPL-2.0-or-later

/// The width of text on a terminal, in columns.
package enum DisplayWidth {
    /// The ranges of characters that take two columns: those of East Asian Width Wide and Fullwidth that occur in
    /// names.
    ///
    /// Unicode 16.0, EastAsianWidth.txt, in whole blocks.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
        0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]

    /// The width of a character: 1 or 2 columns.
    package static func columns(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The width of a text, in columns.
    package static func columns(of text: String) -> Int { text.reduce(0) { $0 + columns($1) } }

    /// The longest beginning of a text that fits into so many columns.
    package static func cut(_ text: String, to columns: Int) -> String {
        var rest = columns
        return String(
            text.prefix { character in
                rest -= Self.columns(character)
                return rest >= 0
            }
        )
    }

    /// A text cut, or filled with spaces, to exactly so many columns.
    package static func padded(_ text: String, to columns: Int) -> String {
        let visible = cut(text, to: columns)
        return visible + String(repeating: " ", count: columns - Self.columns(of: visible))
    }
}
