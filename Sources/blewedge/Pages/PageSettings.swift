// SPDX-License-Identifier: GPL-2.0-or-later

import Daemon
import Texts

/// The page of settings: those that can be changed on it, and those that are changed elsewhere (LK-13).
enum SettingsPage {
    /// The rows that Enter changes.
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
            facts += [(.profile, status.profile), (.layout, status.layout), (.table, status.table)]
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
