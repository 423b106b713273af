// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO

/// A character that a reader with another keyboard map takes for something else.
package struct LayoutDifference: Hashable, Sendable {
    /// What is meant.
    package var meant: Unicode.Scalar
    /// What comes out; nil for nothing, or a dead key.
    package var given: Unicode.Scalar?

    /// The difference between two characters.
    package init(meant: Unicode.Scalar, given: Unicode.Scalar?) {
        self.meant = meant
        self.given = given
    }

    /// The printable ASCII characters that `layout` types and that come out otherwise on a console with those levels.
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
            // Dead keys differ in how they are combined; one stroke is enough to know a map by.
            guard let strokes = layout.strokes(for: meant), strokes.count == 1, given[strokes[0]] != meant else {
                return nil
            }
            return LayoutDifference(meant: meant, given: given[strokes[0]])
        }
    }
}
