// SPDX-License-Identifier: GPL-2.0-or-later

public import Keystrokes

extension KeyDecoder {
    /// Properties of a device that its reports do not contain.
    public struct Settings: Equatable, Sendable {
        /// Layout for which the device is set.
        public var layout: BuiltInLayout = .us
        /// Habit with regard to CapsLock.
        public var capsLock: CapsLockHabit = .taps
        /// Usage of page 07 of the key that means GS (1D), for example 41 for F8; nil if there is none.
        public var groupSeparatorKey: UInt16?
        /// True if a held key counts as pressed again when Shift or AltGr changes its character.
        ///
        /// Devices that omit the release between different characters, such as a and A, need it. With a device that
        /// releases Shift before or after the key, it would double characters.
        public var repeatsOnShiftChange = false
        /// True if NumLock is on when the device connects, and its light is switched on.
        public var numLock = true

        /// Creates the settings of a scanner for the US layout.
        public init() {}
    }
}
