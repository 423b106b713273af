// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import Devices
package import Typing

/// The settings of a `KeyboardService`.
package struct KeyboardSettings: Sendable {
    package var adapter: AdapterTransport
    /// Which device, from the beginning; nil for none yet.
    package var device: DeviceSelector?
    /// The profiles that are tried on the device, in this order: the first that it offers is used.
    package var profiles: [Profile]
    /// How what it sends is typed.
    package var typing: TypingSettings
    /// Where devices carry their address besides the one on the air; nil for nowhere (BT-3).
    package var advertisedAddress: ManufacturerAddressField?
    /// The least security of a link, whatever its device and its profile.
    package var security: GATTLinkSecurity.Level

    package init(
        adapter: AdapterTransport,
        device: DeviceSelector?,
        profiles: [Profile],
        typing: TypingSettings,
        advertisedAddress: ManufacturerAddressField? = nil,
        security: GATTLinkSecurity.Level = .none
    ) {
        self.adapter = adapter
        self.device = device
        self.profiles = profiles
        self.typing = typing
        self.advertisedAddress = advertisedAddress
        self.security = security
    }

    /// The longest that the handshake of one of these profiles may take; zero without one.
    package var longestHandshake: Duration {
        profiles.map { $0.handshake.reduce(Duration.zero) { $0 + $1.timeout * $1.attempts } }.max() ?? .zero
    }
}
