// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
package import SystemPackage

/// The current keyboard map of the kernel's text consoles.
///
/// A console in Unicode mode (K_UNICODE) outputs characters unchanged. A console in translation mode (K_XLATE) converts
/// them to bytes with its own table, so only ASCII is reliable there, and other characters of its map are not used. A
/// console that is in raw mode or off outputs no text itself; its map is read as in Unicode mode.
package struct ConsoleKeymap: Equatable, Sendable {
    package enum Output: Equatable, Sendable {
        case character(UInt32)
        /// A dead key, identified by the character code that compositions use for it.
        case dead(UInt32)
    }

    package struct Level: Equatable, Sendable {
        package var key: UInt16
        package var shift: Bool
        /// True if the right Alt key is held.
        package var altGr: Bool
        package var output: Output
    }

    /// The composition of a dead key and the character after it.
    package struct Composition: Equatable, Sendable {
        package var dead: UInt32
        package var base: UInt32
        package var result: UInt32
    }

    /// Levels while CapsLock is off, in order of preference.
    ///
    /// First come levels without AltGr, then levels on keys that every keyboard has, then levels without Shift.
    package let levels: [Level]
    /// Levels while CapsLock is on, in the same order of preference.
    package let capsLockLevels: [Level]
    /// Compositions of a dead key with another character or with the space.
    package let compositions: [Composition]

    package static let foreground = "/dev/tty0"

    /// Reads the map through a virtual terminal.
    ///
    /// Throws `inappropriateIOCTLForDevice` (ENOTTY) if the path does not lead to a virtual terminal,
    /// `permissionDenied` if this process may not open it. The corresponding C calls are `ioctl(KDGKBMODE, KDGKBENT,
    /// KDGKBDIACRUC)`.
    package init(ofTerminal path: String = foreground) throws(Errno) {
        let terminal = try Descriptor.terminal(path)
        let number = terminal.number
        var mode: Int32 = 0
        // Sound: each request fills an object of the type that the request requires, which outlives the call.
        _ = try SystemCall.run { unsafe blewedge_ioctl_pointer(number, UInt(KDGKBMODE), &mode) }
        var tables: [[UInt16]] = []
        for table in Self.tables {
            var values: [UInt16] = []
            for key in Self.keys {
                var entry = kbentry(kb_table: table, kb_index: UInt8(key), kb_value: 0)
                _ = try SystemCall.run { unsafe blewedge_ioctl_pointer(number, UInt(KDGKBENT), &entry) }
                values.append(entry.kb_value)
            }
            tables.append(values)
        }
        // `struct kbdiacrsuc`: a count, and 256 entries of three words.
        var words = [UInt32](repeating: 0, count: 1 + 3 * 256)
        _ = try SystemCall.run { unsafe blewedge_ioctl_pointer(number, UInt(KDGKBDIACRUC), &words) }
        let accents = (0..<min(Int(words[0]), 256)).map { index in
            Composition(dead: words[3 * index + 1], base: words[3 * index + 2], result: words[3 * index + 3])
        }
        self.init(isUnicode: mode != K_XLATE, tables: tables, accents: accents)
    }

    /// Creates a map from the kernel's compositions, and from the value of each of `keys` in each of the four `tables`.
    init(isUnicode: Bool, tables: [[UInt16]], accents: [Composition]) {
        let largest: UInt32 = isUnicode ? 0x10FFFF : 0x7E
        let hasAltGr = Self.keys.firstIndex(of: Self.rightAlt).map { tables[0][$0] == Self.altGr } ?? false
        let levels = { (capsLock: Bool) in
            var levels: [Level] = []
            let order = [(0, false), (1, false), (0, true), (1, true), (2, false), (3, false), (2, true), (3, true)]
            for (table, isRare) in order where table < 2 || hasAltGr {
                for place in Self.keys.indices where Self.rareKeys.contains(Self.keys[place]) == isRare {
                    let value = tables[table][place]
                    // With CapsLock on, the kernel inverts Shift, but only for letters.
                    let isInverted = capsLock && value >> 8 == Self.letter
                    guard let output = Self.output(isInverted ? tables[table ^ 1][place] : value, largest) else {
                        continue
                    }
                    levels.append(
                        Level(key: Self.keys[place], shift: table & 1 != 0, altGr: table & 2 != 0, output: output)
                    )
                }
            }
            return levels
        }
        self.levels = levels(false)
        capsLockLevels = levels(true)
        let signs = Set(self.levels.compactMap { if case .dead(let sign) = $0.output { sign } else { nil } })
        compositions =
            accents.filter { signs.contains($0.dead) && $0.result <= largest }
            + signs.sorted().map { Composition(dead: $0, base: 0x20, result: $0) }
    }

    /// Returns the character or dead key for a value in the kernel's map; nil if the key outputs nothing.
    ///
    /// The kinds of values and the dead keys are defined in the kernel's drivers/tty/vt/keyboard.c; other characters
    /// are stored with their four highest bits inverted.
    static func output(_ value: UInt16, _ largest: UInt32) -> Output? {
        let low = UInt32(value & 0xFF)
        switch value >> 8 {
        case latin, letter: return low <= largest ? .character(low) : nil
        case dead: return low < accentSigns.count ? .dead(UInt32(accentSigns[Int(low)])) : nil
        case dead2: return .dead(low)
        case 0..<kinds: return nil
        default:
            let character = UInt32(value ^ 0xF000)
            return character <= largest ? .character(character) : nil
        }
    }

    /// Keys to which keyboard maps assign characters, and the right Alt key.
    static let keys: [UInt16] =
        Array(2...13) + Array(16...27) + Array(30...41) + Array(43...53) + [57, 86, 89, rightAlt, 124]
    /// Keys that some keyboards lack.
    private static let rareKeys: [UInt16] = [86, 89, 124]
    private static let rightAlt: UInt16 = 100
    /// `K_NORMTAB`, `K_SHIFTTAB`, `K_ALTTAB` (for AltGr), `K_ALTSHIFTTAB`.
    private static let tables: [UInt8] = [0, 1, 2, 3]
    /// `KT_LATIN`, `KT_DEAD`, `KT_LETTER`, `KT_DEAD2`, and `NR_TYPES`, the number of kinds.
    private static let latin: UInt16 = 0
    private static let dead: UInt16 = 4
    private static let letter: UInt16 = 11
    private static let dead2: UInt16 = 13
    private static let kinds: UInt16 = 15
    /// `K_ALTGR`.
    private static let altGr: UInt16 = 0x0701
    /// The symbol of each dead key, in the kernel's order.
    private static let accentSigns = Array("`'^~\",_U.*=cki#o!?+-)(:n;$@".utf8)
}

/// The keyboard mode and the screen mode of the foreground terminal.
package struct ConsoleState: Equatable, Sendable {
    /// The keyboard modes, by the kernel's numbers.
    package enum Keys: Int32, Sendable {
        /// Programs receive the keyboard's scan codes (K_RAW).
        case raw = 0
        /// Programs receive bytes, translated with the console's map (K_XLATE).
        case translated = 1
        /// Programs receive key codes (K_MEDIUMRAW).
        case mediumRaw = 2
        /// Programs receive UTF-8, translated with the console's map (K_UNICODE).
        case unicode = 3
        /// Programs receive nothing (K_OFF).
        case off = 4

        /// True for modes in which keys are converted to text.
        package var isText: Bool { self == .translated || self == .unicode }
    }

    /// The terminal's number: 1 is tty1.
    package var terminal: Int
    package var keys: Keys
    /// True if a program draws on the screen itself (KD_GRAPHICS).
    package var isGraphic: Bool

    package init(terminal: Int, keys: Keys, isGraphic: Bool) {
        self.terminal = terminal
        self.keys = keys
        self.isGraphic = isGraphic
    }

    /// Reads the state of the foreground terminal; nil if there is no such terminal, or this process may not read its
    /// state.
    ///
    /// The corresponding C calls are `ioctl(KDGKBMODE)` and `ioctl(KDGETMODE)`.
    package init?(sysfs: String = "/sys", path: String = ConsoleKeymap.foreground) {
        guard let terminal = try? ForegroundTerminal("\(sysfs)/class/tty/tty0/active").number,
            let console = try? Descriptor.terminal(path)
        else { return nil }
        let number = console.number
        var mode: Int32 = 0
        var screen: Int32 = 0
        // Sound: both requests fill an integer, which outlives the call.
        let modeSite = CallSite(.file, .ioctl, option: KDGKBMODE)
        let screenSite = CallSite(.file, .ioctl, option: KDGETMODE)
        guard
            (try? SystemCall.run(modeSite) { unsafe blewedge_ioctl_pointer(number, UInt(KDGKBMODE), &mode) }) != nil,
            (try? SystemCall.run(screenSite) { unsafe blewedge_ioctl_pointer(number, UInt(KDGETMODE), &screen) })
                != nil,
            let keys = Keys(rawValue: mode)
        else { return nil }
        self.init(terminal: terminal, keys: keys, isGraphic: screen == KD_GRAPHICS)
    }
}

/// The foreground terminal, and its changes.
///
/// When the foreground terminal changes, poll(2) reports an error condition, and so does an event loop. Linux,
/// Documentation/ABI/testing/sysfs-tty, /sys/class/tty/tty0/active.
package struct ForegroundTerminal: ~Copyable {
    package static let path = "/sys/class/tty/tty0/active"

    /// Descriptor that reports an error condition after each change of the foreground terminal; reading `number` clears
    /// it.
    package let descriptor: Descriptor

    /// Opens the file; throws `noSuchFileOrDirectory` on a kernel without virtual terminals.
    package init(_ path: String = path) throws(Errno) {
        descriptor = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
    }

    /// Number of the foreground terminal: 1 for tty1; nil if unknown (C: `pread`).
    package var number: Int? {
        var buffer = [UInt8](repeating: 0, count: 64)
        let file = descriptor.number
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            // Sound: the pointer is used within the closure, with the buffer's own length.
            unsafe pread(file, bytes.baseAddress, bytes.count, 0)
        }
        guard count > 3 else { return nil }
        let text = String(decoding: buffer.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return text.hasPrefix("tty") ? Int(text.dropFirst(3)) : nil
    }
}
