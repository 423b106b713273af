// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import Texts

package struct TypingSettings: Sendable {
    package var table: CompiledTable
    package var pacer: Pacer
    /// The rules of barcodes; with nil the bytes are typed one by one as they come (D-2).
    package var barcodes: BarcodeRules?
    /// The age from which bytes are not typed; with nil bytes of any age are typed (D-1).
    package var maximumAge: Duration?
    /// The handling of letters while CapsLock is on.
    package var capsLock: CapsLockPolicy
    /// True if the events of the keyboard's event node are compared with the meant ones.
    package var verifies: Bool
    /// The keypad of the clients; nil if they may press no keys.
    package var keypad: Keypad?
    /// True if udev is to recognise the device as a keyboard, for which it declares keys that nothing types (D-14).
    package var isUdevKeyboard: Bool

    package init(
        table: CompiledTable,
        pacer: Pacer,
        barcodes: BarcodeRules? = nil,
        maximumAge: Duration?,
        capsLock: CapsLockPolicy = .auto,
        verifies: Bool,
        isUdevKeyboard: Bool = true
    ) {
        self.table = table
        self.pacer = pacer
        self.barcodes = barcodes
        self.maximumAge = maximumAge
        self.capsLock = capsLock
        self.verifies = verifies
        self.isUdevKeyboard = isUdevKeyboard
    }

    /// The keys that the keyboard declares: those that are typed, and those by which udev recognises a keyboard (D-14).
    package func declaredKeys() throws(KeyboardError) -> KeySet {
        do {
            return try table.keys.union(barcodes?.keys ?? KeySet()).union(keypad?.keys ?? KeySet())
                .declared(asKeyboard: isUdevKeyboard)
        } catch {
            throw .forbiddenKeys(error)
        }
    }

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

/// The method by which `clear` empties a field (HK-5).
package enum ClearMethod: String, Sendable, CaseIterable {
    /// The End key, then one Backspace for each character that this program has typed into the field.
    case backspaces
    /// Ctrl+A, then Backspace; it works in applications where Ctrl+A selects all, which no terminal does.
    case selectAll = "select-all"
}
