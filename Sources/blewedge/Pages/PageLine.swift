// SPDX-License-Identifier: GPL-2.0-or-later

import Texts

/// One line of a page: texts, each with its style.
struct PageLine: Equatable {
    struct Span: Equatable {
        var text: String
        var style: ScreenStyle
    }

    private(set) var spans: [Span] = []
    /// The style of what is behind the text, up to the screen's edge.
    var rest: ScreenStyle = []

    init() {}

    init(_ text: String, _ style: ScreenStyle = [], rest: ScreenStyle = []) {
        spans = [Span(text: text, style: style)]
        self.rest = rest
    }

    /// A line as wide as the screen, with one text at its left and one at its right.
    init(_ left: String, right: String, columns: Int, _ style: ScreenStyle = []) {
        let space = columns - ScreenText.columns(of: right)
        let fits = space > 4 && !right.isEmpty
        let text = fits ? DisplayWidth.padded(left, to: space - 1) + " " + right : left
        self.init(text, style, rest: style)
    }

    /// Adds text at the end.
    mutating func add(_ text: String, _ style: ScreenStyle = []) {
        spans.append(Span(text: text, style: style))
    }

    /// The texts without their styles.
    var text: String { spans.map(\.text).joined() }

    /// A text in lines of at most so many columns, all but the first with a margin.
    static func wrapped(_ text: String, columns: Int, margin: String = "", _ style: ScreenStyle = []) -> [PageLine] {
        let width = columns - ScreenText.columns(of: margin)
        return ScreenText.wrapped(text, columns: width).map { PageLine(margin + $0, style) }
    }

    /// A mark, and a text in lines behind it.
    static func marked(_ mark: String, _ text: String, columns: Int, _ style: ScreenStyle = []) -> [PageLine] {
        let margin = String(repeating: " ", count: ScreenText.columns(of: mark) + 1)
        return ScreenText.wrapped(text, columns: columns - margin.count).enumerated().map { index, line in
            PageLine((index == 0 ? mark + " " : margin) + line, style)
        }
    }
}

extension Screen {
    /// Draws a line into a row.
    mutating func draw(_ line: PageLine, row: Int) {
        var column = 0
        for span in line.spans { column = put(span.text, row: row, column: column, style: span.style) }
        fill(row: row, from: column, style: line.rest)
    }
}
