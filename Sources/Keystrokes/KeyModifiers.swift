// SPDX-License-Identifier: GPL-2.0-or-later

/// Keys that are held while another is pressed.
public struct KeyModifiers: OptionSet, Hashable, Sendable {
    /// One bit for each modifier.
    public let rawValue: UInt8

    /// Modifiers by their bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The left Shift.
    public static let shift = KeyModifiers(rawValue: 1)
    /// The right Alt, where the layout gives it a level of its own.
    public static let altGr = KeyModifiers(rawValue: 2)
    /// The left Ctrl.
    public static let control = KeyModifiers(rawValue: 4)
    /// The left Alt.
    public static let alt = KeyModifiers(rawValue: 8)
    /// The left Meta, also called Super or Windows.
    public static let meta = KeyModifiers(rawValue: 16)

    /// The most that one keystroke may have.
    ///
    /// A frame then has at most six values: two releases, two presses, the key and the report.
    public static let most = 2

    /// Every modifier and its name in table files.
    static let all: [(modifier: KeyModifiers, name: String)] = [
        (.shift, "shift"), (.altGr, "altgr"), (.control, "ctrl"), (.alt, "alt"), (.meta, "meta"),
    ]

    /// The modifier of that name; nil for an unknown name.
    init?(name: String) {
        guard let entry = Self.all.first(where: { $0.name == name }) else { return nil }
        self = entry.modifier
    }

    /// How many there are.
    public var count: Int { rawValue.nonzeroBitCount }

    /// Their keys, in the order in which they are pressed and released.
    public var keys: [KeyCode] { Self.all.filter { contains($0.modifier) }.map { $0.modifier.key } }

    /// The modifier of the lowest bit; empty where there is none.
    var first: KeyModifiers { KeyModifiers(rawValue: rawValue & (~rawValue &+ 1)) }

    /// The key of a single modifier.
    var key: KeyCode {
        switch self {
        case .shift: .leftShift
        case .altGr: .rightAlt
        case .control: .leftControl
        case .alt: .leftAlt
        default: .leftMeta
        }
    }

    /// Their names, each with the sign that follows it in table files: `ctrl+shift+`.
    var prefix: String { Self.all.filter { contains($0.modifier) }.map { $0.name + "+" }.joined() }
}
