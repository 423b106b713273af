// SPDX-License-Identifier: GPL-2.0-or-later

/// The states of a session with a device, as the user is shown them (LK-24).
package enum SessionState: String, Sendable, CaseIterable {
    case unselected
    /// The device is looked for, or an attempt is under way.
    case connecting
    /// The link stands, and the device's values are typed.
    case connected
    /// The link was lost; it is tried again.
    case lost
    /// The user closed the link.
    case disconnected
    /// The last attempt failed, or the device is not heard; it is tried again.
    case failed
    /// The device does not have the service; it is left alone.
    case unsupported
    case bluetoothOff
    case unauthorized
}
