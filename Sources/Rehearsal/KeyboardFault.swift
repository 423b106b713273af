// SPDX-License-Identifier: GPL-2.0-or-later

/// Deliberate fault of a simulated keyboard; the raw values are the names in options.
package enum KeyboardFault: String, CaseIterable, Sendable {
    /// Requires no encryption.
    case noEncryption = "no-encryption"
    /// Omits the report without keys between different characters.
    case keepKeyDown = "keep-key-down"
    /// Forgets the subscriptions of bonded centrals when they disconnect.
    case forgetSubscriptions = "forget-subscriptions"
    /// Offers an ATT_MTU of 23 bytes, and refuses to read the second half of the report map.
    case shortMap = "short-map"
}
