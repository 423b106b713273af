// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes

/// Key that clients can press to correct wrong entries (LK-23, HK-4, HK-5), with its name in `blewedge key`.
package enum KeyName: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// A digit, one of `+ - < > . ,`, or the space, typed with the layout's keys.
    case character(Unicode.Scalar)
    /// A key that moves the cursor, deletes, or ends an input; it is the same in every layout.
    case key(KeyCode)

    package static let characters: [Unicode.Scalar] = Array("0123456789+-<>.,".unicodeScalars) + [" "]

    /// Names of the keys, in listing order.
    ///
    /// All of these keys edit the focused field: none of them leaves the application or controls the machine (X-4,
    /// D-14).
    package static let keys = [
        "backspace", "enter", "tab", "left", "right", "home", "end", "delete", "escape",
    ]

    package static let allCases: [KeyName] =
        characters.map(KeyName.character) + keys.compactMap(KeyCode.init(name:)).map(KeyName.key)

    /// Names for signs that shells treat specially.
    package static let aliases: [(name: String, character: Unicode.Scalar)] = [
        ("plus", "+"), ("minus", "-"), ("less", "<"), ("greater", ">"), ("period", "."), ("comma", ","),
    ]

    /// Names of all keys except signs, for shell completion: fish rejects a list that contains `<`.
    package static let words = allCases.map { key in
        aliases.first { .character($0.character) == key }?.name ?? key.description
    }

    /// Parses a key name, case-insensitively, with `space` for the space; returns nil if the keypad has no such key.
    package init?(_ text: String) {
        var name = text.lowercased()
        if let alias = Self.aliases.first(where: { $0.name == name }) { name = String(alias.character) }
        guard let match = Self.allCases.first(where: { $0.description == name }) else { return nil }
        self = match
    }

    package var description: String {
        switch self {
        case .character(" "): "space"
        case .character(let character): String(character)
        case .key(let key): "\(key)"
        }
    }

    package var step: ByteTable.Step {
        switch self {
        case .character(let character): .character(character, [])
        case .key(let key): .key(key, [])
        }
    }
}

/// Keys requested by a client with `key`, `snippet` or `clear`, typed in addition to the device's bytes.
package struct KeySequence: Equatable, Sendable {
    package let steps: [ByteTable.Step]
    /// Steps as bytes of the keypad's table.
    package let bytes: [UInt8]
}
