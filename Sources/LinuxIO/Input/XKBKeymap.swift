// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// A keyboard layout by its name in the X keyboard database, as libxkbcommon compiles it.
///
/// The library is loaded when a layout is asked for and not before, so that everything else works without it.
package struct XKBKeymap {
    /// The reason why there is no such keymap.
    package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// The library is not installed, or lacks a function.
        case noLibrary(String)
        /// The database is not installed.
        case noData
        /// The name is none that a layout can have: `NAME` or `NAME(VARIANT)`, of letters, digits, `_` and `-`.
        case malformedName(String)
        /// The database has no layout of that name, or it does not compile.
        case unknownLayout(String)

        /// One line for people, without the remedy.
        package var description: String {
            switch self {
            case .noLibrary(let reason): "libxkbcommon cannot be loaded: \(reason)"
            case .noData: "libxkbcommon finds no keyboard database"
            case .malformedName(let name): "\"\(name)\" is no layout's name; write NAME or NAME(VARIANT)"
            case .unknownLayout(let name): "the keyboard database has no layout \"\(name)\""
            }
        }
    }

    /// A keystroke and its output.
    package struct Level: Equatable, Sendable {
        /// The key, in the kernel's numbering.
        package var key: UInt16
        /// True where Shift is held.
        package var shift: Bool
        /// True where the right Alt is held.
        package var altGr: Bool
        /// The keysym.
        package var keysym: UInt32
        /// The character by its number, 0 where the keysym is none.
        package var character: UInt32

        /// The combining mark that a dead key stands for; nil for any other keysym.
        ///
        /// The corresponding C constants are `XKB_KEY_dead_grave` to `XKB_KEY_dead_ogonek`.
        package var deadMark: UInt32? {
            guard keysym >= 0xFE50, keysym <= 0xFE5C else { return nil }
            return XKBKeymap.marks[Int(keysym - 0xFE50)]
        }
    }

    /// Grave, acute, circumflex, tilde, macron, breve, dot above, diaeresis, ring, double acute, caron, cedilla,
    /// ogonek.
    private static let marks: [UInt32] = [
        0x300, 0x301, 0x302, 0x303, 0x304, 0x306, 0x307, 0x308, 0x30A, 0x30B, 0x30C, 0x327, 0x328,
    ]

    /// The levels without CapsLock, those first that are to be preferred: without AltGr, on keys that every keyboard
    /// has, without Shift.
    package let levels: [Level]
    /// The levels with CapsLock on, in the same order.
    package let capsLockLevels: [Level]

    /// The longest name.
    private static let longestName = 64
    /// The keys that layouts put characters on: first those that every keyboard has, then the 102nd key and the two
    /// keys of Japanese keyboards.
    private static let keys: [[UInt16]] = [
        Array(2...13) + Array(16...27) + Array(30...41) + Array(43...53) + [57], [86, 89, 124],
    ]
    private static let leftShift: UInt16 = 42
    private static let rightAlt: UInt16 = 100

    /// Compiles the layout of that name: `de`, or `de(neo)` with a variant.
    package init(named name: String) throws(Failure) {
        let (layout, variant) = try Self.parts(of: name)
        let library = try XKBLibrary()
        let keymap = try XKBLibrary.Keymap(library, layout: layout, variant: variant, name: name)
        // Only where the right Alt is AltGr may it be pressed for a character: elsewhere it is Alt.
        let hasAltGr = keymap.keysym(Self.rightAlt, holding: [], capsLock: false).isLevel3Shift
        let levels = { (capsLock: Bool) in
            var levels: [Level] = []
            for altGr in hasAltGr ? [false, true] : [false] {
                for (keys, shift) in Self.keys.flatMap({ [($0, false), ($0, true)] }) {
                    let held = (shift ? [Self.leftShift] : []) + (altGr ? [Self.rightAlt] : [])
                    for key in keys {
                        let found = keymap.keysym(key, holding: held, capsLock: capsLock)
                        levels.append(
                            Level(
                                key: key,
                                shift: shift,
                                altGr: altGr,
                                keysym: found.keysym,
                                character: found.character
                            )
                        )
                    }
                }
            }
            return levels
        }
        self.levels = levels(false)
        capsLockLevels = levels(true)
    }

    /// Layout and variant; names that could lead out of the database's directory are refused.
    private static func parts(of name: String) throws(Failure) -> (layout: String, variant: String) {
        let parts = name.split(separator: "(", omittingEmptySubsequences: false)
        let isWhole = parts.count == 1 || parts.count == 2 && parts[1].last == ")"
        let words = parts.count == 2 ? [parts[0], parts[1].dropLast()] : parts
        let isAllowed = words.allSatisfy { word in
            !word.isEmpty
                && word.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                        true
                    default: false
                    }
                }
        }
        guard isWhole, isAllowed, name.utf8.count <= longestName else { throw .malformedName(name) }
        return (String(words[0]), words.count == 2 ? String(words[1]) : "")
    }
}
