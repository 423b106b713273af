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
    static func panes(_ model: TUIModel, in area: PaneArea) -> [Pane] {
        let language = model.language
        let columns = area.width()
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
        let keys = Pane(Page.keypad.title.text(language), lines, focus: model.keypad.row..<model.keypad.row + 1)
        return [keys] + [PageFrame.field(model, in: area, rows: area.rows >= 9 ? 2 : 0)].compactMap { $0 }
    }

    private static func centered(_ label: String, _ width: Int) -> String {
        let space = max(0, width - ScreenText.columns(of: label))
        return DisplayWidth.padded(String(repeating: " ", count: space / 2) + label, to: width)
    }
}

/// Check page: the state with its reason, the counts, and a field that shows the typed text (LK-14).
enum CheckPage {
    static func panes(_ model: TUIModel, in area: PaneArea) -> [Pane] {
        let columns = area.width()
        let title = Page.check.title.text(model.language)
        let field = [PageFrame.field(model, in: area, rows: min(4, max(1, area.rows / 3 - 1)))].compactMap { $0 }
        guard let status = model.status else {
            return [Pane(title, PageFrame.absence(model, columns) + service(model, columns))] + field
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
        return [Pane(title, lines)] + [lastMinute(model, area), hex(model, area)].compactMap { $0 } + field
    }

    /// Returns the graphs of the bytes received and typed in the last minute; nil on a small screen.
    private static func lastMinute(_ model: TUIModel, _ area: PaneArea) -> Pane? {
        guard area.isFramed, area.rows >= 18 else { return nil }
        let language = model.language
        let history = model.traffic.values(at: model.clock)
        let rows = [(LabelText.received, history.received), (.typed, history.typed)].map { label, values in
            (label: label.text(language), values: values, sum: "\(values.reduce(0, &+))")
        }
        let label = rows.map { ScreenText.columns(of: $0.label) }.max() ?? 0
        let sum = rows.map(\.sum.count).max() ?? 0
        let width = min(TrafficHistory.seconds, area.width() - label - sum - 2)
        let lines = rows.map { row in
            var line = PageLine("\(DisplayWidth.padded(row.label, to: label)) ")
            line.add(String(repeating: " ", count: sum - row.sum.count) + row.sum + " ")
            line.add(model.glyphs.graph(Array(row.values.suffix(width))), .green)
            return line
        }
        return Pane(PageText.lastMinute.text(language), lines)
    }

    /// Returns the last received bytes, if they are shown.
    private static func hex(_ model: TUIModel, _ area: PaneArea) -> Pane? {
        guard model.showsHex else { return nil }
        let text = model.hex ?? PageText.noneReceived.text(model.language)
        let lines = PageLine.wrapped(text, columns: area.width())
        return Pane(PageText.lastHex.text(model.language), Array(lines.prefix(2)))
    }

    /// Returns the lines about starting the system service; empty if there is nothing to report.
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

/// Snippets page: texts that are typed when the user presses a key (HK-1 … HK-3).
///
/// After a text, the daemon moves the cursor to the text's input point.
enum SnippetsPage {
    static func panes(_ model: TUIModel, in area: PaneArea) -> [Pane] {
        let language = model.language
        let columns = area.width()
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
            lines.append(PageLine(" \(title)  \(shown(snippet.text))", style, rest: style).on(.row(index)))
        }
        let focus = model.snippets.isEmpty ? nil : first + cursor..<first + cursor + 1
        var panes = [Pane(Page.snippets.title.text(language), lines, focus: focus)]
        if area.rows >= 6, let snippet = model.focusedSnippet {
            let moves = "\(snippet.leftPresses)"
            let text = PageText.snippetsHelp.text(language)
            panes[0].isFlush = true
            let way = snippet.leftPresses > 0 ? ", " + PageText.snippetMoves.text(language, moves) : ""
            let help = PageLine.wrapped(text, columns: columns) + [PageLine(shown(snippet.text) + way, .bold)]
            panes.append(Pane("", help))
            panes += [PageFrame.field(model, in: area, rows: area.rows >= 9 ? 2 : 0)].compactMap { $0 }
        }
        return panes
    }

    private static func shown(_ text: String) -> String {
        LocalName.printable(String(text.map { $0.isNewline ? "|" : $0 == "\t" ? " " : $0 }))
    }
}
