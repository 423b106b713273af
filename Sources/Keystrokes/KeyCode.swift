// SPDX-License-Identifier: GPL-2.0-or-later

import Synchronization

/// A key's number in the kernel's numbering, and its name in table files (C: `KEY_…` of `<linux/input-event-codes.h>`).
public struct KeyCode: RawRepresentable, Hashable, Comparable, Sendable {
    /// The kernel's number.
    public let rawValue: UInt16

    /// A key by its number, named or not.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// By number.
    public static func < (left: KeyCode, right: KeyCode) -> Bool { left.rawValue < right.rawValue }

    /// Ends an input (C: `KEY_ENTER`).
    public static let enter = KeyCode(rawValue: 28)
    /// Goes to the next field (C: `KEY_TAB`).
    public static let tab = KeyCode(rawValue: 15)
    /// Deletes before the cursor (C: `KEY_BACKSPACE`).
    public static let backspace = KeyCode(rawValue: 14)
    /// A function key that some applications take for the group separator (C: `KEY_F8`).
    public static let f8 = KeyCode(rawValue: 66)
    /// The left Shift, the only one this program presses (C: `KEY_LEFTSHIFT`).
    public static let leftShift = KeyCode(rawValue: 42)
    /// The left Ctrl (C: `KEY_LEFTCTRL`).
    public static let leftControl = KeyCode(rawValue: 29)
    /// The left Meta (C: `KEY_LEFTMETA`).
    public static let leftMeta = KeyCode(rawValue: 125)
    /// The key left of the right Shift on Japanese keyboards (C: `KEY_RO`).
    public static let ro = KeyCode(rawValue: 89)
    /// The key left of Backspace on Japanese keyboards (C: `KEY_YEN`).
    public static let yen = KeyCode(rawValue: 124)
    /// The left Alt (C: `KEY_LEFTALT`).
    public static let leftAlt = KeyCode(rawValue: 56)
    /// The right Alt, AltGr (C: `KEY_RIGHTALT`).
    public static let rightAlt = KeyCode(rawValue: 100)

    /// Whether the key changes what others mean, and so is never pressed by itself.
    public var isModifier: Bool { Self.modifiers.contains(self) }

    private static let modifiers = Set(
        [
            "leftctrl", "leftshift", "rightshift", "leftalt", "capslock", "rightctrl", "rightalt", "leftmeta",
            "rightmeta",
        ].compactMap(KeyCode.init(name:))
    )

    /// The name in table files; nil for a key that has none here.
    public var name: String? { Self.named.first { $0.code == self }?.name }

    /// The key of that name; nil for an unknown name.
    ///
    /// Names are in lower case.
    public init?(name: String) {
        guard let entry = Self.named.first(where: { $0.name == name }) else { return nil }
        self = entry.code
    }

    /// Every key that has a name, in the kernel's order.
    public static let named: [(name: String, code: KeyCode)] = rows.flatMap { first, names in
        names.split(separator: " ").enumerated().map { offset, name in
            (String(name), KeyCode(rawValue: first &+ UInt16(truncatingIfNeeded: offset)))
        }
    }

    /// Runs of neighbouring numbers: the first, and the names from there on.
    private static let rows: [(first: UInt16, names: String)] = [
        (1, "escape 1 2 3 4 5 6 7 8 9 0 minus equal backspace"),
        (15, "tab q w e r t y u i o p leftbrace rightbrace enter leftctrl"),
        (30, "a s d f g h j k l semicolon apostrophe grave leftshift backslash"),
        (44, "z x c v b n m comma dot slash rightshift kpasterisk leftalt space capslock"),
        (59, "f1 f2 f3 f4 f5 f6 f7 f8 f9 f10"),
        (71, "kp7 kp8 kp9 kpminus kp4 kp5 kp6 kpplus kp1 kp2 kp3 kp0 kpdot"),
        (86, "102nd f11 f12 ro"),
        (96, "kpenter rightctrl kpslash sysrq rightalt"),
        (102, "home up pageup left right end down pagedown insert delete"),
        (116, "power"),
        (124, "yen leftmeta rightmeta"),
        (142, "sleep"),
        (183, "f13 f14 f15 f16 f17 f18 f19 f20 f21 f22 f23 f24"),
        (205, "suspend"),
    ]

    /// The name of the key that was probably meant by one that no key has, as the end of a fault; empty where none is near.
    static func suggestion(for name: String) -> String {
        let meant = others[name] ?? NearestName.of(name, among: named.map(\.name))
        return meant.map { ": is \"\($0)\" meant?" } ?? ""
    }

    /// Names of keys elsewhere.
    private static let others = [
        "return": "enter", "cr": "enter", "lf": "enter", "newline": "enter", "esc": "escape", "del": "delete",
        "bs": "backspace",
        "pgup": "pageup", "pgdn": "pagedown", "ins": "insert", "-": "minus", "=": "equal", ".": "dot", ",": "comma",
        "/": "slash",
    ]
}

extension KeyCode: CustomStringConvertible {
    /// The name, or the number where there is no name.
    public var description: String { name ?? "\(rawValue)" }
}

/// The name that was probably meant by a mistyped one.
public enum NearestName {
    /// The name among `known` with the least difference, at most two letters; nil where none is near.
    public static func of(_ name: String, among known: [String]) -> String? {
        let near = known.map { ($0, distance(name, $0)) }.min { $0.1 < $1.1 }
        guard let near, near.1 <= 2, near.1 < near.0.count else { return nil }
        return near.0
    }

    /// The number of letters that have to be inserted, removed or replaced (Levenshtein).
    private static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        var row = Array(0...right.count)
        for (index, letter) in left.prefix(64).enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let above = row[column + 1]
                row[column + 1] = min(above + 1, row[column] + 1, diagonal + (letter == right[column] ? 0 : 1))
                diagonal = above
            }
        }
        return row[right.count]
    }
}

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

/// The layout of one `struct input_event`, as the kernel reads it from a uinput device.
///
/// Two words for the time (always zero: the kernel stamps the event itself), a type and a code of 16 bits and a value of
/// 32: 24 bytes where a word has 64 bits, 16 bytes where it has 32. The corresponding C type is `struct input_event` of
/// `<linux/input.h>`.
public struct InputEvent: Equatable, Sendable {
    /// Bytes of one event.
    public static let size = timeSize + 8
    /// Bytes of the time, which come first.
    static let timeSize = 2 * MemoryLayout<Int>.size

    /// The type of an event that ends a frame (C: `EV_SYN`).
    public static let synchronization: UInt16 = 0
    /// The type of a key's event (C: `EV_KEY`).
    public static let key: UInt16 = 1

    /// The kind of event.
    public var type: UInt16
    /// Which key, for a key's event.
    public var code: UInt16
    /// 1 down, 0 up; 2, which the kernel uses for autorepeat, is never written.
    public var value: Int32

    /// An event without its time.
    public init(type: UInt16, code: UInt16, value: Int32) {
        self.type = type
        self.code = code
        self.value = value
    }

    /// The event that ends a frame: type, code and value zero (C: `SYN_REPORT`).
    public static let report = InputEvent(type: synchronization, code: 0, value: 0)

    /// A key going down or up.
    public static func key(_ code: KeyCode, down: Bool) -> InputEvent {
        InputEvent(type: key, code: code.rawValue, value: down ? 1 : 0)
    }

    /// Type, code and value as the one word of eight bytes that follows the time in memory.
    var word: UInt64 {
        #if _endian(big)
            UInt64(type) &<< 48 | UInt64(code) &<< 32 | UInt64(UInt32(bitPattern: value))
        #else
            UInt64(UInt32(bitPattern: value)) &<< 32 | UInt64(code) &<< 16 | UInt64(type)
        #endif
    }

    /// The bits of the value in a word, and the place of their lowest.
    static let valueBits = InputEvent(type: 0, code: 0, value: -1).word
    #if _endian(big)
        static let valuePlace: UInt64 = 0
    #else
        static let valuePlace: UInt64 = 32
    #endif

    init(word: UInt64) {
        #if _endian(big)
            self.init(
                type: UInt16(truncatingIfNeeded: word &>> 48),
                code: UInt16(truncatingIfNeeded: word &>> 32),
                value: Int32(truncatingIfNeeded: word)
            )
        #else
            self.init(
                type: UInt16(truncatingIfNeeded: word),
                code: UInt16(truncatingIfNeeded: word &>> 16),
                value: Int32(truncatingIfNeeded: word &>> 32)
            )
        #endif
    }
}

/// The CapsLock light of the virtual keyboard: how the thread that hears of it tells the typist.
///
/// While it is on, readers turn letters round, so the typist turns them round too and the text comes out as meant. It is
/// off until somebody says otherwise. A change is taken up at the next keystroke; those that were written before it, and
/// that their reader has yet to read, are with that reader.
public final class CapsLockLight: Sendable {
    private let state = Atomic<Bool>(false)

    /// A light that is off.
    public init() {}

    /// Whether the light is on.
    public var isOn: Bool { state.load(ordering: .relaxed) }

    /// Takes note of a change.
    public func set(_ isOn: Bool) { state.store(isOn, ordering: .relaxed) }
}
