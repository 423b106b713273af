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

    /// A keystroke and its result.
    public struct Level: Hashable, Sendable {
        /// The result of a keystroke for the reader.
        public enum Output: Hashable, Sendable {
            case character(Unicode.Scalar)
            /// A dead key, by the sign under which the layout's compositions know it.
            case dead(Unicode.Scalar)
        }

        /// The keystroke.
        public var stroke: Stroke
        /// Its result.
        public var output: Output

        /// A keystroke with its result.
        public init(_ stroke: Stroke, _ output: Output) {
            self.stroke = stroke
            self.output = output
        }
    }

    /// A dead key, the character after it, and their common result.
    public struct Composition: Hashable, Sendable {
        /// The dead key's sign.
        public var dead: Unicode.Scalar
        /// The character after it.
        public var base: Unicode.Scalar
        /// The character that is typed.
        public var result: Unicode.Scalar

        /// A composition from its three parts.
        public init(dead: Unicode.Scalar, base: Unicode.Scalar, result: Unicode.Scalar) {
            self.dead = dead
            self.base = base
            self.result = result
        }
    }

    /// A layout from what each keystroke gives, without and with CapsLock.
    ///
    /// A character is typed by the first of its keystrokes; by a dead key only where it has none of its own.
    public init(name: String, levels: [Level], capsLockLevels: [Level], compositions: [Composition]) {
        self.init(
            name: name,
            strokes: Self.reversed(levels, compositions),
            capsLockStrokes: Self.reversed(capsLockLevels, compositions)
        )
    }

    private static func reversed(
        _ levels: [Level],
        _ compositions: [Composition]
    ) -> [Unicode.Scalar: [Stroke]] {
        var direct: [Unicode.Scalar: [Stroke]] = [:]
        var dead: [Unicode.Scalar: Stroke] = [:]
        for level in levels {
            switch level.output {
            case .character(let character) where !isTypable(character): break
            case .character(let character): direct[character] = direct[character] ?? [level.stroke]
            case .dead(let sign): dead[sign] = dead[sign] ?? level.stroke
            }
        }
        var strokes = direct
        for composition in compositions where isTypable(composition.result) {
            guard strokes[composition.result] == nil, let first = dead[composition.dead],
                let second = direct[composition.base]
            else { continue }
            strokes[composition.result] = [first] + second
        }
        return strokes
    }

    /// Whether a character may be text: neither a control character nor a mark without a letter.
    private static func isTypable(_ character: Unicode.Scalar) -> Bool {
        switch character.properties.generalCategory {
        case .control, .format, .surrogate, .unassigned, .privateUse, .nonspacingMark, .lineSeparator,
            .paragraphSeparator:
            false
        default: true
        }
    }

    /// The compositions of Unicode for the combining mark that stands for a dead key, and those with the space, which give
    /// the sign by itself.
    ///
    /// Covers the letters up to U+024F and from U+1E00 to U+1EFF.
    public static let unicodeCompositions: [Composition] = {
        // Strings are equal when they are canonically equivalent, so a letter finds its own decomposition.
        var parts: [String: (dead: Unicode.Scalar, base: Unicode.Scalar)] = [:]
        for dead in deadMarks {
            for base in (UInt8(ascii: "A")...UInt8(ascii: "z")).map(Unicode.Scalar.init)
            where base.properties.isAlphabetic {
                var text = ""
                text.unicodeScalars.append(base)
                text.unicodeScalars.append(dead)
                parts[text] = (dead, base)
            }
        }
        let letters = Array(UInt32(0xC0)...0x24F) + Array(0x1E00...0x1EFF)
        let composed = letters.compactMap(Unicode.Scalar.init).compactMap { letter in
            parts[String(letter)].map { Composition(dead: $0.dead, base: $0.base, result: letter) }
        }
        return composed + spaced.map { Composition(dead: $0, base: " ", result: $1) }
    }()

    /// Grave, acute, circumflex, tilde, macron, breve, dot above, diaeresis, ring, double acute, caron, cedilla, ogonek.
    private static let deadMarks: [Unicode.Scalar] = [
        "\u{300}", "\u{301}", "\u{302}", "\u{303}", "\u{304}", "\u{306}", "\u{307}", "\u{308}", "\u{30A}", "\u{30B}",
        "\u{30C}", "\u{327}", "\u{328}",
    ]

    /// The characters that these marks give with the space.
    private static let spaced: [(Unicode.Scalar, Unicode.Scalar)] = [
        ("\u{300}", "`"), ("\u{301}", "'"), ("\u{302}", "^"), ("\u{303}", "~"), ("\u{308}", "\""),
    ]
}

// A layout as systems describe it is a map from keys to characters. Here it is turned round.
