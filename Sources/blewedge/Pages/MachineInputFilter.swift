// SPDX-License-Identifier: GPL-2.0-or-later

import Typing

/// Tells keys that a person presses from those that come from a keyboard such as blewedge's own.
///
/// A device's bytes are typed into whatever has the focus, which may be these pages: a barcode is no command, and a key
/// that the keypad has pressed does not press itself again.
struct MachineInputFilter {
    /// The time after a character in which no hand types another; blewedge leaves at most 50 ms (D-13), pages lag.
    static let gap = Duration.milliseconds(300)
    /// How long a key of the keypad may take to come back.
    static let echoTime = Duration.seconds(1)

    private var lastCharacter: Duration?
    /// The keys pressed through the daemon that come back as input where these pages have the focus.
    private var echo: [TUIKey] = []
    private var echoEnd = Duration.zero

    /// Takes note of keys that came together: where text is among several, no hand has pressed them.
    mutating func begin(_ keys: [TUIKey], now: Duration) {
        if keys.count > 1, keys.contains(where: isText) { lastCharacter = now }
    }

    /// Whether a key was typed by a keyboard, or is a character, of which a page makes text.
    ///
    /// A character that is a command is one unless others came just before it.
    mutating func isTyped(_ key: TUIKey, isCommand: Bool, now: Duration) -> Bool {
        if now >= echoEnd { echo = [] }
        if echo.first == key {
            echo.removeFirst()
            if isText(key) { lastCharacter = now }
            return true
        }
        let isBurst = lastCharacter.map { now - $0 < Self.gap } ?? false
        guard isText(key) || isBurst else { return false }
        if isText(key) { lastCharacter = now }
        return isBurst || !isCommand
    }

    /// Takes keys that are pressed through the daemon now.
    mutating func expect(_ keys: [TUIKey], now: Duration) {
        if now >= echoEnd { echo = [] }
        echo += keys
        echoEnd = now + Self.echoTime
    }

    private func isText(_ key: TUIKey) -> Bool {
        switch key {
        case .character, .paste: true
        default: false
        }
    }

    /// The keys that a terminal gets from a key of the keypad.
    static func keys(of name: KeyName) -> [TUIKey] {
        switch name {
        case .character(let scalar): [.character(Character(scalar))]
        case .key: named["\(name)"].map { [$0] } ?? []
        }
    }

    /// The keys that a terminal gets from a snippet.
    static func keys(of snippet: Snippet) -> [TUIKey] {
        snippet.text.map { character in
            switch character {
            case "\n", "\r", "\r\n": .enter
            case "\t": .tab
            default: .character(character)
            }
        } + Array(repeating: .left, count: snippet.leftPresses)
    }

    private static let named: [String: TUIKey] = [
        "backspace": .backspace, "enter": .enter, "tab": .tab, "left": .left, "right": .right, "home": .home,
        "end": .end,
        "delete": .delete, "escape": .escape,
    ]
}

/// A field to type into: it shows what a keyboard types, and where its cursor stands.
struct TUIField: Equatable {
    /// The most characters; the first ones leave for more.
    static let most = 4096

    private(set) var text: [Character] = []
    /// Before which character the cursor stands.
    private(set) var cursor = 0

    var isEmpty: Bool { text.isEmpty }

    /// Does what the key does in a field; false for a key that does nothing there.
    mutating func take(_ key: TUIKey) -> Bool {
        switch key {
        case .character(let character): insert(character)
        case .enter: insert("\n")
        case .tab: insert("\t")
        case .paste(let text):
            for character in text { insert(character == "\r" || character == "\r\n" ? "\n" : character) }
        case .backspace:
            guard cursor > 0 else { break }
            cursor -= 1
            text.remove(at: cursor)
        case .delete: if text.indices.contains(cursor) { text.remove(at: cursor) }
        case .left: cursor = max(0, cursor - 1)
        case .right: cursor = min(text.count, cursor + 1)
        case .home: cursor = (text[..<cursor].lastIndex(of: "\n") ?? -1) + 1
        case .end: cursor = text[cursor...].firstIndex(of: "\n") ?? text.count
        default: return false
        }
        return true
    }

    private mutating func insert(_ character: Character) {
        if text.count == Self.most {
            text.removeFirst()
            cursor = max(0, cursor - 1)
        }
        text.insert(character, at: cursor)
        cursor += 1
    }

    /// The lines of so many columns around the cursor, with the cursor's cell marked.
    func lines(columns: Int, most: Int) -> [PageLine] {
        let columns = max(1, columns)
        var lines: [PageLine] = [PageLine()]
        var used = 0
        var cursorLine = 0
        for (index, character) in (text + [" "]).enumerated() {
            let isCursor = index == cursor
            let isEnd = index == text.count
            // A line's end takes a cell where the cursor stands on it.
            let shown = character == "\n" || character == "\t" ? " " : String(character)
            let width = ScreenText.columns(of: shown)
            if used + width > columns {
                lines.append(PageLine())
                used = 0
            }
            if isCursor { cursorLine = lines.count - 1 }
            if isCursor || !(isEnd || character == "\n") {
                lines[lines.count - 1].add(shown, isCursor ? .reverse : [])
                used += width
            }
            if character == "\n" {
                lines.append(PageLine())
                used = 0
            }
        }
        let first = max(0, min(cursorLine - most / 2, lines.count - most))
        return Array(lines[first...].prefix(max(1, most)))
    }
}
