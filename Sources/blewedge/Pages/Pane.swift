// SPDX-License-Identifier: GPL-2.0-or-later

import Texts

/// Part of a page with a title; it has a frame on a large screen only.
struct Pane {
    /// Title, shown in the upper edge of the frame.
    ///
    /// Without frames, it is shown as a line above the pane, except for the first pane.
    var title: String
    var lines: [PageLine]
    /// Lines that must be visible; nil for a pane that scrolls freely.
    var focus: Range<Int>?
    /// Number of rows without the frame; nil for the first pane, which gets the rows that the other panes leave free.
    var rows: Int?
    /// True if the pane stands beside the first one on a screen that is wide enough.
    var isBeside = false
    /// True if the lines reach the edges of the frame, as rows with a cursor do.
    var isFlush = false

    init(_ title: String, _ lines: [PageLine], focus: Range<Int>? = nil, rows: Int? = nil) {
        self.title = title
        self.lines = lines
        self.focus = focus
        self.rows = rows
    }

    /// Returns the lines that are visible in `rows` rows.
    func visible(rows: Int, scroll: Int = 0) -> ArraySlice<PageLine> {
        let space = max(0, rows)
        var first = min(max(0, scroll), max(0, lines.count - space))
        if let focus { first = min(max(0, focus.upperBound - space), max(0, focus.lowerBound)) }
        return lines.dropFirst(first).prefix(space)
    }
}

/// Area of a screen in which the panes of a page are laid out.
struct PaneArea {
    /// Minimum size of a screen with frames.
    private static let (framedColumns, framedRows) = (60, 16)
    /// Minimum width of a screen with a pane beside the first one, and the width of that pane.
    private static let (besideColumns, besideWidth) = (128, 48)

    /// Size of the whole screen.
    let columns: Int
    let screenRows: Int
    /// First row of the area, and the number of its rows.
    let first: Int
    let rows: Int

    var isFramed: Bool { columns >= Self.framedColumns && screenRows >= Self.framedRows }
    var hasBeside: Bool { isFramed && columns >= Self.besideColumns }
    /// Returns the number of columns available to the text of a pane.
    ///
    /// `isBeside` is true for the pane beside the first one, and `isFirst` for a first pane that has another one beside
    /// it.
    func width(isBeside: Bool = false, isFirst: Bool = false, isFlush: Bool = false) -> Int {
        guard isFramed else { return columns }
        let edges = isFlush ? 2 : 4
        if hasBeside, isBeside { return Self.besideWidth - edges }
        return columns - edges - (hasBeside && isFirst ? Self.besideWidth : 0)
    }

    /// Draws the panes of a page; the first one scrolls by `scroll` lines.
    func draw(_ panes: [Pane], scroll: Int, glyphs: TerminalGlyphs, on screen: inout Screen) {
        guard let main = panes.first, rows > 0 else { return }
        if isFramed {
            drawFramed(main, Array(panes.dropFirst()), scroll, glyphs, &screen)
        } else {
            drawPlain(main, Array(panes.dropFirst()), scroll, &screen)
        }
    }

    /// Draws the first pane at the top and the others at the bottom, without frames.
    private func drawPlain(_ main: Pane, _ others: [Pane], _ scroll: Int, _ screen: inout Screen) {
        let foot = others.flatMap { pane -> [PageLine] in
            let lines = pane.lines.prefix(pane.rows ?? pane.lines.count)
            guard !lines.isEmpty else { return [] }
            return (pane.title.isEmpty ? [] : [PageLine(pane.title, .bold)]) + lines
        }
        let fixed = rows > foot.count ? foot : Array(foot.suffix(max(0, rows - 1)))
        for (row, line) in main.visible(rows: rows - fixed.count, scroll: scroll).enumerated() {
            screen.draw(line, row: first + row)
        }
        for (row, line) in fixed.enumerated() { screen.draw(line, row: first + rows - fixed.count + row) }
    }

    private func drawFramed(
        _ main: Pane,
        _ others: [Pane],
        _ scroll: Int,
        _ glyphs: TerminalGlyphs,
        _ screen: inout Screen
    ) {
        let beside = hasBeside ? others.filter(\.isBeside) : []
        let below = others.filter { !hasBeside || !$0.isBeside }
        let fixed = below.reduce(0) { $0 + ($1.rows ?? $1.lines.count) + 2 }
        let height = max(3, rows - fixed)
        let width = beside.isEmpty ? columns : columns - Self.besideWidth
        frame(main, scroll, row: first, column: 0, columns: width, rows: height, glyphs, &screen)
        for pane in beside {
            let size = columns - width
            frame(pane, 0, row: first, column: width, columns: size, rows: height, glyphs, &screen)
        }
        var row = first + height
        for pane in below {
            let size = (pane.rows ?? pane.lines.count) + 2
            frame(pane, 0, row: row, column: 0, columns: columns, rows: size, glyphs, &screen)
            row += size
        }
    }

    private func frame(
        _ pane: Pane,
        _ scroll: Int,
        row: Int,
        column: Int,
        columns: Int,
        rows: Int,
        _ glyphs: TerminalGlyphs,
        _ screen: inout Screen
    ) {
        let edges = glyphs.frame
        let (last, right) = (row + rows - 1, column + columns - 1)
        guard rows >= 2, last < first + self.rows else { return }
        let line = String(repeating: edges.horizontal, count: columns - 2)
        screen.put("\(edges.topLeft)\(line)\(edges.topRight)", row: row, column: column)
        let title = pane.title.isEmpty ? "" : " " + DisplayWidth.cut(pane.title, to: columns - 6) + " "
        screen.put(title, row: row, column: column + 2, style: .bold)
        for inner in row + 1..<last {
            screen.put("\(edges.vertical)", row: inner, column: column)
            screen.put("\(edges.vertical)", row: inner, column: right)
        }
        screen.put("\(edges.bottomLeft)\(line)\(edges.bottomRight)", row: last, column: column)
        for (index, text) in pane.visible(rows: rows - 2, scroll: scroll).enumerated() {
            let margin = pane.isFlush ? 1 : 2
            screen.draw(text, row: row + 1 + index, from: column + margin, to: right + 1 - margin)
        }
    }
}
