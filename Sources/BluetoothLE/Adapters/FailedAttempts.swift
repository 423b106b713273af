// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets

/// The devices to which an attempt has failed and was not repeated since, and whom the kernel may connect all the same.
///
/// When a controller refuses a connection, Linux 5.10 tells the socket and goes on trying by itself. The link that comes of
/// it belongs to nobody and lasts until the device ends it: meanwhile the device does not advertise, so no scan hears it.
///
/// The corresponding C function is `hci_le_conn_failed`.
package struct FailedAttempts: Sendable {
    /// The most devices that are remembered; the one that failed first is forgotten.
    package static let capacity = 16

    private var devices: [ManagementAddress] = []

    /// None yet.
    package init() {}

    /// Notes that an attempt begins: the link that comes is its own.
    package mutating func noteBeginning(_ device: ManagementAddress) {
        devices.removeAll { $0 == device }
    }

    /// Notes that an attempt has failed.
    package mutating func noteFailure(_ device: ManagementAddress) {
        if devices.count == Self.capacity { devices.removeFirst() }
        devices.append(device)
    }

    /// Notes a link; true if nobody holds it, once for each failure.
    package mutating func takesLink(_ device: ManagementAddress) -> Bool {
        guard let place = devices.firstIndex(of: device) else { return false }
        devices.remove(at: place)
        return true
    }
}
