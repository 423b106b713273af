// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Texts

struct ScreenStyle: OptionSet, Hashable {
    let rawValue: UInt8

    static let bold = ScreenStyle(rawValue: 1)
    static let reverse = ScreenStyle(rawValue: 2)
    static let green = ScreenStyle(rawValue: 4)
    static let yellow = ScreenStyle(rawValue: 8)
    static let red = ScreenStyle(rawValue: 16)

    private static let colors: ScreenStyle = [.green, .yellow, .red]

    /// The escape sequence that makes what follows look so (ECMA-48, SGR), in colours where they are wanted.
    func sequence(hasColors: Bool) -> String {
        var numbers = [0]
        if contains(.bold) { numbers.append(1) }
        if contains(.reverse) { numbers.append(7) }
        if hasColors {
            if contains(.red) { numbers.append(31) }
            if contains(.green) { numbers.append(32) }
            if contains(.yellow) { numbers.append(33) }
        }
        return "\u{1B}[\(numbers.map(String.init).joined(separator: ";"))m"
    }

    /// The style as it looks on a terminal.
    func visible(hasColors: Bool) -> ScreenStyle { hasColors ? self : subtracting(Self.colors) }
}

/// A terminal's cells, as they are to be.
struct Screen: Equatable {
    struct Cell: Equatable {
        /// The character in the cell; nil for the right half of the wide character before it.
        var character: Character?
        var style: ScreenStyle

        static let empty = Cell(character: " ", style: [])
    }

    /// The sizes that are drawn; a terminal that says it is greater has the rest empty.
    static let sizes = 1...1000

    let columns: Int
    let rows: Int
    private(set) var cells: [Cell]

    /// An empty screen of a size within `sizes`.
    init(columns: Int, rows: Int) {
        self.columns = min(max(columns, Self.sizes.lowerBound), Self.sizes.upperBound)
        self.rows = min(max(rows, Self.sizes.lowerBound), Self.sizes.upperBound)
        cells = Array(repeating: .empty, count: self.columns * self.rows)
    }

    func row(_ row: Int) -> ArraySlice<Cell> {
        (0..<rows).contains(row) ? cells[(row * columns)..<((row + 1) * columns)] : []
    }

    /// Writes text into a row as far as whole characters fit; returns the column behind it.
    @discardableResult
    mutating func put(_ text: String, row: Int, column: Int, style: ScreenStyle = []) -> Int {
        var column = column
        guard (0..<rows).contains(row), column >= 0 else { return column }
        for (character, width) in ScreenText.cells(of: text) {
            guard column + width <= columns else { break }
            set(Cell(character: character, style: style), row, column)
            if width == 2 { set(Cell(character: nil, style: style), row, column + 1) }
            column += width
        }
        return column
    }

    mutating func fill(row: Int, from column: Int = 0, style: ScreenStyle) {
        guard (0..<rows).contains(row), column < columns else { return }
        for column in max(0, column)..<columns { cells[row * columns + column].style = style }
    }

    /// The rows as text, without styles and without the spaces at their ends.
    var text: [String] {
        (0..<rows).map { row in
            var text = String(self.row(row).compactMap(\.character))
            while text.last == " " { text.removeLast() }
            return text
        }
    }

    private mutating func set(_ cell: Cell, _ row: Int, _ column: Int) {
        let place = row * columns + column
        // Half of a wide character is never left behind.
        if cells[place].character == nil, column > 0, cell.character != nil {
            cells[place - 1].character = " "
        }
        if column + 1 < columns, cells[place + 1].character == nil { cells[place + 1].character = " " }
        cells[place] = cell
    }
}

/// Brings a terminal from one screen to the next with what has changed only.
struct ScreenFrame {
    /// Whether colours are wanted (https://no-color.org).
    var hasColors: Bool
    /// Whether the terminal takes UTF-8; else every character beyond ASCII is shown as a question mark.
    var isUnicode: Bool
    /// The screen that the terminal shows; nil before the first frame, and where others have written to the terminal.
    private(set) var shown: Screen?

    init(hasColors: Bool, isUnicode: Bool) {
        self.hasColors = hasColors
        self.isUnicode = isUnicode
    }

    /// Forgets what the terminal shows: the next frame draws everything.
    mutating func invalidate() { shown = nil }

    /// The bytes to write so that the terminal shows `screen`; empty where it does already.
    mutating func update(to screen: Screen) -> String {
        var output = ""
        var old = shown
        if old?.columns != screen.columns || old?.rows != screen.rows {
            // ECMA-48: SGR 0, ED 2.
            output = "\u{1B}[0m\u{1B}[2J"
            old = Screen(columns: screen.columns, rows: screen.rows)
        }
        for row in 0..<screen.rows {
            let (now, before) = (Array(screen.row(row)), old.map { Array($0.row(row)) } ?? [])
            output += run(from: before, to: now, row: row)
        }
        shown = screen
        return output
    }

    /// The cells of a row from the first to the last that differ.
    private func run(from before: [Screen.Cell], to now: [Screen.Cell], row: Int) -> String {
        let differing = now.indices.filter { !before.indices.contains($0) || before[$0] != now[$0] }
        guard var first = differing.first, let last = differing.last else { return "" }
        // A wide character is drawn whole.
        while first > 0, now[first].character == nil { first -= 1 }
        // ECMA-48: CUP, from 1 on.
        var output = "\u{1B}[\(row + 1);\(first + 1)H"
        var style: ScreenStyle?
        for cell in now[first...last] {
            let wanted = cell.style.visible(hasColors: hasColors)
            if wanted != style {
                output += wanted.sequence(hasColors: hasColors)
                style = wanted
            }
            output += text(of: cell)
        }
        return output + "\u{1B}[0m"
    }

    private func text(of cell: Screen.Cell) -> String {
        guard let character = cell.character else { return isUnicode ? "" : String(ScreenText.substitute) }
        return isUnicode || character.isASCII ? String(character) : String(ScreenText.substitute)
    }
}

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
