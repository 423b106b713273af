// SPDX-License-Identifier: GPL-2.0-or-later

import Synchronization

/// Key, identified by its number in the kernel, with its name in table files.
///
/// The corresponding C constants are `KEY_…` of `<linux/input-event-codes.h>`.
public struct KeyCode: RawRepresentable, Hashable, Comparable, Sendable {
    /// Number of the key in the kernel.
    public let rawValue: UInt16

    /// Creates a key from its number, even if the key has no name.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Compares keys by number.
    public static func < (left: KeyCode, right: KeyCode) -> Bool { left.rawValue < right.rawValue }

    /// Enter, which completes an input (C: `KEY_ENTER`).
    public static let enter = KeyCode(rawValue: 28)
    /// Tab, which moves to the next field (C: `KEY_TAB`).
    public static let tab = KeyCode(rawValue: 15)
    /// Backspace, which deletes the character before the cursor (C: `KEY_BACKSPACE`).
    public static let backspace = KeyCode(rawValue: 14)
    /// F8, which some applications interpret as the group separator (C: `KEY_F8`).
    public static let f8 = KeyCode(rawValue: 66)
    /// The left Shift, the only Shift that this program presses (C: `KEY_LEFTSHIFT`).
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

    /// True if the key only changes the meaning of other keys; such a key is never pressed by itself.
    public var isModifier: Bool { Self.modifiers.contains(self) }

    private static let modifiers = Set(
        [
            "leftctrl", "leftshift", "rightshift", "leftalt", "capslock", "rightctrl", "rightalt", "leftmeta",
            "rightmeta",
        ].compactMap(KeyCode.init(name:))
    )

    /// Name of the key in table files; nil if it has no name.
    public var name: String? { Self.named.first { $0.code == self }?.name }

    /// Creates the key with this name, in lower case; nil if the name is unknown.
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

    /// Runs of consecutive key numbers: the first number, and the names of the keys from that number on.
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

    /// Returns a suggestion for an unknown key name, to append to an error message; empty if no name is similar.
    static func suggestion(for name: String) -> String {
        let meant = others[name] ?? NearestName.of(name, among: named.map(\.name))
        return meant.map { ": is \"\($0)\" meant?" } ?? ""
    }

    /// Names that other programs use for these keys.
    private static let others = [
        "return": "enter", "cr": "enter", "lf": "enter", "newline": "enter", "esc": "escape", "del": "delete",
        "bs": "backspace",
        "pgup": "pageup", "pgdn": "pagedown", "ins": "insert", "-": "minus", "=": "equal", ".": "dot", ",": "comma",
        "/": "slash",
    ]
}

extension KeyCode: CustomStringConvertible {
    /// Name of the key, or its number if it has no name.
    public var description: String { name ?? "\(rawValue)" }
}

/// Search for the known name that is most similar to a mistyped one.
public enum NearestName {
    /// Returns the name in `known` that differs least from `name`, by at most two letters; nil if there is none.
    public static func of(_ name: String, among known: [String]) -> String? {
        let near = known.map { ($0, distance(name, $0)) }.min { $0.1 < $1.1 }
        guard let near, near.1 <= 2, near.1 < near.0.count else { return nil }
        return near.0
    }

    /// Returns the number of letters to insert, remove or replace (Levenshtein distance).
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

/// Keys that a virtual keyboard declares.
///
/// Only the keys that its tables use are declared, so that the kernel drops all others.
public struct KeySet: Equatable, Sendable {
    /// The keys, in the kernel's order.
    public private(set) var codes: [KeyCode] = []

    /// Creates an empty set.
    public init() {}

    /// Creates a set of the given keys.
    public init(_ keys: some Sequence<KeyCode>) {
        for key in keys { insert(key) }
    }

    /// Adds a key.
    public mutating func insert(_ key: KeyCode) {
        let place = codes.firstIndex { $0 >= key } ?? codes.endIndex
        guard place == codes.endIndex || codes[place] != key else { return }
        codes.insert(key, at: place)
    }

    /// Returns the union of both sets.
    public func union(_ other: KeySet) -> KeySet {
        KeySet(codes + other.codes)
    }

    /// Returns the keys to declare to the kernel.
    ///
    /// These are the keys of the set and, with `asKeyboard`, the codes 1 to 31, all of which udev requires to classify
    /// a device as a keyboard (ID_INPUT_KEYBOARD). Throws an error if a key or a combination of keys is forbidden.
    public func declared(asKeyboard: Bool) throws(ForbiddenKeys) -> KeySet {
        let all = asKeyboard ? union(KeySet((1...31).map(KeyCode.init(rawValue:)))) : self
        if let forbidden = all.forbidden { throw forbidden }
        return all
    }

    /// First violation of the rules for declared keys; nil if the set may be declared.
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
    /// Alt together with a key that switches terminals or restarts the machine when Alt is held.
    case together(KeyCode, KeyCode)

    /// One-line description for users, with the reason.
    public var description: String {
        switch self {
        case .alone(let key): "key \(key) is refused: it stops or controls the whole machine"
        case .together(let alt, let key):
            "keys \(alt) and \(key) are refused together: with Ctrl they could restart the machine or change the terminal"
        }
    }
}

/// Modifier keys that are held while another key is pressed.
public struct KeyModifiers: OptionSet, Hashable, Sendable {
    /// Set of modifiers, with one bit for each.
    public let rawValue: UInt8

    /// Creates modifiers from their bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The left Shift.
    public static let shift = KeyModifiers(rawValue: 1)
    /// The right Alt, in layouts that give it a level of its own.
    public static let altGr = KeyModifiers(rawValue: 2)
    /// The left Ctrl.
    public static let control = KeyModifiers(rawValue: 4)
    /// The left Alt.
    public static let alt = KeyModifiers(rawValue: 8)
    /// The left Meta, also called Super or Windows.
    public static let meta = KeyModifiers(rawValue: 16)

    /// Maximum number of modifiers in one keystroke.
    ///
    /// With two modifiers, a frame has at most six events: two releases, two presses, the key and the report.
    public static let most = 2

    /// All modifiers with their names in table files.
    static let all: [(modifier: KeyModifiers, name: String)] = [
        (.shift, "shift"), (.altGr, "altgr"), (.control, "ctrl"), (.alt, "alt"), (.meta, "meta"),
    ]

    init?(name: String) {
        guard let entry = Self.all.first(where: { $0.name == name }) else { return nil }
        self = entry.modifier
    }

    /// Number of modifiers.
    public var count: Int { rawValue.nonzeroBitCount }

    /// Keys of the modifiers, in the order in which they are pressed and released.
    public var keys: [KeyCode] { Self.all.filter { contains($0.modifier) }.map { $0.modifier.key } }

    /// Modifier with the lowest bit; empty if the set is empty.
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

    /// Names of the modifiers, each followed by a plus sign as in table files: `ctrl+shift+`.
    var prefix: String { Self.all.filter { contains($0.modifier) }.map { $0.name + "+" }.joined() }
}

/// One `struct input_event`, as the kernel reads it from a uinput device.
///
/// It consists of two words for the time (always zero: the kernel stamps the event itself), a 16-bit type, a 16-bit
/// code and a 32-bit value: 24 bytes on 64-bit systems, 16 bytes on 32-bit systems. The corresponding C type is `struct
/// input_event` of `<linux/input.h>`.
public struct InputEvent: Equatable, Sendable {
    /// Size of one event, in bytes.
    public static let size = timeSize + 8
    /// Size of the time at the start of an event, in bytes.
    static let timeSize = 2 * MemoryLayout<Int>.size

    /// The type of an event that ends a frame (C: `EV_SYN`).
    public static let synchronization: UInt16 = 0
    /// The type of a key event (C: `EV_KEY`).
    public static let key: UInt16 = 1

    /// Type of the event: `key` or `synchronization`.
    public var type: UInt16
    /// Code of the key, if this is a key event.
    public var code: UInt16
    /// 1 for a press, 0 for a release; the kernel's autorepeat value, 2, is never written.
    public var value: Int32

    /// Creates an event; the kernel sets its time.
    public init(type: UInt16, code: UInt16, value: Int32) {
        self.type = type
        self.code = code
        self.value = value
    }

    /// The event that ends a frame: type, code and value zero (C: `SYN_REPORT`).
    public static let report = InputEvent(type: synchronization, code: 0, value: 0)

    /// Returns the press or release event of a key.
    public static func key(_ code: KeyCode, down: Bool) -> InputEvent {
        InputEvent(type: key, code: code.rawValue, value: down ? 1 : 0)
    }

    /// Type, code and value as the eight-byte word that follows the time in memory.
    var word: UInt64 {
        #if _endian(big)
            UInt64(type) &<< 48 | UInt64(code) &<< 32 | UInt64(UInt32(bitPattern: value))
        #else
            UInt64(UInt32(bitPattern: value)) &<< 32 | UInt64(code) &<< 16 | UInt64(type)
        #endif
    }

    /// Bits of the value in a word, and the position of the lowest of these bits.
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

/// CapsLock light of the virtual keyboard, set by the thread that is notified of changes and read by the typist.
///
/// While it is on, applications swap the case of letters. The typist swaps it too, so that applications receive the
/// intended text. The light is off until `set` is called. A change applies from the next keystroke on; it cannot
/// correct keystrokes that were written earlier and that the application has not read yet.
public final class CapsLockLight: Sendable {
    private let state = Atomic<Bool>(false)

    /// Creates a light that is off.
    public init() {}

    /// True if the light is on.
    public var isOn: Bool { state.load(ordering: .relaxed) }

    /// Sets the state of the light.
    public func set(_ isOn: Bool) { state.store(isOn, ordering: .relaxed) }
}
