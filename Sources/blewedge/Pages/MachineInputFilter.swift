// SPDX-License-Identifier: GPL-2.0-or-later

import Typing

/// Filter that separates keys pressed by a person from those typed by a keyboard such as blewedge's own.
///
/// Received data is typed into the focused window, which may be these pages: a barcode must not act as a command, and a
/// key pressed by the keypad must not press itself again.
struct MachineInputFilter {
    /// Minimum time between two characters typed by a person.
    ///
    /// It exceeds the 50 ms that blewedge leaves between two characters at most (D-13), because the pages may read
    /// late.
    static let gap = Duration.milliseconds(300)
    /// Time within which a key pressed through the daemon may come back as input.
    static let echoTime = Duration.seconds(1)

    private var lastCharacter: Duration?
    /// Keys pressed through the daemon that come back as input if these pages have the focus.
    private var echo: [TUIKey] = []
    private var echoEnd = Duration.zero

    /// Begins a batch of keys that arrived together.
    ///
    /// If there are several keys and any of them is text, they are machine input.
    mutating func begin(_ keys: [TUIKey], now: Duration) {
        if keys.count > 1, keys.contains(where: isText) { lastCharacter = now }
    }

    /// Returns true if a key is machine input, or a character that is text rather than a command.
    ///
    /// Machine input is the echo of a key pressed through the daemon, and every key within `gap` of the last character.
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

    /// Registers keys that are now pressed through the daemon.
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

    /// Returns the keys that a terminal receives for a key of the keypad.
    static func keys(of name: KeyName) -> [TUIKey] {
        switch name {
        case .character(let scalar): [.character(Character(scalar))]
        case .key: named["\(name)"].map { [$0] } ?? []
        }
    }

    /// Returns the keys that a terminal receives for a snippet.
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

/// Text field that shows the typed text and a cursor.
struct TUIField: Equatable {
    /// Maximum number of characters; if there are more, the first ones are removed.
    static let most = 4096

    private(set) var text: [Character] = []
    /// Index of the character at the cursor.
    private(set) var cursor = 0

    var isEmpty: Bool { text.isEmpty }

    /// Handles a key; returns false if the field does not use it.
    mutating func take(_ key: TUIKey) -> Bool {
        switch key {
        case .character(let character): insert(character)
        case .enter: insert("\n")
        case .tab: insert("\t")
        case .paste(let text): show(text)
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

    mutating func show(_ text: String) {
        for character in text { insert(character == "\r" || character == "\r\n" ? "\n" : character) }
    }

    private mutating func insert(_ character: Character) {
        if text.count == Self.most {
            text.removeFirst()
            cursor = max(0, cursor - 1)
        }
        text.insert(character, at: cursor)
        cursor += 1
    }

    /// Returns at most `most` lines around the cursor, with the cursor's cell marked.
    func lines(columns: Int, most: Int) -> [PageLine] {
        let columns = max(1, columns)
        var lines: [PageLine] = [PageLine()]
        var used = 0
        var cursorLine = 0
        for (index, character) in (text + [" "]).enumerated() {
            let isCursor = index == cursor
            let isEnd = index == text.count
            // A line end occupies a cell only if the cursor is on it.
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
