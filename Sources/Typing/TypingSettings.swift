// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import Texts

package struct TypingSettings: Sendable {
    package var table: CompiledTable
    package var pacer: Pacer
    /// Barcode framing rules; nil types each byte as it is received (D-2).
    package var barcodes: BarcodeRules?
    /// Age at which bytes expire; nil types bytes of any age (D-1).
    package var maximumAge: Duration?
    /// Handling of letters while CapsLock is on.
    package var capsLock: CapsLockPolicy
    /// True if the events of the event node are compared with the expected events.
    package var verifies: Bool
    /// Keypad for clients; nil if key requests from clients are disabled.
    package var keypad: Keypad?
    /// True if udev must recognise the device as a keyboard, which requires declaring keys that are never typed (D-14).
    package var isUdevKeyboard: Bool
    /// Name of the keyboard.
    package var name: String

    package init(
        table: CompiledTable,
        pacer: Pacer,
        barcodes: BarcodeRules? = nil,
        maximumAge: Duration?,
        capsLock: CapsLockPolicy = .auto,
        verifies: Bool,
        isUdevKeyboard: Bool = true,
        name: String = VirtualKeyboard.name
    ) {
        self.table = table
        self.pacer = pacer
        self.barcodes = barcodes
        self.maximumAge = maximumAge
        self.capsLock = capsLock
        self.verifies = verifies
        self.isUdevKeyboard = isUdevKeyboard
        self.name = name
    }

    /// Returns the keys that the keyboard declares: those that are typed, and those by which udev recognises a keyboard
    /// (D-14).
    package func declaredKeys() throws(KeyboardError) -> KeySet { try Self.declaredKeys(of: [self]) }

    /// Returns the keys that one keyboard for all `settings` declares.
    package static func declaredKeys(of settings: [TypingSettings]) throws(KeyboardError) -> KeySet {
        let keys = settings.reduce(KeySet()) { keys, settings in
            keys.union(settings.table.keys).union(settings.barcodes?.keys ?? KeySet())
                .union(settings.keypad?.keys ?? KeySet())
        }
        do {
            return try keys.declared(asKeyboard: settings.contains(where: \.isUdevKeyboard))
        } catch {
            throw .forbiddenKeys(error)
        }
    }

    /// Message that lists the allowed keys beyond text, Tab, Enter and Backspace; nil if there are none.
    ///
    /// It lists the keys that can leave or control an application: Escape, Ctrl, Alt, Meta and the function keys.
    package var allowances: Message? { Self.allowances(of: [self]) }

    /// Message that lists the keys that any of these settings allow, as `allowances` does.
    package static func allowances(of settings: [TypingSettings]) -> Message? {
        let typed = settings.reduce(KeySet()) { $0.union($1.table.keys).union($1.barcodes?.keys ?? KeySet()) }
        let clients = settings.reduce(KeySet()) { $0.union($1.keypad?.keys ?? KeySet()) }
        let others = typed.union(clients).codes
        let declared = ((try? declaredKeys(of: settings)) ?? KeySet()).codes.filter { !others.contains($0) }
        let parts: [(text: AllowanceText, keys: [KeyCode])] = [
            (.typed, typed.codes), (.clients, clients.codes), (.declared, declared),
        ]
        let messages = parts.compactMap { part -> Message? in
            let names = part.keys.filter(commanding.contains).map { "\($0)" }
            return names.isEmpty ? nil : part.text.message(names.joined(separator: " "))
        }
        return messages.isEmpty ? nil : Message.listed(messages)
    }

    private static let commanding = Set(
        (["escape", "leftctrl", "rightctrl", "leftalt", "leftmeta", "rightmeta"] + (1...24).map { "f\($0)" })
            .compactMap(KeyCode.init(name:))
    )
}

/// Method that `clear` uses to empty a field (HK-5).
package enum ClearMethod: String, Sendable, CaseIterable {
    /// The End key, then one Backspace for each character that this program has typed into the field.
    case backspaces
    /// Ctrl+A, then Backspace; works only in applications where Ctrl+A selects all text, which excludes terminals.
    case selectAll = "select-all"
}
