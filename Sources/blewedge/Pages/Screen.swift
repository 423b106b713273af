// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Texts

struct ScreenStyle: OptionSet, Hashable {
    let rawValue: UInt8

    static let bold = ScreenStyle(rawValue: 1)
    static let reverse = ScreenStyle(rawValue: 2)
    static let green = ScreenStyle(rawValue: 4)
    static let yellow = ScreenStyle(rawValue: 8)
    static let red = ScreenStyle(rawValue: 16)

    private static let colors: ScreenStyle = [.green, .yellow, .red]

    /// Returns the escape sequence that selects this style (ECMA-48, SGR), with colours if `hasColors` is true.
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

    /// Returns the style as shown on the terminal: without colours, unless `hasColors` is true.
    func visible(hasColors: Bool) -> ScreenStyle { hasColors ? self : subtracting(Self.colors) }
}

/// Intended contents of a terminal's cells.
struct Screen: Equatable {
    struct Cell: Equatable {
        /// Character in the cell; nil for the right half of the wide character before it.
        var character: Character?
        var style: ScreenStyle

        static let empty = Cell(character: " ", style: [])
    }

    /// Supported numbers of columns and rows; the part of a larger terminal that exceeds them stays empty.
    static let sizes = 1...1000

    let columns: Int
    let rows: Int
    private(set) var cells: [Cell]
    /// Parts that respond to a click, in the order in which they were drawn.
    private var targets: [(row: Int, columns: Range<Int>, target: TUITarget)] = []

    /// Creates an empty screen; its size is limited to `sizes`.
    init(columns: Int, rows: Int) {
        self.columns = min(max(columns, Self.sizes.lowerBound), Self.sizes.upperBound)
        self.rows = min(max(rows, Self.sizes.lowerBound), Self.sizes.upperBound)
        cells = Array(repeating: .empty, count: self.columns * self.rows)
    }

    func row(_ row: Int) -> ArraySlice<Cell> {
        (0..<rows).contains(row) ? cells[(row * columns)..<((row + 1) * columns)] : []
    }

    static func == (one: Screen, other: Screen) -> Bool {
        one.columns == other.columns && one.rows == other.rows && one.cells == other.cells
    }

    /// Writes as many whole characters of a text into a row as fit before the column `end`, or before the edge; returns
    /// the column after them.
    @discardableResult
    mutating func put(_ text: String, row: Int, column: Int, to end: Int? = nil, style: ScreenStyle = []) -> Int {
        var column = column
        let end = min(end ?? columns, columns)
        guard (0..<rows).contains(row), column >= 0 else { return column }
        for (character, width) in ScreenText.cells(of: text) {
            guard column + width <= end else { break }
            set(Cell(character: character, style: style), row, column)
            if width == 2 { set(Cell(character: nil, style: style), row, column + 1) }
            column += width
        }
        return column
    }

    mutating func fill(row: Int, from column: Int = 0, to end: Int? = nil, style: ScreenStyle) {
        let (first, end) = (max(0, column), min(end ?? columns, columns))
        guard (0..<rows).contains(row), first < end else { return }
        for column in first..<end { cells[row * columns + column].style = style }
    }

    /// Registers a part of a row that responds to a click.
    mutating func add(_ target: TUITarget, row: Int, columns: Range<Int>) {
        targets.append((row, columns, target))
    }

    /// Returns the response to a click on a cell; nil if there is none.
    ///
    /// The response of a text takes precedence over the response of its line.
    func target(row: Int, column: Int) -> TUITarget? {
        targets.first { $0.row == row && $0.columns.contains(column) }?.target
    }

    /// Rows as text, without styles and trailing spaces.
    var text: [String] {
        (0..<rows).map { row in
            var text = String(self.row(row).compactMap(\.character))
            while text.last == " " { text.removeLast() }
            return text
        }
    }

    private mutating func set(_ cell: Cell, _ row: Int, _ column: Int) {
        let place = row * columns + column
        // If half of a wide character is overwritten, the other half is erased.
        if cells[place].character == nil, column > 0, cell.character != nil {
            cells[place - 1].character = " "
        }
        if column + 1 < columns, cells[place + 1].character == nil { cells[place + 1].character = " " }
        cells[place] = cell
    }
}

/// Incremental update of a terminal, which writes only the cells that have changed.
struct ScreenFrame {
    /// True if colours may be used (https://no-color.org).
    var hasColors: Bool
    /// True if the terminal supports UTF-8; otherwise, every character beyond ASCII is shown as a question mark.
    var isUnicode: Bool
    /// Screen that the terminal shows; nil before the first frame, and after other programs have written to it.
    private(set) var shown: Screen?

    init(hasColors: Bool, isUnicode: Bool) {
        self.hasColors = hasColors
        self.isUnicode = isUnicode
    }

    /// Forgets the shown screen, so that the next frame draws every cell.
    mutating func invalidate() { shown = nil }

    /// Returns the text that makes the terminal show `screen`; empty if it does already.
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

    /// Returns the text that rewrites a row from its first to its last changed cell.
    private func run(from before: [Screen.Cell], to now: [Screen.Cell], row: Int) -> String {
        let differing = now.indices.filter { !before.indices.contains($0) || before[$0] != now[$0] }
        guard var first = differing.first, let last = differing.last else { return "" }
        // A wide character is redrawn whole.
        while first > 0, now[first].character == nil { first -= 1 }
        // ECMA-48 CUP, with rows and columns numbered from 1.
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

/// Text as shown in a terminal's cells.
enum ScreenText {
    /// Replacement for a character that a cell cannot show.
    static let substitute: Character = "?"

    /// Returns the characters of a text as shown in cells, with their widths in columns.
    ///
    /// A character that is not visible by itself is replaced by `substitute`, so that none moves the cursor or changes
    /// the width of a neighbour. Combining marks are kept only if every terminal draws them on the preceding character.
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

    /// Wraps a text to `columns` columns.
    ///
    /// Lines are broken after spaces, and beside wide characters where the rules for Japanese permit it.
    static func wrapped(_ text: String, columns: Int) -> [String] {
        let columns = max(1, columns)
        var lines: [String] = []
        var line = ""
        var used = 0
        var last: Character?
        // Last position at which the line may be broken; nil if there is none.
        var breakPoint: String.Index?
        for (character, width) in cells(of: text) {
            if let last, mayBreak(last, character) { breakPoint = line.endIndex }
            // A space beyond the edge does not cause a break: it is trimmed at the end of the line.
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

    /// Returns true if a line may be broken between these two characters.
    private static func mayBreak(_ first: Character, _ second: Character) -> Bool {
        if first == " " { return true }
        let isBesideWide = DisplayWidth.columns(first) == 2 || DisplayWidth.columns(second) == 2
        return isBesideWide && second != " " && !closing.contains(second) && !opening.contains(first)
    }

    /// Characters that must not begin a line, and those that must not end one (JIS X 4051).
    private static let closing = Set("、。,.:;?!)]}」』)・ーっゃゅょッャュョァィゥェォぁぃぅぇぉ")
    private static let opening = Set("([{「『(")

    /// Returns true if a scalar is visible by itself, which a combining mark is not.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        LocalName.printable(String(scalar)) == String(scalar)
    }

    /// Returns true for a mark that has no width on any terminal: a combining diacritic, or a sound mark of kana.
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
