// SPDX-License-Identifier: GPL-2.0-or-later

public import Keystrokes

/// Characters of a device's keys: usages of page 07 under one of the built-in layouts.
///
/// The keys have the numbers that the kernel's `hid_keyboard` gives them. The keys that have the same character in every
/// layout are the keypad and, as control characters, Enter (0D), Tab (09), Backspace (08), Escape (1B), Delete (7F) and
/// Separator (1D, usage 9F).
///
/// HID Usage Tables 1.5, 10; `hid_keyboard` in drivers/hid/hid-input.c.
public struct DeviceLayout: Sendable {
    /// The layout.
    public let layout: BuiltInLayout
    /// True if the layout has characters with AltGr; in the others, the right Alt is like the left one.
    public let hasAltGr: Bool
    private let outputs: [KeyboardLayout.Level.Output?]
    private let decimalSign: Unicode.Scalar

    /// Creates the table of a layout.
    public init(_ layout: BuiltInLayout) {
        self.layout = layout
        var outputs = [KeyboardLayout.Level.Output?](repeating: nil, count: 256 * 8)
        var hasAltGr = false
        for capsLock in [false, true] {
            // The levels with CapsLock lack letters whose capital is disputed: these remain as without it.
            for level in layout.levels(capsLock: false) + (capsLock ? layout.levels(capsLock: true) : []) {
                let modifiers = level.stroke.modifiers
                hasAltGr = hasAltGr || modifiers.contains(.altGr)
                let column = Self.column(modifiers.contains(.shift), modifiers.contains(.altGr), capsLock)
                for usage in Self.usages[level.stroke.key] ?? [] { outputs[Int(usage) * 8 + column] = level.output }
            }
        }
        self.outputs = outputs
        self.hasAltGr = hasAltGr
        // Where Linux and Windows agree that the keypad has a comma.
        decimalSign = [.de, .dk, .fi, .no, .se].contains(layout) ? "," : "."
    }

    /// The US layout.
    static let us = DeviceLayout(.us)

    /// Returns the character or dead key of a usage of page 07; nil if it has none.
    ///
    /// Shift, AltGr and CapsLock matter only to the keys of the layout, NumLock only to the digits and the decimal sign
    /// of the keypad.
    public func output(
        of usage: UInt16,
        shift: Bool,
        altGr: Bool,
        capsLock: Bool,
        numLock: Bool
    ) -> KeyboardLayout.Level.Output? {
        if let character = fixed(usage, numLock: numLock) { return .character(character) }
        return output(usage, Self.column(shift, altGr, capsLock))
    }

    private func output(_ usage: UInt16, _ column: Int) -> KeyboardLayout.Level.Output? {
        usage < 256 ? outputs[Int(usage) * 8 + column] : nil
    }

    /// Returns the control character of a usage that is pressed with Ctrl, and perhaps with Shift or AltGr; nil if it
    /// has none.
    ///
    /// This is the control character of the layout's letter or of `@ [ \ ] ^ _`. Without AltGr, a key that has neither
    /// is `[ \ ] ^ _` in its place on a US keyboard, as in the layouts of Windows.
    public func control(of usage: UInt16, shift: Bool, altGr: Bool) -> Unicode.Scalar? {
        switch output(usage, Self.column(shift, altGr, false)) {
        case .character(let letter) where ("a"..."z").contains(letter) || ("@"..."_").contains(letter):
            return Self.control(letter)
        default: break
        }
        guard !altGr else { return nil }
        switch Self.us.output(usage, Self.column(shift, false, false)) {
        case .character(let sign) where ("["..."_").contains(sign): return Self.control(sign)
        default: return nil
        }
    }

    private static func control(_ character: Unicode.Scalar) -> Unicode.Scalar {
        Unicode.Scalar(UInt8(truncatingIfNeeded: character.value & 0x1F))
    }

    /// Returns the character of a keypad key with NumLock; nil if the usage is no keypad key.
    func keypadCharacter(of usage: UInt16) -> Unicode.Scalar? {
        switch usage {
        case 0x54: "/"
        case 0x55: "*"
        case 0x56: "-"
        case 0x57: "+"
        case 0x59...0x61: Unicode.Scalar(UInt8(truncatingIfNeeded: usage &- 0x59 &+ 0x31))
        case 0x62: "0"
        case 0x63: decimalSign
        case 0x67, 0x86: "="
        case 0x85: ","
        case 0xB6: "("
        case 0xB7: ")"
        default: nil
        }
    }

    private func fixed(_ usage: UInt16, numLock: Bool) -> Unicode.Scalar? {
        switch usage {
        case 0x28, 0x58: "\r"
        case 0x29: "\u{1B}"
        case 0x2A: "\u{08}"
        case 0x2B: "\t"
        case 0x4C: "\u{7F}"
        case 0x59...0x62 where !numLock: nil
        // The decimal sign is Delete without NumLock.
        case 0x63 where !numLock: "\u{7F}"
        case 0x9F: "\u{1D}"
        default: keypadCharacter(of: usage)
        }
    }

    private static func column(_ shift: Bool, _ altGr: Bool, _ capsLock: Bool) -> Int {
        (shift ? 1 : 0) | (altGr ? 2 : 0) | (capsLock ? 4 : 0)
    }

    /// Usages of each key that has characters in some layout.
    static let usages: [KeyCode: [UInt16]] = {
        var usages: [KeyCode: [UInt16]] = [:]
        for (first, names) in rows {
            for (offset, name) in names.split(separator: " ").enumerated() {
                let usage = first &+ UInt16(truncatingIfNeeded: offset)
                if let key = KeyCode(name: String(name)) { usages[key, default: []].append(usage) }
            }
        }
        return usages
    }()

    /// Runs of consecutive usages: the first usage, and the names of the keys from that usage on.
    private static let rows: [(first: UInt16, names: String)] = [
        (0x04, "a b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4 5 6 7 8 9 0"),
        (0x2C, "space minus equal leftbrace rightbrace backslash backslash"),
        (0x33, "semicolon apostrophe grave comma dot slash"),
        (0x64, "102nd"),
        (0x87, "ro"),
        (0x89, "yen"),
    ]
}
