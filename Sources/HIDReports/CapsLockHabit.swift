// SPDX-License-Identifier: GPL-2.0-or-later

/// Habit of a scanner with regard to CapsLock.
public enum CapsLockHabit: String, CaseIterable, Sendable {
    /// Presses CapsLock and types accordingly; it assumes that CapsLock is off at first.
    case taps
    /// Goes by the output report, which says that CapsLock is off, even after the scanner has pressed it.
    case readsLED = "reads-led"
    /// Is set for a computer whose CapsLock is on; it may press CapsLock to turn it off.
    case assumesOn = "assumes-on"
}
