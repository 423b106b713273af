// SPDX-License-Identifier: GPL-2.0-or-later

/// Which key, with or without Shift, types a character where the reader of the keyboard uses this layout.
public struct KeyboardLayout: Sendable {
    /// A key and the level it is pressed at.
    public struct Stroke: Equatable, Sendable {
        /// The key.
        public var key: KeyCode
        /// True when Shift is held.
        public var shift: Bool

        /// A key, plain or with Shift.
        public init(_ key: KeyCode, shift: Bool = false) {
            self.key = key
            self.shift = shift
        }
    }

    /// The layout's name, as errors and settings show it.
    public let name: String
    /// The strokes of every character that the layout can type.
    public let strokes: [Unicode.Scalar: Stroke]

    /// A layout from its strokes.
    public init(name: String, strokes: [Unicode.Scalar: Stroke]) {
        self.name = name
        self.strokes = strokes
    }

    /// How `character` is typed; nil when the layout cannot.
    public func stroke(for character: Unicode.Scalar) -> Stroke? { strokes[character] }

    /// The US layout: all printable ASCII.
    public static let us = KeyboardLayout(
        name: "us",
        rows: [
            (2, "1234567890-=", "!@#$%^&*()_+"),
            (16, "qwertyuiop[]", "QWERTYUIOP{}"),
            (30, "asdfghjkl;'`", "ASDFGHJKL:\"~"),
            (43, "\\zxcvbnm,./", "|ZXCVBNM<>?"),
            (57, " ", ""),
        ]
    )

    /// A layout from rows of neighbouring keys: the first key's number, the plain characters and the shifted ones.
    private init(name: String, rows: [(first: UInt16, plain: String, shifted: String)]) {
        var strokes: [Unicode.Scalar: Stroke] = [:]
        for row in rows {
            for (characters, shift) in [(row.plain, false), (row.shifted, true)] {
                for (offset, character) in characters.unicodeScalars.enumerated() {
                    let key = KeyCode(rawValue: row.first &+ UInt16(truncatingIfNeeded: offset))
                    strokes[character] = Stroke(key, shift: shift)
                }
            }
        }
        self.init(name: name, strokes: strokes)
    }
}
