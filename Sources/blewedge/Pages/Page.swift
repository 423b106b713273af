// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Daemon
import Texts

enum Page: Int, CaseIterable {
    case devices = 1, check, keypad, snippets, settings, guide
    /// F7 to F10 are commands.
    case beacons = 11

    /// Number of the function key that shows the page.
    var number: Int { rawValue }

    var title: PageText {
        switch self {
        case .devices: .devices
        case .check: .check
        case .keypad: .keypad
        case .snippets: .snippets
        case .settings: .settings
        case .guide: .guide
        case .beacons: .beacons
        }
    }

    var hasField: Bool { self != .devices && self != .settings && self != .beacons }

    /// True if the page has neither a field nor an editor, so that characters are commands.
    var hasCommands: Bool { self == .devices || self == .beacons || self == .settings }

    /// Returns the page's panes, the main one first.
    func panes(_ model: TUIModel, in area: PaneArea) -> [Pane] {
        switch self {
        case .devices: DevicesPage.panes(model, in: area)
        case .check: CheckPage.panes(model, in: area)
        case .keypad: KeypadPage.panes(model, in: area)
        case .snippets: SnippetsPage.panes(model, in: area)
        case .settings: SettingsPage.panes(model, in: area)
        case .guide: GuidePage.panes(model, in: area)
        case .beacons: BeaconsPage.panes(model, in: area)
        }
    }
}

/// Whole screen: the page titles, the status, the page, and the key help.
enum PageFrame {
    static func screen(_ model: TUIModel, columns: Int, rows: Int) -> Screen {
        var screen = Screen(columns: columns, rows: rows)
        screen.draw(title(model, screen.columns), row: 0)
        var head = 1
        if model.showsStatus, screen.rows >= 4 {
            screen.draw(status(model, screen.columns), row: head)
            head += 1
        }
        // Fixed lines at the bottom; the last one is shown on every screen with at least two rows.
        let foot = script(model, screen) + foot(model, screen)
        let space = max(0, screen.rows - head - foot.count)
        let area = PaneArea(columns: screen.columns, screenRows: screen.rows, first: head, rows: space)
        let panes =
            model.showsHelp
            ? [HelpPane.pane(model, in: area)]
            : model.question.map { [question($0, model, area)] } ?? model.page.panes(model, in: area)
        area.draw(panes, scroll: model.scroll, glyphs: model.glyphs, on: &screen)
        for (row, line) in foot.enumerated() { screen.draw(line, row: screen.rows - foot.count + row) }
        return screen
    }

    // MARK: Head

    /// Returns the page titles with their keys.
    ///
    /// On a narrow screen, they are closer together, or only the current page has its title beside its key.
    private static func title(_ model: TUIModel, _ columns: Int) -> PageLine {
        func names(_ gap: String, isShort: Bool = false) -> [String] {
            Page.allCases.map { page in
                isShort && page != model.page
                    ? "F\(page.number)" : "F\(page.number)" + gap + page.title.texts[model.language]
            }
        }
        let forms = [(names(" "), " "), (names(" "), ""), (names(""), "")]
        let (texts, margin) =
            forms.first { texts, margin in
                texts.map { ScreenText.columns(of: " " + $0 + margin) }.reduce(0, +) <= columns
            } ?? (names(" ", isShort: true), "")
        var line = PageLine()
        line.rest = .reverse
        if texts.map({ ScreenText.columns(of: " " + $0 + margin) }).reduce(0, +) > columns {
            line.add("F\(model.page.number) " + model.page.title.texts[model.language], .bold)
            return line
        }
        for (page, text) in zip(Page.allCases, texts) {
            line.add(" " + text + margin, page == model.page ? .bold : .reverse, .page(page))
        }
        return line
    }

    /// Returns the status in a few words, with the mark for received data at the right edge (LK-24, LK-25).
    static func status(_ model: TUIModel, _ columns: Int) -> PageLine {
        let language = model.language
        let flash = model.isFlashing ? Self.flash(language) : ""
        guard let status = model.status else {
            let text = (model.isStarting ? PageText.starting : .noDaemon).text(language)
            return PageLine(text, right: flash, columns: columns, .red)
        }
        if status.isPaused {
            return PageLine(PageText.paused.text(language), right: flash, columns: columns, .yellow)
        }
        return PageLine(stateText(status, language), right: flash, columns: columns, style(of: status.state))
    }

    /// Returns the mark for received data (LK-25).
    static func flash(_ language: Language) -> String { "* " + PageText.received.text(language) }

    static func stateText(_ status: StatusAnswer, _ language: Language) -> String {
        status.state.text(language, status.device ?? PlainText.theDevice.text(language))
    }

    static func style(of state: Session.State) -> ScreenStyle {
        switch state {
        case .connected: [.green, .bold]
        case .connecting, .lost, .disconnected, .unselected: .yellow
        case .failed, .unsupported, .bluetoothOff, .unauthorized: .red
        }
    }

    // MARK: Foot

    /// Returns the footer: the result of the last key press, or the keys of the page.
    ///
    /// A result uses at most a third of the screen. Of the keys, as many are shown as fit on one line.
    private static func foot(_ model: TUIModel, _ screen: Screen) -> [PageLine] {
        let columns = screen.columns
        func wrapped(_ text: String, _ style: ScreenStyle) -> [PageLine] {
            let lines = PageLine.wrapped(text, columns: columns, style)
            return Array(lines.prefix(max(screen.rows > 1 ? 1 : 0, screen.rows / 3)))
        }
        switch model.notice {
        case .said(let text, let arguments): return wrapped(text.text(model.language, with: arguments), .bold)
        case .fault(let reason): return wrapped(reason.line(model.language), [.bold, .red])
        case nil: break
        }
        guard screen.rows > 1 else { return [] }
        var line = PageLine()
        line.rest = .reverse
        for key in keys(model) {
            let text = key.text(model.language)
            let gap = line.text.isEmpty ? "" : "  "
            guard ScreenText.columns(of: line.text + gap + text) <= columns else { break }
            line.add(gap, .reverse)
            line.add(text, .reverse, target(of: key))
        }
        return [line]
    }

    /// Returns the function key that a part of the key help names; nil if it names none.
    private static func target(of key: PageText) -> TUITarget? {
        switch key {
        case .helpConnect: .function(7)
        case .helpDisconnect: .function(8)
        case .helpPause, .helpResume: .function(9)
        case .helpQuit: .function(10)
        case .helpHex: .function(12)
        default: nil
        }
    }

    /// Returns the next step of a demonstration, in at most a third of the screen.
    private static func script(_ model: TUIModel, _ screen: Screen) -> [PageLine] {
        guard let script = model.script else { return [] }
        let text = script.text(model.language)
        return Array(PageLine.wrapped(text, columns: screen.columns, .bold).prefix(screen.rows / 3))
    }

    private static func keys(_ model: TUIModel) -> [PageText] {
        var keys: [PageText] = [.helpQuit]
        if let status = model.status {
            switch status.state {
            case .unselected: break
            case .disconnected, .unsupported: keys.append(.helpConnect)
            case .connecting, .connected, .lost, .failed, .bluetoothOff, .unauthorized: keys.append(.helpDisconnect)
            }
            keys.append(status.isPaused ? .helpResume : .helpPause)
        }
        if model.page == .devices, model.status != nil { keys += [.helpRefresh, .helpFilter] }
        if model.page.hasCommands { keys.append(.helpHelp) }
        if model.page == .check, model.status != nil { keys.append(.helpHex) }
        if [.guide, .check, .beacons].contains(model.page) { keys.append(.helpScroll) }
        return keys + [.helpPages]
    }

    // MARK: Questions

    private static func question(_ question: TUIModel.Question, _ model: TUIModel, _ area: PaneArea) -> Pane {
        let text = question.text.text(model.language, with: question.arguments)
        var buttons = PageLine()
        for (label, isFocused) in [(PageText.no, !question.isYes), (.ok, question.isYes)] {
            buttons.add(" ")
            buttons.add("[ \(label.text(model.language)) ]", isFocused ? .reverse : [], .answer(label == .ok))
        }
        let wrapped = PageLine.wrapped(text, columns: area.width() - 1, margin: " ", .bold)
        let isNarrow = ScreenText.columns(of: buttons.text) > area.width()
        let answers = isNarrow ? buttons.spans.filter { $0.target != nil }.map(PageLine.init) : [buttons]
        let lines = [PageLine()] + wrapped + [PageLine()] + answers
        // On a small screen, the answer buttons must stay visible.
        let first = lines.count - answers.count + (isNarrow && question.isYes ? 1 : 0)
        let focus = first..<(isNarrow ? first + 1 : lines.count)
        return Pane(model.page.title.text(model.language), lines, focus: focus)
    }

    /// Returns the lines that a page shows while no daemon answers.
    static func absence(_ model: TUIModel, _ columns: Int) -> [PageLine] {
        // A visible status line already says that no daemon answers.
        var lines = model.showsStatus ? [] : [status(model, columns)]
        if let fault = model.otherFault { lines += PageLine.wrapped(fault.line(model.language), columns: columns) }
        if !model.isStarting { lines += PageLine.wrapped(PageText.startHere.text(model.language), columns: columns) }
        return lines
    }

    /// Returns the pane with the text field, which shows at most `rows` rows of text; nil if the screen has no room for
    /// it.
    static func field(_ model: TUIModel, in area: PaneArea, rows: Int) -> Pane? {
        guard rows > 0 else { return nil }
        let rows = area.isFramed && area.rows < 16 ? 1 : rows
        let lines = model.field.lines(columns: area.width(), most: rows)
        // A frame keeps its height when text is added.
        let empty = area.isFramed ? max(0, rows - lines.count) : 0
        return Pane(PageText.field.text(model.language), lines + Array(repeating: PageLine(), count: empty))
    }
}
