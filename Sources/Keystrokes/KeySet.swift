// SPDX-License-Identifier: GPL-2.0-or-later

/// The keys that a virtual keyboard declares: those that its tables reach, so that the kernel drops every other.
public struct KeySet: Equatable, Sendable {
    /// The keys, in the kernel's order.
    public private(set) var codes: [KeyCode] = []

    /// No key.
    public init() {}

    /// The given keys.
    public init(_ keys: some Sequence<KeyCode>) {
        for key in keys { insert(key) }
    }

    /// Adds a key.
    public mutating func insert(_ key: KeyCode) {
        let place = codes.firstIndex { $0 >= key } ?? codes.endIndex
        guard place == codes.endIndex || codes[place] != key else { return }
        codes.insert(key, at: place)
    }

    /// The keys of both.
    public func union(_ other: KeySet) -> KeySet {
        KeySet(codes + other.codes)
    }

    /// The keys to declare to the kernel: these, and with `asKeyboard` the codes 1 to 31 too, all of which udev wants
    /// to see before it calls a device a keyboard (ID_INPUT_KEYBOARD).
    ///
    /// Refused where a combination is forbidden.
    public func declared(asKeyboard: Bool) throws(ForbiddenKeys) -> KeySet {
        let all = asKeyboard ? union(KeySet((1...31).map(KeyCode.init(rawValue:)))) : self
        if let forbidden = all.forbidden { throw forbidden }
        return all
    }

    /// The first fault of the set; nil for a set that may be declared.
    public var forbidden: ForbiddenKeys? {
        if let key = codes.first(where: { Self.never.contains($0) }) { return .alone(key) }
        guard let alt = codes.first(where: { $0 == .leftAlt || $0 == .rightAlt }),
            let key = codes.first(where: { Self.notWithAlt.contains($0) })
        else { return nil }
        return .together(alt, key)
    }

    private static let never = Set(["sysrq", "power", "sleep", "suspend"].compactMap(KeyCode.init(name:)))
    private static let notWithAlt = Set(
        ((1...24).map { "f\($0)" } + ["up", "down", "left", "right", "delete", "kpdot"]).compactMap(KeyCode.init(name:))
    )
}

/// Keys that no configuration may declare, because a barcode could then restart the machine or leave the application.
public enum ForbiddenKeys: Error, Equatable, Sendable, CustomStringConvertible {
    /// A key that acts on the whole machine.
    case alone(KeyCode)
    /// Alt together with a key that makes a switch of terminals or a restart of it.
    case together(KeyCode, KeyCode)

    /// One line for people, with the reason.
    public var description: String {
        switch self {
        case .alone(let key): "key \(key) is refused: it stops or controls the whole machine"
        case .together(let alt, let key):
            "keys \(alt) and \(key) are refused together: with Ctrl they could restart the machine or change the terminal"
        }
    }
}

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
