// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO

/// A character that becomes another one for a reader with another keyboard map.
package struct LayoutDifference: Hashable, Sendable {
    /// The character of this program's layout.
    package var meant: Unicode.Scalar
    /// The character of the reader's map; nil for none or a dead key.
    package var given: Unicode.Scalar?

    /// Makes a difference between two characters.
    package init(meant: Unicode.Scalar, given: Unicode.Scalar?) {
        self.meant = meant
        self.given = given
    }

    /// The differences, over the printable ASCII characters that `layout` types, from a console with these levels.
    package static func between(_ layout: KeyboardLayout, _ levels: [ConsoleKeymap.Level]) -> [LayoutDifference] {
        var given: [KeyboardLayout.Stroke: Unicode.Scalar] = [:]
        for level in levels {
            var modifiers = KeyModifiers()
            if level.shift { modifiers.insert(.shift) }
            if level.altGr { modifiers.insert(.altGr) }
            guard case .character(let number) = level.output else { continue }
            given[KeyboardLayout.Stroke(KeyCode(rawValue: level.key), modifiers)] = Unicode.Scalar(number)
        }
        return (0x20...0x7E).compactMap(Unicode.Scalar.init).compactMap { meant in
            // Characters of several strokes are left out: maps combine dead keys differently, and one stroke is
            // enough to tell maps apart.
            guard let strokes = layout.strokes(for: meant), strokes.count == 1, given[strokes[0]] != meant else {
                return nil
            }
            return LayoutDifference(meant: meant, given: given[strokes[0]])
        }
    }
}
