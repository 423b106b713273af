// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// A keyboard layout from the X keyboard database, compiled by libxkbcommon.
///
/// The library is loaded only when a layout is requested, so that everything else works without it.
package struct XKBKeymap {
    /// The reason why a keymap is not available.
    package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// The library is not installed, or lacks a function.
        case noLibrary(String)
        case noData
        /// The name does not have the form of a layout name: `NAME` or `NAME(VARIANT)`, of letters, digits, `_` and
        /// `-`.
        case malformedName(String)
        /// The database has no layout with this name, or the layout cannot be compiled.
        case unknownLayout(String)

        /// A one-line description for the user, without the remedy.
        package var description: String {
            switch self {
            case .noLibrary(let reason): "libxkbcommon cannot be loaded: \(reason)"
            case .noData: "libxkbcommon finds no keyboard database"
            case .malformedName(let name): "\"\(name)\" is no layout's name; write NAME or NAME(VARIANT)"
            case .unknownLayout(let name): "the keyboard database has no layout \"\(name)\""
            }
        }
    }

    package struct Level: Equatable, Sendable {
        /// Key code in the kernel's numbering.
        package var key: UInt16
        package var shift: Bool
        /// True if the right Alt key is held.
        package var altGr: Bool
        package var keysym: UInt32
        /// Unicode code point of the character; 0 if the key produces none.
        package var character: UInt32

        /// Combining mark of a dead key; nil for any other keysym.
        ///
        /// The corresponding C constants are `XKB_KEY_dead_grave` to `XKB_KEY_dead_ogonek`.
        package var deadMark: UInt32? {
            guard keysym >= 0xFE50, keysym <= 0xFE5C else { return nil }
            return XKBKeymap.marks[Int(keysym - 0xFE50)]
        }
    }

    /// Combining marks in the order of the keysyms: grave, acute, circumflex, tilde, macron, breve, dot above,
    /// diaeresis, ring, double acute, caron, cedilla, ogonek.
    private static let marks: [UInt32] = [
        0x300, 0x301, 0x302, 0x303, 0x304, 0x306, 0x307, 0x308, 0x30A, 0x30B, 0x30C, 0x327, 0x328,
    ]

    /// Levels while CapsLock is off, in order of preference.
    ///
    /// First come levels without AltGr, then levels on keys that every keyboard has, then levels without Shift.
    package let levels: [Level]
    /// Levels while CapsLock is on, in the same order of preference.
    package let capsLockLevels: [Level]

    private static let longestName = 64
    /// Keys to which layouts assign characters: first the keys that every keyboard has, then the 102nd key and the two
    /// extra keys of Japanese keyboards.
    private static let keys: [[UInt16]] = [
        Array(2...13) + Array(16...27) + Array(30...41) + Array(43...53) + [57], [86, 89, 124],
    ]
    private static let leftShift: UInt16 = 42
    private static let rightAlt: UInt16 = 100

    /// Compiles the layout with this name, such as `de`, or `de(neo)` with a variant.
    package init(named name: String) throws(Failure) {
        let (layout, variant) = try Self.parts(of: name)
        let library = try XKBLibrary()
        let keymap = try XKBLibrary.Keymap(library, layout: layout, variant: variant, name: name)
        // The right Alt key is used for characters only if the layout makes it AltGr; otherwise it acts as Alt.
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

    /// Splits a name into layout and variant; rejects names that could lead outside the database's directory.
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

/// The functions of libxkbcommon that are used here, looked up by name in the library, which is loaded at run time.
///
/// Their types are declared in `<xkbcommon/xkbcommon.h>`, which is not needed for building. Version 0 of the library's
/// interface has not changed since release 0.5 (2014); a library with another interface version has another file name,
/// so it is not loaded.
@safe
struct XKBLibrary {
    private typealias NewContext = @convention(c) (Int32) -> OpaquePointer?
    private typealias SetLogLevel = @convention(c) (OpaquePointer, Int32) -> Void
    private typealias NewKeymap = @convention(c) (OpaquePointer, UnsafeRawPointer, Int32) -> OpaquePointer?
    private typealias ModifierIndex = @convention(c) (OpaquePointer, UnsafePointer<CChar>) -> UInt32
    private typealias NewState = @convention(c) (OpaquePointer) -> OpaquePointer?
    private typealias UpdateKey = @convention(c) (OpaquePointer, UInt32, Int32) -> Int32
    private typealias SerializeModifiers = @convention(c) (OpaquePointer, Int32) -> UInt32
    private typealias UpdateMask =
        @convention(c) (OpaquePointer, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) -> Int32
    private typealias FromKey = @convention(c) (OpaquePointer, UInt32) -> UInt32
    private typealias Release = @convention(c) (OpaquePointer) -> Void

    static let fileName = "libxkbcommon.so.0"

    private let newContext: NewContext
    private let setLogLevel: SetLogLevel
    private let releaseContext: Release
    private let newKeymap: NewKeymap
    private let releaseKeymap: Release
    private let modifierIndex: ModifierIndex
    private let newState: NewState
    private let releaseState: Release
    private let updateKey: UpdateKey
    private let serializeModifiers: SerializeModifiers
    private let updateMask: UpdateMask
    private let keysym: FromKey
    private let character: FromKey

    /// Loads the library and looks up its functions.
    ///
    /// The library is never unloaded, because unloading would gain nothing. The corresponding C functions are `dlopen`
    /// and `dlsym`.
    init() throws(XKBKeymap.Failure) {
        let library: LoadedLibrary
        do throws(LoadedLibrary.Failure) {
            library = try LoadedLibrary(Self.fileName)
        } catch {
            throw .noLibrary(error.reason)
        }
        let find = { (name: String) throws(XKBKeymap.Failure) -> UnsafeMutableRawPointer in
            do throws(LoadedLibrary.Failure) {
                return try unsafe library.function(name)
            } catch {
                throw .noLibrary(error.reason)
            }
        }
        // Sound: each type matches the function with this name in the library's header, and C passes enumerations as
        // int.
        unsafe newContext = unsafeBitCast(try find("xkb_context_new"), to: NewContext.self)
        unsafe setLogLevel = unsafeBitCast(try find("xkb_context_set_log_level"), to: SetLogLevel.self)
        unsafe releaseContext = unsafeBitCast(try find("xkb_context_unref"), to: Release.self)
        unsafe newKeymap = unsafeBitCast(try find("xkb_keymap_new_from_names"), to: NewKeymap.self)
        unsafe releaseKeymap = unsafeBitCast(try find("xkb_keymap_unref"), to: Release.self)
        unsafe modifierIndex = unsafeBitCast(try find("xkb_keymap_mod_get_index"), to: ModifierIndex.self)
        unsafe newState = unsafeBitCast(try find("xkb_state_new"), to: NewState.self)
        unsafe releaseState = unsafeBitCast(try find("xkb_state_unref"), to: Release.self)
        unsafe updateKey = unsafeBitCast(try find("xkb_state_update_key"), to: UpdateKey.self)
        unsafe serializeModifiers = unsafeBitCast(try find("xkb_state_serialize_mods"), to: SerializeModifiers.self)
        unsafe updateMask = unsafeBitCast(try find("xkb_state_update_mask"), to: UpdateMask.self)
        unsafe keysym = unsafeBitCast(try find("xkb_state_key_get_one_sym"), to: FromKey.self)
        unsafe character = unsafeBitCast(try find("xkb_state_key_get_utf32"), to: FromKey.self)
    }

    @safe
    struct Keymap: ~Copyable {
        /// A keysym, and the code point of its character, which is 0 if it has none.
        struct Symbol {
            var keysym: UInt32
            var character: UInt32

            /// True for ISO_Level3_Shift, which is AltGr (C: `XKB_KEY_ISO_Level3_Shift`).
            var isLevel3Shift: Bool { keysym == 0xFE03 }
        }

        private let library: XKBLibrary
        private let keymap: OpaquePointer

        /// Difference between an XKB keycode and the kernel's key code.
        private static let firstKeycode: UInt32 = 8
        /// `XKB_CONTEXT_NO_ENVIRONMENT_NAMES`: environment variables do not override the layout.
        private static let noEnvironmentNames: Int32 = 1 << 1
        /// `XKB_LOG_LEVEL_CRITICAL`: the library does not report an unknown layout on standard error, because we report
        /// it ourselves.
        private static let criticalOnly: Int32 = 10
        /// `XKB_KEY_DOWN`.
        private static let down: Int32 = 1
        /// `XKB_STATE_MODS_DEPRESSED`.
        private static let depressed: Int32 = 1 << 0
        /// `XKB_MOD_INVALID`.
        private static let noModifier = UInt32.max

        /// Compiles a layout for a keyboard with 105 keys, the default model in compositors (C:
        /// `xkb_keymap_new_from_names`).
        init(_ library: XKBLibrary, layout: String, variant: String, name: String) throws(XKBKeymap.Failure) {
            // Sound: the context is released once, after its last use; the keymap has its own reference to it.
            guard let context = unsafe library.newContext(Self.noEnvironmentNames) else { throw .noData }
            defer { unsafe library.releaseContext(context) }
            unsafe library.setLogLevel(context, Self.criticalOnly)
            var texts: [CChar] = []
            var starts: [Int] = []
            for text in ["evdev", "pc105", layout, variant, ""] {
                starts.append(texts.count)
                texts += text.utf8CString
            }
            // Sound: `struct xkb_rule_names` consists of five pointers to text, like the array; both arrays live until
            // the end of the call, which copies the texts.
            let keymap = unsafe texts.withUnsafeBufferPointer { texts in
                let names = unsafe starts.map { start in unsafe texts.baseAddress.map { unsafe $0 + start } }
                return unsafe names.withUnsafeBytes { names in
                    unsafe names.baseAddress.flatMap { unsafe library.newKeymap(context, $0, 0) }
                }
            }
            guard let keymap = unsafe keymap else { throw .unknownLayout(name) }
            self.library = library
            unsafe self.keymap = keymap
        }

        deinit {
            // Sound: only this object uses the keymap, and no state outlives it.
            unsafe library.releaseKeymap(keymap)
        }

        /// Returns the keysym that a key produces while the keys in `held` are held.
        ///
        /// The corresponding C functions are `xkb_state_update_key`, `xkb_state_update_mask` and
        /// `xkb_state_key_get_one_sym`.
        func keysym(_ key: UInt16, holding held: [UInt16], capsLock: Bool) -> Symbol {
            // Sound: both states live within this function, and each is released once.
            guard let pressed = unsafe library.newState(keymap), let state = unsafe library.newState(keymap) else {
                return Symbol(keysym: 0, character: 0)
            }
            defer {
                unsafe library.releaseState(pressed)
                unsafe library.releaseState(state)
            }
            for other in held { _ = unsafe library.updateKey(pressed, Self.firstKeycode + UInt32(other), Self.down) }
            let modifiers = unsafe library.serializeModifiers(pressed, Self.depressed)
            let lock = unsafe library.modifierIndex(keymap, "Lock")
            let locked: UInt32 = capsLock && lock != Self.noModifier && lock < 32 ? 1 << lock : 0
            _ = unsafe library.updateMask(state, modifiers, 0, locked, 0, 0, 0)
            let keycode = Self.firstKeycode + UInt32(key)
            return unsafe Symbol(keysym: library.keysym(state, keycode), character: library.character(state, keycode))
        }
    }
}
