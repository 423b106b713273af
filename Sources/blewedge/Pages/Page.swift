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

    /// Returns the page's body for an area of this size.
    func body(_ model: TUIModel, columns: Int, rows: Int) -> PageBody {
        switch self {
        case .devices: DevicesPage.body(model, columns: columns)
        case .check: CheckPage.body(model, columns: columns, rows: rows)
        case .keypad: KeypadPage.body(model, columns: columns, rows: rows)
        case .snippets: SnippetsPage.body(model, columns: columns, rows: rows)
        case .settings: SettingsPage.body(model, columns: columns)
        case .guide: GuidePage.body(model, columns: columns, rows: rows)
        case .beacons: BeaconsPage.body(model, columns: columns)
        }
    }
}

/// Lines of a page between its header and its footer.
struct PageBody {
    var lines: [PageLine] = []
    /// Lines that must be visible; nil for a page that scrolls freely.
    var focus: Range<Int>?
    /// Lines fixed at the bottom.
    var foot: [PageLine] = []

    /// Returns the lines that are visible in `rows` rows.
    func visible(rows: Int, scroll: Int) -> [PageLine] {
        let foot = rows > self.foot.count ? self.foot : Array(self.foot.suffix(max(0, rows - 1)))
        let space = max(0, rows - foot.count)
        var first = min(max(0, scroll), max(0, lines.count - space))
        if let focus { first = min(max(0, focus.upperBound - space), max(0, focus.lowerBound)) }
        let seen = Array(lines.dropFirst(first).prefix(space))
        let gap = foot.isEmpty ? 0 : space - seen.count
        return seen + Array(repeating: PageLine(), count: gap) + foot
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
        // Fixed lines at the bottom; the last one is there on every screen of two rows or more.
        let foot = script(model, screen) + foot(model, screen)
        let space = max(0, screen.rows - head - foot.count)
        let body =
            model.question.map { question($0, model, screen.columns) }
            ?? model.page.body(model, columns: screen.columns, rows: space)
        for (row, line) in body.visible(rows: space, scroll: model.scroll).enumerated() {
            screen.draw(line, row: head + row)
        }
        for (row, line) in foot.enumerated() { screen.draw(line, row: screen.rows - foot.count + row) }
        return screen
    }

    // MARK: Head

    /// Returns the page titles with their keys: all, closer together on narrow screens, or only the shown page's.
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
        for (page, text) in zip(Page.allCases, texts) {
            line.add(" " + text + margin, page == model.page ? .bold : .reverse)
        }
        return line
    }

    /// Returns the status in a few words, with the mark of received data at the right edge (LK-24, LK-25).
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

    /// Returns the mark of received data (LK-25).
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

    /// Returns the footer: the outcome of the last key in at most a third of the screen, or as many keys of the page as
    /// fit on a line.
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
        var text = ""
        for key in keys(model) {
            let next = (text.isEmpty ? "" : "  ") + key.text(model.language)
            guard ScreenText.columns(of: text + next) <= columns else { break }
            text += next
        }
        return [PageLine(text, .reverse, rest: .reverse)]
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
        if model.page == .devices, model.status != nil { keys.append(.helpRefresh) }
        if [.guide, .check, .beacons].contains(model.page) { keys.append(.helpScroll) }
        return keys + [.helpPages]
    }

    // MARK: Questions

    private static func question(_ question: TUIModel.Question, _ model: TUIModel, _ columns: Int) -> PageBody {
        let text = question.text.text(model.language, with: question.arguments)
        var buttons = PageLine()
        for (label, isFocused) in [(PageText.no, !question.isYes), (.ok, question.isYes)] {
            buttons.add(" ")
            buttons.add("[ \(label.text(model.language)) ]", isFocused ? .reverse : [])
        }
        let lines = [PageLine()] + PageLine.wrapped(text, columns: columns, margin: " ", .bold) + [PageLine(), buttons]
        // On a small screen, the answer buttons must stay visible.
        return PageBody(lines: lines, focus: lines.count - 1..<lines.count)
    }

    /// Returns the lines of a page while no daemon answers.
    static func absence(_ model: TUIModel, _ columns: Int) -> [PageLine] {
        // A visible status line already says that no daemon answers.
        var lines = model.showsStatus ? [] : [status(model, columns)]
        if let fault = model.otherFault { lines += PageLine.wrapped(fault.line(model.language), columns: columns) }
        if !model.isStarting { lines += PageLine.wrapped(PageText.startHere.text(model.language), columns: columns) }
        return lines
    }

    /// Returns the field with its title, in at most `rows` rows.
    static func field(_ model: TUIModel, columns: Int, rows: Int) -> [PageLine] {
        guard rows > 0 else { return [] }
        let title = PageLine(PageText.field.text(model.language), .bold)
        let lines = model.field.lines(columns: columns, most: max(1, rows - 1))
        return rows > 1 ? [title] + lines : lines
    }
}
