// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import SystemPackage

/// What the virtual terminal in front does with keys.
package struct ConsoleState: Equatable, Sendable {
    /// What becomes of a key, by the kernel's numbers.
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

        /// Whether what is typed becomes text.
        package var isText: Bool { self == .translated || self == .unicode }
    }

    /// Which: 1 is tty1.
    package var terminal: Int
    /// What becomes of keys.
    package var keys: Keys
    /// Whether a program draws on the screen itself (KD_GRAPHICS).
    package var isGraphic: Bool

    /// A terminal with all that is known of it.
    package init(terminal: Int, keys: Keys, isGraphic: Bool) {
        self.terminal = terminal
        self.keys = keys
        self.isGraphic = isGraphic
    }

    /// Looks at the terminal in front; nil where there is none, or this process may not look.
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
