// SPDX-License-Identifier: GPL-2.0-or-later

/// How `clear` empties a field (HK-5).
package enum ClearMethod: String, Sendable, CaseIterable {
    /// End, then Backspace for each character that this program has typed into the field.
    case backspaces
    /// Ctrl+A, then Backspace: for readers where that selects all, which no terminal does.
    case selectAll = "select-all"
}
