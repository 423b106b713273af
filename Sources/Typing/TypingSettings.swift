// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import Texts

/// How the virtual keyboard types what it is given.
package struct TypingSettings: Sendable {
    /// What each byte types.
    package var table: CompiledTable
    /// How fast.
    package var pacer: Pacer
    /// Which barcodes are typed, and with what around them; nil types the bytes as they come (D-2).
    package var barcodes: BarcodeRules?
    /// The age after which bytes are not typed any more; nil types bytes of any age (D-1).
    package var maximumAge: Duration?
    /// What becomes of letters while CapsLock is on.
    package var capsLock: CapsLockPolicy
    /// Whether the keyboard's own event node is read and compared with what was meant.
    package var verifies: Bool
    /// The keys that clients may press; nil for none.
    package var keypad: Keypad?
    /// Whether udev is to call the keyboard one, for which it declares keys that nothing types (D-14).
    package var isUdevKeyboard: Bool

    /// Settings with all that has no default.
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

    /// The keys that the keyboard declares: those that something types, and those that udev wants to see (D-14).
    package func declaredKeys() throws(CommandFailure) -> KeySet {
        do {
            return try table.keys.union(barcodes?.keys ?? KeySet()).union(keypad?.keys ?? KeySet())
                .declared(asKeyboard: isUdevKeyboard)
        } catch {
            throw CommandFailure(
                .configuration,
                KeyboardFaultText.keysForbidden,
                "\(error)"
            )
        }
    }
}
