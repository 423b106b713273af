// SPDX-License-Identifier: GPL-2.0-or-later

import Texts
import Typing

/// A key of the keypad page.
enum KeypadKey: Hashable {
    /// One that the daemon presses (LK-23, HK-4).
    case name(KeyName)
    /// Empties the field that was typed into (HK-5).
    case clear
    /// Closes the gate, or opens it again: the next keyboard's turn (HK-6).
    case next

    /// The keys in their rows, as the LINBLE keyboard has them, and then those that move.
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

    /// The label of the key.
    func label(_ language: Language) -> String {
        switch self {
        case .clear: KeyLabelText.clear.text(language)
        case .next: KeyLabelText.next.text(language)
        case .name(let name): KeyLabelText(rawValue: "\(name)")?.text(language) ?? "\(name)"
        }
    }
}

/// Which key of the keypad the cursor is on.
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

/// A small keyboard for mending a wrong entry (LK-23, HK-4 … HK-6).
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
