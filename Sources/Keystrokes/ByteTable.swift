// SPDX-License-Identifier: GPL-2.0-or-later

/// What each of the 256 byte values means.
public struct ByteTable: Equatable, Sendable {
    /// What a byte does.
    public enum Action: Equatable, Sendable {
        /// Nothing; the byte is counted as discarded.
        case discard
        /// Types a character, by whatever key the layout has for it.
        case text(Unicode.Scalar)
        /// Presses and releases a key.
        case key(KeyCode)
    }

    /// The horizontal tab, HT.
    static let horizontalTab: UInt8 = 0x09
    /// The backspace, BS.
    static let backspace: UInt8 = 0x08
    /// The line feed, LF.
    static let lineFeed: UInt8 = 0x0A
    /// The carriage return, CR.
    static let carriageReturn: UInt8 = 0x0D

    /// One action for each byte value.
    private var actions: [Action]

    private init(actions: [Action]) {
        self.actions = actions
    }

    /// The action of a byte.
    public subscript(byte: UInt8) -> Action {
        get { actions[Int(byte)] }
        set { actions[Int(byte)] = newValue }
    }

    /// Every byte is discarded.
    public static let discard = ByteTable(actions: Array(repeating: .discard, count: 256))

    /// Printable ASCII is typed, CR and LF are Enter, everything else is discarded.
    public static let strict: ByteTable = {
        var table = discard
        for byte in UInt8(0x20)...0x7E { table[byte] = .text(Unicode.Scalar(byte)) }
        table[carriageReturn] = .key(.enter)
        table[lineFeed] = .key(.enter)
        return table
    }()

    /// The default: as `strict`, and HT is Tab, BS is Backspace.
    public static let linble: ByteTable = {
        var table = strict
        table[horizontalTab] = .key(.tab)
        table[backspace] = .key(.backspace)
        return table
    }()

    /// The built-in tables by name, in the order in which they are listed to people.
    public static let builtIn: [(name: String, table: ByteTable)] = [
        ("linble", linble), ("strict", strict), ("discard", discard),
    ]

    /// The built-in table of that name; nil when there is none.
    public init?(named name: String) {
        guard let entry = Self.builtIn.first(where: { $0.name == name }) else { return nil }
        self = entry.table
    }
}
