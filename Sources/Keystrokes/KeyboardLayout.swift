// SPDX-License-Identifier: GPL-2.0-or-later

/// Which keystrokes type a character where the reader of the keyboard uses this layout.
public struct KeyboardLayout: Sendable {
    /// A key and the modifiers that are held while it is pressed.
    public struct Stroke: Hashable, Sendable, CustomStringConvertible {
        /// The key.
        public var key: KeyCode
        /// The modifiers that are held.
        public var modifiers: KeyModifiers

        /// A key, alone or with modifiers.
        public init(_ key: KeyCode, _ modifiers: KeyModifiers = []) {
            self.key = key
            self.modifiers = modifiers
        }

        /// As table files have it: `ctrl+rightbrace`.
        public var description: String { "\(modifiers.prefix)\(key)" }
    }

    /// The layout's name, as errors and settings show it.
    public let name: String
    /// The keystrokes of every character that the layout can type: one, or a dead key and another.
    public let strokes: [Unicode.Scalar: [Stroke]]
    /// The keystrokes of every character while CapsLock is on.
    public let capsLockStrokes: [Unicode.Scalar: [Stroke]]

    /// A layout from its keystrokes, without and with CapsLock.
    public init(
        name: String,
        strokes: [Unicode.Scalar: [Stroke]],
        capsLockStrokes: [Unicode.Scalar: [Stroke]]
    ) {
        self.name = name
        self.strokes = strokes
        self.capsLockStrokes = capsLockStrokes
    }

    /// How `character` is typed; nil when the layout cannot.
    public func strokes(for character: Unicode.Scalar, capsLock: Bool = false) -> [Stroke]? {
        (capsLock ? capsLockStrokes : strokes)[character]
    }
}
