// SPDX-License-Identifier: GPL-2.0-or-later

/// Finds, scalar by scalar, what of a text from outside may be shown to people as it is.
///
/// A text that came by radio, in a barcode or in a file may not move a cursor, turn the writing's direction, break a line,
/// hide, or climb over its neighbours. What stands in the place of the rest is the caller's: `\u202e` in JSON, U+FFFD in
/// tables.
///
/// Not shown are control, format, private, surrogate and unassigned characters, line and paragraph separators, characters
/// that a terminal leaves out (Default_Ignorable_Code_Point), and marks that have nothing to stand on: those at a text's
/// beginning or behind what is not shown, and each beyond `mostMarks` on one base.
///
/// Unicode 16.0, 4.5 and 5.21.
package struct PrintableScalars: Sendable {
    /// The most combining marks on one base: no writing in use needs more.
    package static let mostMarks = 4

    /// How many marks the last base may still take.
    private var room = 0

    package init() {}

    /// Whether the text's next scalar may be shown as it is.
    package mutating func shows(_ scalar: Unicode.Scalar) -> Bool {
        // Nearly all text, without a look at the tables.
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
