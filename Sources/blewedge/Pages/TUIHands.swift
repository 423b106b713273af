// SPDX-License-Identifier: GPL-2.0-or-later

import Typing

/// Tells keys that a person presses from those that come from a keyboard such as blewedge's own.
///
/// A device's bytes are typed into whatever has the focus, which may be these pages: a barcode is no command, and a key
/// that the keypad has pressed does not press itself again.
struct TUIHands {
    /// How soon after a character another key is typed by no hand: blewedge leaves at most 50 ms between two (D-13), and
    /// these pages may be late.
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
