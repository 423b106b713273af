// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Texts

/// Text as a terminal's cells have it.
enum ScreenText {
    /// The character in the place of one that a cell cannot have.
    static let substitute: Character = "?"

    /// The characters of a text that have cells, and how many columns each takes.
    ///
    /// Nothing that moves the cursor, hides, joins or changes a neighbour's width is among them: a mark stays only where
    /// every terminal puts it on the character before it.
    static func cells(of text: String) -> [(character: Character, columns: Int)] {
        text.map { character in
            guard let first = character.unicodeScalars.first, isVisible(first) else { return (substitute, 1) }
            var plain = String.UnicodeScalarView([first])
            plain.append(contentsOf: character.unicodeScalars.dropFirst().filter(isMark).prefix(2))
            let cell = Character(String(plain))
            return (cell, DisplayWidth.columns(cell))
        }
    }

    /// The columns that a text takes.
    static func columns(of text: String) -> Int { cells(of: text).reduce(0) { $0 + $1.columns } }

    /// The text in lines of at most so many columns: broken behind spaces, and beside wide characters where Japanese may be.
    static func wrapped(_ text: String, columns: Int) -> [String] {
        let columns = max(1, columns)
        var lines: [String] = []
        var line = ""
        var used = 0
        var last: Character?
        // Where the line may be broken.
        var breakPoint: String.Index?
        for (character, width) in cells(of: text) {
            if let last, mayBreak(last, character) { breakPoint = line.endIndex }
            // A space that does not fit is the break.
            if used + width > columns, used > 0, character != " " {
                let end = breakPoint ?? line.endIndex
                lines.append(String(line[..<end]).withoutSpacesAtEnd)
                line = String(line[end...])
                used = Self.columns(of: line)
                breakPoint = nil
            }
            line.append(character)
            used += width
            last = character
        }
        return lines + [line.withoutSpacesAtEnd]
    }

    /// Whether a line may end between these two.
    private static func mayBreak(_ first: Character, _ second: Character) -> Bool {
        if first == " " { return true }
        let isBesideWide = DisplayWidth.columns(first) == 2 || DisplayWidth.columns(second) == 2
        return isBesideWide && second != " " && !closing.contains(second) && !opening.contains(first)
    }

    /// The characters that no line begins with, and those that none ends with (JIS X 4051).
    private static let closing = Set("、。,.:;?!)]}」』)・ーっゃゅょッャュョァィゥェォぁぃぅぇぉ")
    private static let opening = Set("([{「『(")

    /// Scalars that have a glyph of their own: a mark by itself has none.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        LocalName.printable(String(scalar)) == String(scalar)
    }

    /// Marks that take no column wherever they are shown: the combining diacritics, and those of kana.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        (0x0300...0x036F).contains(scalar.value) || (0x3099...0x309A).contains(scalar.value)
    }
}

extension String {
    fileprivate var withoutSpacesAtEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
