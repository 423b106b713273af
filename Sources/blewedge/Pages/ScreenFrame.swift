// SPDX-License-Identifier: GPL-2.0-or-later

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
