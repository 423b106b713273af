// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes

/// A key of the small keyboard for mending a wrong entry (LK-23, HK-4, HK-5), as `blewedge key` names it.
package enum KeyName: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// A digit, or one of `+ - < > . ,` and the space, whatever keys the layout has for it.
    case character(Unicode.Scalar)
    /// A key that moves, deletes or ends an input, wherever the layout has its characters.
    case key(KeyCode)

    /// The characters, in the order in which they are listed to people.
    package static let characters: [Unicode.Scalar] = Array("0123456789+-<>.,".unicodeScalars) + [" "]

    /// The names of the keys, in the order in which they are listed to people.
    ///
    /// All of them edit the one field that has the focus: none leaves the application, changes the terminal or stops the
    /// machine (X-4, D-14).
    package static let keys = [
        "backspace", "enter", "tab", "left", "right", "home", "end", "delete", "escape",
    ]

    /// Every key, the characters first.
    package static let allCases: [KeyName] =
        characters.map(KeyName.character) + keys.compactMap(KeyCode.init(name:)).map(KeyName.key)

    /// Names of the signs, for shells in which the signs mean something else.
    package static let aliases: [(name: String, character: Unicode.Scalar)] = [
        ("plus", "+"), ("minus", "-"), ("less", "<"), ("greater", ">"), ("period", "."), ("comma", ","),
    ]

    /// Reads a name; nil for a key that this keyboard does not have.
    ///
    /// Names are in letters of either case; the space is `space`.
    package init?(_ text: String) {
        var name = text.lowercased()
        if let alias = Self.aliases.first(where: { $0.name == name }) { name = String(alias.character) }
        guard let match = Self.allCases.first(where: { $0.description == name }) else { return nil }
        self = match
    }

    /// As the user writes it.
    package var description: String {
        switch self {
        case .character(" "): "space"
        case .character(let character): String(character)
        case .key(let key): "\(key)"
        }
    }

    /// What is typed for it.
    package var step: ByteTable.Step {
        switch self {
        case .character(let character): .character(character, [])
        case .key(let key): .key(key, [])
        }
    }
}
