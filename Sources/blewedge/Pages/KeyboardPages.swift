// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Control
import Daemon
import Devices
import Texts
import Typing

enum KeypadKey: Hashable {
    /// Key that the daemon presses (LK-23, HK-4).
    case name(KeyName)
    /// Clears the application's input field (HK-5).
    case clear
    /// Closes or reopens the gate, so that another keyboard can type (HK-6).
    case next

    /// Keys by row, as on the LINBLE keyboard, followed by the editing keys and the actions.
    static let rows: [[KeypadKey]] = [
        names(["+", "1", "2", "3", "backspace"]),
        names(["-", "4", "5", "6", "space"]),
        names(["<", "7", "8", "9", ">"]),
        names([".", ",", "0", "tab", "enter"]),
        names(["left", "right", "home", "end", "delete"]),
        [.clear, .next],
    ]

    private static func names(_ names: [String]) -> [KeypadKey] {
        names.compactMap { KeyName($0).map(KeypadKey.name) }
    }

    func label(_ language: Language) -> String {
        switch self {
        case .clear: KeyLabelText.clear.text(language)
        case .next: KeyLabelText.next.text(language)
        case .name(let name): KeyLabelText(rawValue: "\(name)")?.text(language) ?? "\(name)"
        }
    }
}

struct KeypadCursor: Equatable {
    private(set) var row = 0
    private(set) var column = 1

    var key: KeypadKey {
        let keys = KeypadKey.rows[row]
        return keys[min(column, keys.count - 1)]
    }

    mutating func move(_ key: TUIKey) {
        switch key {
        case .up: row = max(0, row - 1)
        case .down: row = min(KeypadKey.rows.count - 1, row + 1)
        case .left: column = max(0, min(column, KeypadKey.rows[row].count - 1) - 1)
        case .right: column = min(KeypadKey.rows[row].count - 1, column + 1)
        default: break
        }
    }
}

/// Keypad page: a small keyboard for correcting a wrong entry (LK-23, HK-4 … HK-6).
enum KeypadPage {
    static func body(_ model: TUIModel, columns: Int, rows: Int) -> PageBody {
        let language = model.language
        let width = min(9, max(3, columns / 5))
        var lines: [PageLine] = []
        for (index, keys) in KeypadKey.rows.enumerated() {
            var line = PageLine()
            for key in keys {
                let isFocused = index == model.keypad.row && key == model.keypad.key
                line.add(centered(key.label(language), width - 1), isFocused ? .reverse : .bold)
                line.add(" ")
            }
            lines.append(line)
        }
        lines += [PageLine()] + PageLine.wrapped(PageText.keypadHelp.text(language), columns: columns)
        let foot = PageFrame.field(model, columns: columns, rows: rows >= 9 ? 3 : 0)
        return PageBody(lines: lines, focus: model.keypad.row..<model.keypad.row + 1, foot: foot)
    }

    private static func centered(_ label: String, _ width: Int) -> String {
        let space = max(0, width - ScreenText.columns(of: label))
        return DisplayWidth.padded(String(repeating: " ", count: space / 2) + label, to: width)
    }
}

/// Line of a page: texts with their styles.
struct PageLine: Equatable {
    struct Span: Equatable {
        var text: String
        var style: ScreenStyle
    }

    private(set) var spans: [Span] = []
    /// Style from the end of the text to the screen's edge.
    var rest: ScreenStyle = []

    init() {}

    init(_ text: String, _ style: ScreenStyle = [], rest: ScreenStyle = []) {
        spans = [Span(text: text, style: style)]
        self.rest = rest
    }

    /// Creates a line as wide as the screen, with one text at the left and one at the right.
    init(_ left: String, right: String, columns: Int, _ style: ScreenStyle = []) {
        let space = columns - ScreenText.columns(of: right)
        let fits = space > 4 && !right.isEmpty
        let text = fits ? DisplayWidth.padded(left, to: space - 1) + " " + right : left
        self.init(text, style, rest: style)
    }

    mutating func add(_ text: String, _ style: ScreenStyle = []) {
        spans.append(Span(text: text, style: style))
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
    mutating func draw(_ line: PageLine, row: Int) {
        var column = 0
        for span in line.spans { column = put(span.text, row: row, column: column, style: span.style) }
        fill(row: row, from: column, style: line.rest)
    }
}

/// Check page: the state with its reason, the counts, and a field that shows the typed text (LK-14).
enum CheckPage {
    static func body(_ model: TUIModel, columns: Int, rows: Int) -> PageBody {
        let foot = PageFrame.field(model, columns: columns, rows: min(5, max(2, rows / 3)))
        guard let status = model.status else {
            return PageBody(lines: PageFrame.absence(model, columns) + service(model, columns), foot: foot)
        }
        let language = model.language
        func wrapped(_ text: String, _ style: ScreenStyle = []) -> [PageLine] {
            PageLine.wrapped(text, columns: columns, style)
        }
        let since = PageText.since.text(language, TimeLabelText.text(seconds: status.seconds, language))
        var lines = wrapped(PageFrame.stateText(status, language) + " (\(since))", PageFrame.style(of: status.state))
        if let reason = status.reason { lines += wrapped(reason.line(language)) }
        lines += wrapped(status.state.hint[language])
        if let gate = status.gate {
            lines += wrapped(PageText.notTyped.text(language, gate.line(language)), .yellow)
        } else {
            lines += wrapped(PageText.typingOpen.text(language))
        }
        lines += received(status, model, columns)
        let counts = status.counts.filter { $0.count != 0 || ["received", "typed"].contains($0.name) }
            .map { "\(LabelText(rawValue: $0.name)?.text(language) ?? $0.name) \($0.count)" }
        lines += wrapped(counts.joined(separator: ", "))
        for (label, value) in [(PageText.adapter, status.adapter), (.keyboard, status.keyboard)] {
            if let value { lines += wrapped("\(label.text(language)): \(value)") }
        }
        for rival in status.rivals { lines += wrapped("\(LabelText.rivals.text(language)): \(rival)", .yellow) }
        if let fault = status.choiceFault { lines += wrapped(fault.line(language), .red) }
        return PageBody(lines: lines, foot: foot)
    }

    /// Returns the lines about the start of the machine's service; empty if there is nothing to report.
    private static func service(_ model: TUIModel, _ columns: Int) -> [PageLine] {
        switch model.service {
        case .starting: PageLine.wrapped(PageText.serviceStarting.text(model.language), columns: columns)
        case .failed(let reason): PageLine.wrapped(reason.line(model.language), columns: columns, .yellow)
        case .due, .settled: []
        }
    }

    private static func received(_ status: StatusAnswer, _ model: TUIModel, _ columns: Int) -> [PageLine] {
        let language = model.language
        let text = status.lastReceived.map { last in
            PageText.lastReceived.text(language, TimeLabelText.text(seconds: last.ago, language), "\(last.length)")
        }
        return PageLine.wrapped(
            (model.isFlashing ? "* " : "") + (text ?? PageText.noneReceived.text(language)),
            columns: columns,
            model.isFlashing ? .bold : []
        )
    }
}

/// Settings page: settings that can be changed here, and those that are changed elsewhere (LK-13).
enum SettingsPage {
    /// Rows that respond to Enter.
    enum Row: Int, CaseIterable {
        case statusLine, language, reload
    }

    static func body(_ model: TUIModel, columns: Int) -> PageBody {
        let language = model.language
        var lines: [PageLine] = []
        var focus = 0
        for row in Row.allCases {
            let isFocused = row.rawValue == (model.rows[.settings] ?? 0)
            if isFocused { focus = lines.count }
            let (label, value) = setting(row, model)
            lines.append(
                PageLine(
                    " " + label,
                    right: value.isEmpty ? "" : value + " ",
                    columns: columns,
                    isFocused ? .reverse : []
                )
            )
            if row == .statusLine {
                lines += PageLine.wrapped(PageText.statusLineHelp.text(language), columns: columns, margin: "   ")
            }
        }
        lines.append(PageLine())
        var facts: [(PageText, String)] = [(.file, model.configurationFile)]
        if let status = model.status {
            facts += [(.profile, status.profile), (.layout, status.layout ?? ""), (.table, status.table)]
        }
        for (label, value) in facts {
            lines += PageLine.wrapped("\(label.text(language)): \(value)", columns: columns, margin: " ")
        }
        return PageBody(lines: lines, focus: focus..<focus + 1)
    }

    private static func setting(_ row: Row, _ model: TUIModel) -> (label: String, value: String) {
        switch row {
        case .statusLine:
            let value = (model.showsStatus ? PageText.on : .off).text(model.language)
            return (PageText.statusLine.text(model.language), "< \(value) >")
        case .language:
            let value = PageText.languageName.text(model.language)
            return (PageText.language.text(model.language), "< \(value) >")
        case .reload: return (PageText.reload.text(model.language), "")
        }
    }
}

/// Snippets page: texts that one key types, and the cursor moves after them (HK-1 … HK-3).
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

    private static func shown(_ text: String) -> String {
        LocalName.printable(String(text.map { $0.isNewline ? "|" : $0 == "\t" ? " " : $0 }))
    }
}
