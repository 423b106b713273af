// SPDX-License-Identifier: GPL-2.0-or-later

/// A layout that needs no library: a table of the keys' levels, read when it is used.
///
/// A line of a table is a key's number and up to four levels: plain, with Shift, with AltGr, with both. A level is a character,
/// `U+` and its number where it cannot be seen, ◌ and a combining mark for a dead key, or `none`. The first line `like us`
/// names the layout whose lines hold for all keys but those that follow; a number alone is a key that this layout lacks.
/// Levels that differ between the releases of xkeyboard-config are left out.
public enum BuiltInLayout: String, CaseIterable, Sendable {
    /// All printable ASCII.
    case us
    /// Keyboards with 106 or 109 keys, as Linux has them: the yen key, too, is a backslash. The tilde of Shift and 0, which
    /// only Linux has, is left out.
    case jp
    /// xkb's variant OADG109A, with the yen sign on the yen key.
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

    /// The keys by number: those of the table, and of the layout that it is like.
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

    /// The levels of the table, those first that are to be preferred: without AltGr, on keys that every keyboard has, without
    /// Shift.
    func levels(capsLock: Bool) -> [KeyboardLayout.Level] {
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

    /// The 102nd key and the two keys of Japanese keyboards.
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

        /// The output of a level; nil for none.
        ///
        /// With CapsLock, the levels of a lower-case and an upper-case letter change places, and any other letter becomes a
        /// capital.
        func output(_ column: Int, capsLock: Bool) -> KeyboardLayout.Level.Output? {
            guard column < outputs.count, let output = outputs[column] else { return nil }
            guard capsLock, case .character(let letter) = output else { return output }
            // Letters whose capital depends on the release of libxkbcommon.
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
    /// The layout from its built-in table.
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

    /// The built-in layout of that name; nil when there is none.
    public init?(named name: String) {
        guard let layout = BuiltInLayout(rawValue: name) else { return nil }
        self.init(layout)
    }
}
