// SPDX-License-Identifier: GPL-2.0-or-later

/// The method by which `clear` empties a field (HK-5).
package enum ClearMethod: String, Sendable, CaseIterable {
    /// The End key, then one Backspace for each character that this program has typed into the field.
    case backspaces
    /// Ctrl+A, then Backspace.
    ///
    /// It works in applications where Ctrl+A selects all, which no terminal does.
    case selectAll = "select-all"
}
