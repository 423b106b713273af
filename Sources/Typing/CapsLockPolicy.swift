// SPDX-License-Identifier: GPL-2.0-or-later

/// What becomes of letters while CapsLock is on.
package enum CapsLockPolicy: String, CaseIterable, Sendable {
    /// The keyboard has a CapsLock light; while it is on, letters are typed the other way round.
    case auto
    /// The keyboard has no light, and CapsLock is taken to be off.
    case ignore
}
