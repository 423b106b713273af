// SPDX-License-Identifier: GPL-2.0-or-later

/// Layout that needs no library: a table with the levels of its keys, parsed when it is used.
///
/// A line of a table contains the number of a key and up to four levels: plain, with Shift, with AltGr, with both. A
/// level is a character, `U+` and its number if it is invisible, ◌ and a combining mark for a dead key, or `none`. A
/// first line such as `like us` names a layout that supplies all keys except those of the following lines; a line with
/// only a number removes that key. Levels that differ between releases of xkeyboard-config are omitted.
public enum BuiltInLayout: String, CaseIterable, Sendable {
    /// US layout, which types all printable ASCII characters.
    case us
    /// Japanese keyboards with 106 or 109 keys as on Linux, where the yen key also types a backslash.
    ///
    /// The tilde on Shift and 0, which only Linux has, is omitted.
    case jp
    /// The xkb variant OADG109A, with the yen sign on the yen key.
    case jpYen = "jp(OADG109A)"
    case de, fr, gb, es, it, pt, se, no, dk, fi, ch, be, nl

    var table: String {
        switch self {
        case .us: Self.usTable
        case .jp: Self.jpTable
        case .jpYen: Self.jpYenTable
        case .de: Self.deTable
        case .fr: Self.frTable
        case .gb: Self.gbTable
        case .es: Self.esTable
        case .it: Self.itTable
        case .pt: Self.ptTable
        case .se: Self.seTable
        case .no: Self.noTable
        case .dk: Self.dkTable
        case .fi: Self.fiTable
        case .ch: Self.chTable
        case .be: Self.beTable
        case .nl: Self.nlTable
        }
    }

    /// Keys by number: the keys in the table, and the keys of the layout on which it is based.
    private var keys: [UInt16: Key] {
        var lines = table.unicodeScalars.split(separator: "\n")[...]
        let like = "like ".unicodeScalars
        let base = lines.first.flatMap { $0.starts(with: like) ? String($0.dropFirst(like.count)) : nil }
        var keys: [UInt16: Key] = [:]
        if let base {
            keys = BuiltInLayout(rawValue: base)?.keys ?? [:]
            lines.removeFirst()
        }
        for key in lines.map(Key.init) { keys[key.code] = key }
        return keys
    }

    /// Returns the levels of the table in order of preference.
    ///
    /// Levels without AltGr come first, then levels of keys that every keyboard has, then levels without Shift.
    package func levels(capsLock: Bool) -> [KeyboardLayout.Level] {
        let keys = self.keys.values.sorted { $0.code < $1.code }
        var levels: [KeyboardLayout.Level] = []
        for modifiers in [[], .altGr] as [KeyModifiers] {
            for isExtra in [false, true] {
                for shift in [[], .shift] as [KeyModifiers] {
                    for key in keys where Self.extraKeys.contains(key.code) == isExtra {
                        let column = (modifiers.isEmpty ? 0 : 2) + (shift.isEmpty ? 0 : 1)
                        guard let output = key.output(column, capsLock: capsLock) else { continue }
                        levels.append(.init(.init(KeyCode(rawValue: key.code), modifiers.union(shift)), output))
                    }
                }
            }
        }
        return levels
    }

    /// Key 102 and the two extra keys of Japanese keyboards.
    private static let extraKeys: Set<UInt16> = [86, 89, 124]

    private struct Key {
        let code: UInt16
        let outputs: [KeyboardLayout.Level.Output?]

        init(_ line: Substring.UnicodeScalarView.SubSequence) {
            let words = line.split(separator: " ")
            code = words.first.flatMap { UInt16(String($0)) } ?? 0
            outputs = words.dropFirst().map { word in
                guard let first = word.first, word.count > 1 else { return word.first.map { .character($0) } }
                if first == "◌" { return word.last.map { .dead($0) } }
                return UInt32(String(word.dropFirst(2)), radix: 16).flatMap(Unicode.Scalar.init).map { .character($0) }
            }
        }

        /// Returns the output of a level; nil if the level has none.
        ///
        /// With CapsLock, a lower-case letter and the upper-case letter on the same key are swapped, and any other
        /// letter is converted to its capital.
        func output(_ column: Int, capsLock: Bool) -> KeyboardLayout.Level.Output? {
            guard column < outputs.count, let output = outputs[column] else { return nil }
            guard capsLock, case .character(let letter) = output else { return output }
            // The capital of these letters depends on the release of libxkbcommon.
            guard !["µ", "ÿ", "ı", "ß", "ẞ"].contains(letter) else { return nil }
            let other = column ^ 1
            if other < outputs.count, case .character(let pair)? = outputs[other] {
                let (lower, upper) = column < other ? (letter, pair) : (pair, letter)
                if lower.properties.isLowercase, upper.properties.isUppercase { return .character(pair) }
            }
            let capital = letter.properties.uppercaseMapping.unicodeScalars
            return .character(capital.count == 1 ? capital[capital.startIndex] : letter)
        }
    }
}

extension KeyboardLayout {
    /// Creates the layout from its built-in table.
    public init(_ layout: BuiltInLayout) {
        let levels = layout.levels(capsLock: false)
        let hasDeadKeys = levels.contains { if case .dead = $0.output { true } else { false } }
        self.init(
            name: layout.rawValue,
            levels: levels,
            capsLockLevels: layout.levels(capsLock: true),
            compositions: hasDeadKeys ? Self.unicodeCompositions : []
        )
    }

    /// The US layout.
    public static let us = KeyboardLayout(.us)
    /// The Japanese layout.
    public static let jp = KeyboardLayout(.jp)
    /// The Japanese layout with the yen sign.
    public static let jpYen = KeyboardLayout(.jpYen)

    /// Creates the built-in layout with this name; nil if there is none.
    public init?(named name: String) {
        guard let layout = BuiltInLayout(rawValue: name) else { return nil }
        self.init(layout)
    }
}

/// Keystrokes that type each character in an application that uses this layout.
public struct KeyboardLayout: Sendable {
    /// Key and the modifiers that are held while it is pressed.
    public struct Stroke: Hashable, Sendable, CustomStringConvertible {
        /// The key.
        public var key: KeyCode
        /// The modifiers that are held.
        public var modifiers: KeyModifiers

        /// Creates a keystroke of a key, with modifiers if given.
        public init(_ key: KeyCode, _ modifiers: KeyModifiers = []) {
            self.key = key
            self.modifiers = modifiers
        }

        /// Text form as in table files: `ctrl+rightbrace`.
        public var description: String { "\(modifiers.prefix)\(key)" }
    }

    /// Name of the layout in errors and settings.
    public let name: String
    /// Keystrokes of every character that the layout can type: a single one, or a dead key followed by another key.
    public let strokes: [Unicode.Scalar: [Stroke]]
    /// Keystrokes of every character when CapsLock is on.
    public let capsLockStrokes: [Unicode.Scalar: [Stroke]]

    /// Creates a layout from its keystrokes with CapsLock off and on.
    public init(name: String, strokes: [Unicode.Scalar: [Stroke]], capsLockStrokes: [Unicode.Scalar: [Stroke]]) {
        self.name = name
        self.strokes = strokes
        self.capsLockStrokes = capsLockStrokes
    }

    /// Returns the keystrokes that type `character`; nil if the layout cannot type it.
    public func strokes(for character: Unicode.Scalar, capsLock: Bool = false) -> [Stroke]? {
        (capsLock ? capsLockStrokes : strokes)[character]
    }

    /// Keystroke and its result.
    public struct Level: Hashable, Sendable {
        /// Result of a keystroke in the application.
        public enum Output: Hashable, Sendable {
            case character(Unicode.Scalar)
            /// A dead key, identified by its mark in the layout's compositions.
            case dead(Unicode.Scalar)
        }

        /// The keystroke.
        public var stroke: Stroke
        /// Result of the keystroke.
        public var output: Output

        /// Creates a keystroke with its result.
        public init(_ stroke: Stroke, _ output: Output) {
            self.stroke = stroke
            self.output = output
        }
    }

    /// Dead key, the character typed after it, and the resulting character.
    public struct Composition: Hashable, Sendable {
        /// Mark of the dead key.
        public var dead: Unicode.Scalar
        /// Character typed after the dead key.
        public var base: Unicode.Scalar
        /// Resulting character.
        public var result: Unicode.Scalar

        /// Creates a composition from its three parts.
        public init(dead: Unicode.Scalar, base: Unicode.Scalar, result: Unicode.Scalar) {
            self.dead = dead
            self.base = base
            self.result = result
        }
    }

    /// Creates a layout from the result of each keystroke, with CapsLock off and on.
    ///
    /// A character is typed with the first keystroke that produces it; a dead key is used only if no single keystroke
    /// does.
    public init(name: String, levels: [Level], capsLockLevels: [Level], compositions: [Composition]) {
        self.init(
            name: name,
            strokes: Self.reversed(levels, compositions),
            capsLockStrokes: Self.reversed(capsLockLevels, compositions)
        )
    }

    private static func reversed(_ levels: [Level], _ compositions: [Composition]) -> [Unicode.Scalar: [Stroke]] {
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

    /// Returns true if a character may appear in text; false for control characters and combining marks.
    private static func isTypable(_ character: Unicode.Scalar) -> Bool {
        switch character.properties.generalCategory {
        case .control, .format, .surrogate, .unassigned, .privateUse, .nonspacingMark, .lineSeparator,
            .paragraphSeparator:
            false
        default: true
        }
    }

    /// Unicode compositions for the combining mark of each dead key, and compositions with the space, which produce the
    /// mark by itself.
    ///
    /// Covers the letters up to U+024F and from U+1E00 to U+1EFF.
    public static let unicodeCompositions: [Composition] = {
        // Strings are equal if they are canonically equivalent, so a letter matches its own decomposition.
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

    /// Combining grave, acute, circumflex, tilde, macron, breve, dot above, diaeresis, ring, double acute, caron,
    /// cedilla and ogonek.
    private static let deadMarks: [Unicode.Scalar] = [
        "\u{300}", "\u{301}", "\u{302}", "\u{303}", "\u{304}", "\u{306}", "\u{307}", "\u{308}", "\u{30A}", "\u{30B}",
        "\u{30C}", "\u{327}", "\u{328}",
    ]

    /// Characters that these dead keys produce with the space.
    private static let spaced: [(Unicode.Scalar, Unicode.Scalar)] = [
        ("\u{300}", "`"), ("\u{301}", "'"), ("\u{302}", "^"), ("\u{303}", "~"), ("\u{308}", "\""),
    ]
}

// Operating systems describe a layout as a map from keys to characters; `KeyboardLayout` is the inverse of that map.
