// SPDX-License-Identifier: GPL-2.0-or-later

/// How a cell of a terminal looks.
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
    /// One cell.
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

    /// The cells of a row; none outside of the screen.
    func row(_ row: Int) -> ArraySlice<Cell> {
        (0..<rows).contains(row) ? cells[(row * columns)..<((row + 1) * columns)] : []
    }

    /// Writes text into a row, as far as it fits; a wide character that does not fit whole is left out.
    ///
    /// Returns the column behind it.
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

    /// Gives the cells of a row from a column on another style.
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
