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

    /// A layout from its keystrokes.
    ///
    /// With CapsLock, Shift is inverted for letters only, unless `capsLockStrokes` says otherwise: for keys whose two levels are
    /// the lower and the upper case of one letter.
    public init(
        name: String,
        strokes: [Unicode.Scalar: [Stroke]],
        capsLockStrokes: [Unicode.Scalar: [Stroke]]? = nil
    ) {
        self.name = name
        self.strokes = strokes
        self.capsLockStrokes = capsLockStrokes ?? Self.invertingLetters(strokes)
    }

    /// How `character` is typed; nil when the layout cannot.
    public func strokes(for character: Unicode.Scalar, capsLock: Bool = false) -> [Stroke]? {
        (capsLock ? capsLockStrokes : strokes)[character]
    }

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

    /// The Japanese layout of keyboards with 106 or 109 keys, as Linux has it: all printable ASCII; the yen key, too, is a
    /// backslash, so that the yen sign cannot be typed.
    public static let jp = KeyboardLayout(name: "jp", rows: japanese)

    /// The Japanese layout with the yen sign on the yen key (xkb's variant OADG109A).
    public static let jpYen = KeyboardLayout(
        name: "jp(OADG109A)",
        rows: japanese + [(KeyCode.yen.rawValue, "¥", "|")]
    )

    private static let japanese: [(first: UInt16, plain: String, shifted: String)] = [
        (2, "123456789", "!\"#$%&'()"),
        (11, "0", ""),
        (12, "-^", "=~"),
        (16, "qwertyuiop@[", "QWERTYUIOP`{"),
        (30, "asdfghjkl;:", "ASDFGHJKL+*"),
        (43, "]zxcvbnm,./", "}ZXCVBNM<>?"),
        (57, " ", ""),
        (KeyCode.ro.rawValue, "\\", "_"),
        (KeyCode.yen.rawValue, "", "|"),
    ]

    /// The built-in layouts, in the order in which they are listed to people.
    public static let builtIn = [us, jp, jpYen]

    /// The built-in layout of that name; nil when there is none.
    public init?(named name: String) {
        guard let layout = Self.builtIn.first(where: { $0.name == name }) else { return nil }
        self = layout
    }

    /// A layout from rows of neighbouring keys: the first key's number, the plain characters and the shifted ones.
    private init(name: String, rows: [(first: UInt16, plain: String, shifted: String)]) {
        var strokes: [Unicode.Scalar: [Stroke]] = [:]
        for row in rows {
            for (characters, modifiers) in [(row.plain, KeyModifiers()), (row.shifted, .shift)] {
                for (offset, character) in characters.unicodeScalars.enumerated() {
                    let key = KeyCode(rawValue: row.first &+ UInt16(truncatingIfNeeded: offset))
                    strokes[character] = [Stroke(key, modifiers)]
                }
            }
        }
        self.init(name: name, strokes: strokes)
    }

    private static func invertingLetters(_ strokes: [Unicode.Scalar: [Stroke]]) -> [Unicode.Scalar: [Stroke]] {
        var inverted: [Stroke: Stroke] = [:]
        for (character, typed) in strokes where typed.count == 1 {
            let upper = character.properties.uppercaseMapping.unicodeScalars
            guard let other = upper.first, upper.count == 1, other != character, let shifted = strokes[other],
                shifted.count == 1, typed[0].key == shifted[0].key,
                typed[0].modifiers.symmetricDifference(shifted[0].modifiers) == .shift
            else { continue }
            inverted[typed[0]] = shifted[0]
            inverted[shifted[0]] = typed[0]
        }
        return strokes.mapValues { $0.map { inverted[$0] ?? $0 } }
    }
}
