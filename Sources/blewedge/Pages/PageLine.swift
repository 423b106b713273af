// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Texts

/// Part of a screen that responds to a mouse click.
enum TUITarget: Hashable {
    case page(Page)
    /// Row of the page's list, from 0.
    case row(Int)
    /// Answer to a question: true for OK.
    case answer(Bool)
    /// Function key with this number, named in the footer.
    case function(Int)
}

/// Line of a page: texts with their styles.
struct PageLine: Equatable {
    struct Span: Equatable {
        var text: String
        var style: ScreenStyle
        var target: TUITarget?
    }

    private(set) var spans: [Span] = []
    /// Style of the rest of the line, from the end of the text to the edge of the screen or pane.
    var rest: ScreenStyle = []
    /// Response to a click anywhere on the line.
    var target: TUITarget?

    init() {}

    init(_ text: String, _ style: ScreenStyle = [], rest: ScreenStyle = []) {
        spans = [Span(text: text, style: style)]
        self.rest = rest
    }

    init(_ span: Span) { spans = [span] }

    /// Creates a line of `columns` columns, with one text at the left and one at the right.
    init(_ left: String, right: String, columns: Int, _ style: ScreenStyle = []) {
        let space = columns - ScreenText.columns(of: right)
        let fits = space > 4 && !right.isEmpty
        let text = fits ? DisplayWidth.padded(left, to: space - 1) + " " + right : left
        self.init(text, style, rest: style)
    }

    mutating func add(_ text: String, _ style: ScreenStyle = [], _ target: TUITarget? = nil) {
        spans.append(Span(text: text, style: style, target: target))
    }

    /// Returns a copy of the line that responds to clicks.
    func on(_ target: TUITarget) -> PageLine {
        var line = self
        line.target = target
        return line
    }

    var text: String { spans.map(\.text).joined() }

    /// Wraps a text into lines of at most `columns` columns, each of which begins with `margin`.
    static func wrapped(_ text: String, columns: Int, margin: String = "", _ style: ScreenStyle = []) -> [PageLine] {
        let width = columns - ScreenText.columns(of: margin)
        return ScreenText.wrapped(text, columns: width).map { PageLine(margin + $0, style) }
    }

    static func marked(_ mark: String, _ text: String, columns: Int, _ style: ScreenStyle = []) -> [PageLine] {
        let margin = String(repeating: " ", count: ScreenText.columns(of: mark) + 1)
        return ScreenText.wrapped(text, columns: columns - margin.count).enumerated().map { index, line in
            PageLine((index == 0 ? mark + " " : margin) + line, style)
        }
    }
}

extension Screen {
    /// Draws a line into the columns from `first` up to `end`, or up to the screen's edge if `end` is nil.
    mutating func draw(_ line: PageLine, row: Int, from first: Int = 0, to end: Int? = nil) {
        let end = min(end ?? columns, columns)
        var column = first
        for span in line.spans {
            let start = column
            column = put(span.text, row: row, column: column, to: end, style: span.style)
            if let target = span.target { add(target, row: row, columns: start..<column) }
        }
        fill(row: row, from: column, to: end, style: line.rest)
        if let target = line.target { add(target, row: row, columns: first..<end) }
    }
}
