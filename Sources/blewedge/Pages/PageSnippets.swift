// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Control
import Daemon
import Devices
import Texts
import Typing

/// Texts that one key types, with the way to their input point (HK-1 … HK-3).
enum SnippetsPage {
    static func body(_ model: TUIModel, columns: Int, rows: Int) -> PageBody {
        let language = model.language
        var lines: [PageLine] = []
        if let fault = model.snippetFault {
            lines += PageLine.wrapped(
                LocalName.printable(PageText.snippetsFault.message(fault).text(language)),
                columns: columns,
                .red
            )
        }
        if model.snippets.isEmpty {
            lines += PageLine.wrapped(PageText.noSnippets.text(language), columns: columns)
        }
        let width = min(columns / 3, model.snippets.map { ScreenText.columns(of: $0.title) }.max() ?? 0)
        let cursor = model.rows[.snippets] ?? 0
        let first = lines.count
        for (index, snippet) in model.snippets.enumerated() {
            let style: ScreenStyle = index == cursor ? .reverse : []
            let title = DisplayWidth.padded(LocalName.printable(snippet.title), to: width)
            lines.append(PageLine(" \(title)  \(shown(snippet.text))", style, rest: style))
        }
        var foot: [PageLine] = []
        if rows >= 6, let snippet = model.focusedSnippet {
            let moves = "\(snippet.leftPresses)"
            let text = PageText.snippetsHelp.text(language)
            let way = snippet.leftPresses > 0 ? ", " + PageText.snippetMoves.text(language, moves) : ""
            foot = [PageLine(text), PageLine(" " + shown(snippet.text) + way, .bold)]
            foot += PageFrame.field(model, columns: columns, rows: rows >= 9 ? 3 : 0)
        }
        return PageBody(lines: lines, focus: first + cursor..<first + cursor + 1, foot: foot)
    }

    /// A text in one line.
    private static func shown(_ text: String) -> String {
        LocalName.printable(String(text.map { $0.isNewline ? "|" : $0 == "\t" ? " " : $0 }))
    }
}
