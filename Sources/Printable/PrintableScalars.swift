// SPDX-License-Identifier: GPL-2.0-or-later

/// A filter that decides, scalar by scalar, which parts of an external text may be shown to people unchanged.
///
/// A text received by radio, in a barcode or in a file must not move the cursor, change the writing direction, break
/// a line, hide, or overlap its neighbours. The caller chooses what replaces the rest: `\u202e` in JSON, U+FFFD in
/// tables.
///
/// Rejected are control, format, private, surrogate and unassigned characters, line and paragraph separators,
/// characters that a terminal omits (Default_Ignorable_Code_Point), and marks without a base: those at a text's
/// beginning or after a rejected character, and each beyond `mostMarks` on one base.
///
/// Unicode 16.0, 4.5 and 5.21.
package struct PrintableScalars: Sendable {
    /// Maximum number of combining marks on one base: no writing system in use needs more.
    package static let mostMarks = 4

    /// Number of marks that the last base may still take.
    private var room = 0

    package init() {}

    /// Returns true if the text's next scalar may be shown as it is.
    package mutating func shows(_ scalar: Unicode.Scalar) -> Bool {
        // Nearly all text passes here, without a look-up in the tables.
        if (0x20...0x7E).contains(scalar.value) {
            room = Self.mostMarks
            return true
        }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .format, .privateUse, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator:
            room = 0
        case .nonspacingMark, .enclosingMark, .spacingMark:
            guard room > 0, !properties.isDefaultIgnorableCodePoint else {
                room = 0
                return false
            }
            room -= 1
            return true
        default: room = properties.isDefaultIgnorableCodePoint ? 0 : Self.mostMarks
        }
        return room > 0
    }
}
