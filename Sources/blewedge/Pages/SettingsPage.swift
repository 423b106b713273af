// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Configuration
import Daemon
import Keystrokes
import Texts
import Typing

/// Setting in the configuration file that the settings page edits.
enum PageSetting: CaseIterable {
    case profile, layout, prefix, suffix, pace

    /// Table and key in the configuration file; the table is empty for the top level.
    var key: (section: String, name: String) {
        switch self {
        case .profile: ("", "profile")
        case .layout: ("", "layout")
        case .prefix: ("scan-mode", "prefix")
        case .suffix: ("scan-mode", "suffix")
        case .pace: ("", "pace")
        }
    }

    var label: PageText {
        switch self {
        case .profile: .profile
        case .layout: .layout
        case .prefix: .prefix
        case .suffix: .suffix
        case .pace: .pace
        }
    }

    /// Returns the value in a configuration; empty if it is not set.
    func value(in configuration: Configuration) -> String {
        switch self {
        case .profile: configuration.profile
        case .layout: configuration.layout
        case .prefix: configuration.barcodeMode.prefix
        case .suffix: configuration.barcodeMode.suffix ?? ""
        case .pace: configuration.pace.rawValue
        }
    }

    /// Returns the values to choose from; empty if the setting accepts any text.
    func choices(in configuration: Configuration) -> [String] {
        switch self {
        case .profile: [Configuration.anyProfile] + (configuration.ownProfiles + Profile.builtIn).map(\.name)
        case .layout: LayoutSource.common
        case .prefix, .suffix: []
        case .pace: Pace.Profile.allCases.map(\.rawValue)
        }
    }
}

/// Settings page: settings that are changed here, and facts that are changed elsewhere (LK-13).
enum SettingsPage {
    /// Rows that respond to Enter.
    enum Row: Equatable {
        case statusLine, language
        case setting(PageSetting)
        case reload

        static let all: [Row] = [.statusLine, .language] + PageSetting.allCases.map(Row.setting) + [.reload]
    }

    /// Maximum distance between a setting and its value.
    private static let widest = 100

    static func panes(_ model: TUIModel, in area: PaneArea) -> [Pane] {
        let language = model.language
        let columns = min(Self.widest, area.width(isFlush: true))
        var lines: [PageLine] = []
        var focus = 0
        for (index, row) in Row.all.enumerated() {
            let isFocused = index == (model.rows[.settings] ?? 0)
            if isFocused { focus = lines.count }
            let (label, whole) = setting(row, model)
            let value = end(of: whole, columns: columns - min(ScreenText.columns(of: label), columns / 2) - 3)
            lines.append(
                PageLine(
                    " " + label,
                    right: value.isEmpty ? "" : value + " ",
                    columns: columns,
                    isFocused ? .reverse : []
                ).on(.row(index))
            )
        }
        var facts: [(PageText, String)] = [(.file, model.configurationFile)]
        if let status = model.status { facts.append((.table, status.table)) }
        let rows = facts.flatMap { label, value in
            PageLine.wrapped("\(label.text(language)): \(value)", columns: area.width())
        }
        var settings = Pane(Page.settings.title.text(language), lines, focus: focus..<focus + 1)
        settings.isFlush = true
        let hasRoom = area.rows >= lines.count + rows.count + (area.isFramed ? 4 : 0)
        return hasRoom ? [settings, Pane("", rows)] : [settings]
    }

    /// Returns the end of a text that is wider than `columns`, with a mark before it.
    private static func end(of text: String, columns: Int) -> String {
        var text = text[...]
        guard ScreenText.columns(of: String(text)) > max(1, columns) else { return String(text) }
        while !text.isEmpty, ScreenText.columns(of: String(text)) >= max(1, columns) { text.removeFirst() }
        return "~" + text
    }

    private static func setting(_ row: Row, _ model: TUIModel) -> (label: String, value: String) {
        let language = model.language
        switch row {
        case .statusLine:
            return (
                PageText.statusLine.text(language), "< \((model.showsStatus ? PageText.on : .off).text(language)) >"
            )
        case .language: return (PageText.language.text(language), "< \(PageText.languageName.text(language)) >")
        case .setting(let setting):
            if let editor = model.editor, editor.purpose == .setting(setting) {
                return (setting.label.text(language), "[\(LocalName.printable(editor.text))_]")
            }
            let value = setting.value(in: model.configuration)
            let shown = value.isEmpty ? PageText.notSet.text(language) : LocalName.printable(value)
            return (setting.label.text(language), "< \(shown) >")
        case .reload: return (PageText.reload.text(language), "")
        }
    }
}

/// Line of text that the user edits on a page without a field.
struct LineEditor: Equatable {
    enum Purpose: Equatable {
        case filter
        case setting(PageSetting)
    }

    /// Maximum length, in characters.
    private static let most = 200

    let purpose: Purpose
    private(set) var text: String
    /// Values that Up and Down choose from.
    private let choices: [String]

    init(_ purpose: Purpose, _ text: String, choices: [String] = []) {
        self.purpose = purpose
        self.text = text
        self.choices = choices
    }

    /// Handles a key that changes the text; other keys have no effect.
    mutating func take(_ key: TUIKey) {
        switch key {
        case .character(let character): append(String(character))
        case .paste(let text): append(text)
        case .backspace: _ = text.popLast()
        case .up, .left: choose(-1)
        case .down, .right: choose(1)
        default: break
        }
    }

    private mutating func append(_ more: String) {
        text += String(more.filter { !$0.isNewline && $0 != "\t" }.prefix(max(0, Self.most - text.count)))
    }

    private mutating func choose(_ step: Int) {
        guard !choices.isEmpty else { return }
        let next = choices.firstIndex(of: text).map { $0 + step } ?? 0
        text = choices[(next + choices.count) % choices.count]
    }
}
