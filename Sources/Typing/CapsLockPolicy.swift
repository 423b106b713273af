// SPDX-License-Identifier: GPL-2.0-or-later

/// The handling of letters while CapsLock is on.
package enum CapsLockPolicy: String, CaseIterable, Sendable {
    /// The keyboard has a CapsLock light.
    ///
    /// While the light is on, letters are typed with Shift inverted.
    case auto
    /// The keyboard has no light, and CapsLock is taken to be off.
    case ignore
}
