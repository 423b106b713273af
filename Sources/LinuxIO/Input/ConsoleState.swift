// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import SystemPackage

/// The keyboard and screen mode of the virtual terminal in front.
package struct ConsoleState: Equatable, Sendable {
    /// The keyboard modes, by the kernel's numbers.
    package enum Keys: Int32, Sendable {
        /// Programs get the keyboard's codes (K_RAW).
        case raw = 0
        /// Programs get bytes by the console's map (K_XLATE).
        case translated = 1
        /// Programs get key numbers (K_MEDIUMRAW).
        case mediumRaw = 2
        /// Programs get UTF-8 by the console's map (K_UNICODE).
        case unicode = 3
        /// Programs get nothing (K_OFF).
        case off = 4

        /// True for modes in which keys become text.
        package var isText: Bool { self == .translated || self == .unicode }
    }

    /// The terminal's number: 1 is tty1.
    package var terminal: Int
    /// The keyboard mode.
    package var keys: Keys
    /// True where a program draws on the screen itself (KD_GRAPHICS).
    package var isGraphic: Bool

    /// A state from its fields.
    package init(terminal: Int, keys: Keys, isGraphic: Bool) {
        self.terminal = terminal
        self.keys = keys
        self.isGraphic = isGraphic
    }

    /// Reads the state of the terminal in front; nil where there is none, or this process may not read it.
    ///
    /// The corresponding C calls are `ioctl(KDGKBMODE)` and `ioctl(KDGETMODE)`.
    package init?(sysfs: String = "/sys", path: String = ConsoleKeymap.foreground) {
        guard let name = FileSystem.line(of: "\(sysfs)/class/tty/tty0/active"), name.hasPrefix("tty"),
            let terminal = Int(name.dropFirst(3)),
            let console = try? Descriptor.terminal(path)
        else { return nil }
        let number = console.number
        var mode: Int32 = 0
        var screen: Int32 = 0
        // Sound: both requests fill the integer that they are given.
        guard (try? SystemCall.run { unsafe blewedge_ioctl_pointer(number, UInt(KDGKBMODE), &mode) }) != nil,
            (try? SystemCall.run { unsafe blewedge_ioctl_pointer(number, UInt(KDGETMODE), &screen) }) != nil,
            let keys = Keys(rawValue: mode)
        else { return nil }
        self.init(terminal: terminal, keys: keys, isGraphic: screen == KD_GRAPHICS)
    }
}
