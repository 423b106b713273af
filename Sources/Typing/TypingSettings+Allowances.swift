// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
package import Texts

extension TypingSettings {
    /// What the settings allow beyond text, Tab, Enter and Backspace, with the names of the keys; nil for nothing.
    ///
    /// Named are the keys by which an application is left or commanded: Escape, Ctrl, Alt, Meta and the function keys.
    package var allowances: Message? {
        let typed = table.keys.union(barcodes?.keys ?? KeySet())
        let clients = keypad?.keys ?? KeySet()
        let others = typed.union(clients).codes
        let declared = ((try? declaredKeys()) ?? KeySet()).codes.filter { !others.contains($0) }
        let parts: [(text: AllowanceText, keys: [KeyCode])] = [
            (.typed, typed.codes), (.clients, clients.codes), (.declared, declared),
        ]
        let messages = parts.compactMap { part -> Message? in
            let names = part.keys.filter(Self.commanding.contains).map { "\($0)" }
            return names.isEmpty ? nil : part.text.message(names.joined(separator: " "))
        }
        return messages.isEmpty ? nil : Message.listed(messages)
    }

    private static let commanding = Set(
        (["escape", "leftctrl", "rightctrl", "leftalt", "leftmeta", "rightmeta"] + (1...24).map { "f\($0)" })
            .compactMap(KeyCode.init(name:))
    )
}
