// SPDX-License-Identifier: GPL-2.0-or-later

/// Actions of the 256 byte values: a built-in table, and entries that override it for single bytes.
public struct ByteTable: Equatable, Sendable {
    /// One step of a byte's action.
    public enum Step: Hashable, Sendable {
        /// A character, typed with the keys that the layout has for it, while additional modifiers are held.
        case character(Unicode.Scalar, KeyModifiers)
        /// A key, regardless of the character that the layout assigns to it, pressed while modifiers are held.
        case key(KeyCode, KeyModifiers)
    }

    /// The action of one byte.
    public enum Action: Hashable, Sendable {
        /// Types nothing; the byte is counted as discarded.
        case discard
        case type([Step])

        /// Types a character.
        public static func text(_ character: Unicode.Scalar) -> Action { .type([.character(character, [])]) }

        /// Types several characters.
        public static func text(_ characters: String) -> Action {
            .type(characters.unicodeScalars.map { .character($0, []) })
        }

        /// Presses and releases a key while modifiers are held.
        public static func key(_ key: KeyCode, _ modifiers: KeyModifiers = []) -> Action {
            .type([.key(key, modifiers)])
        }
    }

    /// Maximum number of steps for one byte.
    public static let mostSteps = 12

    static let horizontalTab: UInt8 = 0x09
    static let backspace: UInt8 = 0x08
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    /// The group separator (GS), which separates fields of variable length in GS1 codes.
    static let groupSeparator: UInt8 = 0x1D

    /// Built-in table that the entries override.
    public let base: BuiltIn
    /// Entries for single bytes, which override the built-in table.
    ///
    /// The layout must be able to type every entry; a byte of the built-in table that it cannot type is merely
    /// rejected.
    public private(set) var entries: [UInt8: Action] = [:]

    /// Creates a table that consists of a built-in table without overriding entries.
    public init(_ base: BuiltIn) {
        self.base = base
    }

    /// The action of a byte.
    public subscript(byte: UInt8) -> Action {
        get { entries[byte] ?? base.action(of: byte) }
        set { entries[byte] = newValue }
    }

    /// A table that discards every byte.
    public static let discard = ByteTable(.discard)
    /// A table that types printable ASCII, with CR and LF as Enter, and discards everything else.
    public static let strict = ByteTable(.strict)
    /// The default table: `strict`, with HT typed as Tab and BS as Backspace.
    public static let linble = ByteTable(.linble)

    /// The built-in tables by name, in the order in which users see them.
    public static let builtIn = BuiltIn.allCases.map { (name: $0.rawValue, table: ByteTable($0)) }

    /// Creates the built-in table with this name; nil if there is none.
    public init?(named name: String) {
        guard let base = BuiltIn(rawValue: name) else { return nil }
        self.init(base)
    }

    /// Tables that need no file, in the order in which users see them.
    public enum BuiltIn: String, CaseIterable, Sendable {
        /// Types printable ASCII, Tab and Backspace; CR and LF press Enter.
        case linble
        /// Types printable ASCII; CR and LF press Enter.
        case strict
        /// Same as `strict`, but discards the group separator.
        case gs1
        /// Same as `strict`, but types the group separator as `<GS>`.
        case gs1Text = "gs1-text"
        /// Same as `strict`, but presses F8 for the group separator.
        case gs1F8 = "gs1-f8"
        /// Same as `strict`, but presses Ctrl+] for the group separator; terminals convert Ctrl+] back to the group
        /// separator.
        case gs1Control = "gs1-ctrl"
        case discard

        /// Short description of the purpose of the table, for users.
        public var summary: String {
            switch self {
            case .linble: "Types printable ASCII characters, Tab, Backspace and Enter."
            case .strict: "Types printable ASCII characters and Enter."
            case .gs1: "Like strict, but discards the group separator."
            case .gs1Text: "Like strict, but types the group separator as <GS>."
            case .gs1F8: "Like strict, but presses F8 for the group separator."
            case .gs1Control: "Like strict, but presses Ctrl+] for the group separator."
            case .discard: "Discards all bytes."
            }
        }

        func action(of byte: UInt8) -> Action {
            switch (self, byte) {
            case (.discard, _): .discard
            case (_, 0x20...0x7E): .text(Unicode.Scalar(byte))
            case (_, carriageReturn), (_, lineFeed): .key(.enter)
            case (.linble, horizontalTab): .key(.tab)
            case (.linble, ByteTable.backspace): .key(.backspace)
            case (.gs1Text, groupSeparator): .text("<GS>")
            case (.gs1F8, groupSeparator): .key(.f8)
            case (.gs1Control, groupSeparator): .type([.character("]", .control)])
            default: .discard
            }
        }
    }
}

extension ByteTable.Step {
    /// Explanation for users why this step is not allowed for a byte; nil if it is allowed.
    var fault: String? {
        switch self {
        case .character(let character, _) where character.properties.generalCategory == .control:
            "U+\(String(character.value, radix: 16, uppercase: true)) is no text; name a key"
        case .key(let key, _) where key.isModifier:
            "key \(key) is never pressed by itself; write shift+, altgr+, ctrl+, alt+ or meta+ before another key"
        case .character(_, let modifiers) where modifiers.count > KeyModifiers.most,
            .key(_, let modifiers) where modifiers.count > KeyModifiers.most:
            "more than \(KeyModifiers.most) modifiers for one key"
        default: nil
        }
    }
}

/// Names of bytes in table files and settings.
///
/// A name is the ASCII name of a control character, or `0x` and one or two hexadecimal digits; case is ignored.
public enum ByteName {
    /// Returns the byte that a name or number denotes; nil for any other text.
    public static func byte(_ text: some StringProtocol) -> UInt8? {
        let word = text.lowercased()
        if let named = all.first(where: { $0.name == word }) { return named.byte }
        let digits = word.dropFirst(2)
        guard word.hasPrefix("0x"), 1...2 ~= digits.utf8.count, !digits.contains("+"), !digits.contains("-") else {
            return nil
        }
        return UInt8(digits, radix: 16)
    }

    /// Returns the name of a byte; nil if it has none.
    public static func name(of byte: UInt8) -> String? { all.first { $0.byte == byte }?.name }

    /// All names; if a byte has two, `name(of:)` returns the first.
    public static let all: [(name: String, byte: UInt8)] = [
        ("nul", 0), ("soh", 1), ("stx", 2), ("etx", 3), ("eot", 4), ("tab", 9), ("ht", 9), ("lf", 10), ("cr", 13),
        ("etb", 23), ("esc", 27), ("fs", 28), ("gs", 29), ("rs", 30), ("us", 31), ("space", 32),
    ]
}
