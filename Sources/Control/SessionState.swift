// SPDX-License-Identifier: GPL-2.0-or-later

/// States of a session with a device, as shown to the user (LK-24).
package enum SessionState: String, Sendable, CaseIterable {
    case unselected
    /// Searching for the device, or connecting.
    case connecting
    /// The link is up, and data from the device is typed.
    case connected
    /// The link was lost; reconnecting.
    case lost
    /// The user closed the link.
    case disconnected
    /// The last attempt failed, or the device has not been heard; retrying.
    case failed
    /// The device does not offer the service; no retries.
    case unsupported
    case bluetoothOff
    case unauthorized
}
