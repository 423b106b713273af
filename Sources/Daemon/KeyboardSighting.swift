// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import Configuration

extension DiscoveredDevice {
    /// Appearances of a keyboard and of a barcode scanner that acts as one.
    ///
    /// Assigned Numbers, 2.6.3: category Human Interface Device, subcategories 1 and 8.
    private static let keyboardAppearances: Set<UInt16> = [0x03C1, 0x03C8]
    /// Appearances of HID devices that are no keyboards: mouse, joystick, gamepad, digitizer and others.
    private static let otherAppearances: Set<UInt16> = [0x03C2, 0x03C3, 0x03C4, 0x03C5, 0x03C6, 0x03C7, 0x03C9]

    /// True if the advertisement is that of a keyboard.
    ///
    /// False also for a keyboard that advertises neither its service nor its appearance.
    package var isKeyboard: Bool { Self.isKeyboard(services, data.appearance) }

    /// Returns true if these advertised services and this advertised appearance are those of a keyboard.
    package static func isKeyboard(_ services: [BluetoothUUID], _ appearance: UInt16?) -> Bool {
        if let appearance {
            if keyboardAppearances.contains(appearance) { return true }
            if otherAppearances.contains(appearance) { return false }
        }
        return services.contains(.humanInterfaceDevice)
    }

    /// Returns true if a link with the device would use a keyboard profile, as far as the advertisement shows.
    ///
    /// A serial service of the same device is preferred to its keyboard.
    package func isKeyboard(for profiles: [Profile]) -> Bool {
        isKeyboard && profiles.contains(where: \.isKeyboard)
            && !profiles.contains { !$0.isKeyboard && services.contains($0.service) }
    }
}
