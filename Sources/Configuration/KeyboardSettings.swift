// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
package import BluetoothHost
package import Devices
package import Keystrokes
package import Typing

/// Settings of a `KeyboardService`.
package struct KeyboardSettings: Sendable {
    package var adapter: AdapterTransport
    /// Device to use from the start; nil for none yet.
    package var device: DeviceSelector?
    /// Profiles to try on the device, in this order: the first one that it offers is used.
    package var profiles: [Profile]
    package var typing: TypingSettings
    /// Pacer of the outputs other than the keyboard.
    package var textPacer: Pacer
    /// False if only other outputs get the text.
    package var hasKeyboard: Bool
    /// Place of the address that devices carry in their manufacturer data; nil for none (BT-3).
    package var advertisedAddress: ManufacturerAddressField?
    /// Minimum security of a link, whatever its device and its profile.
    package var security: GATTLinkSecurity.Level

    package init(
        adapter: AdapterTransport,
        device: DeviceSelector?,
        profiles: [Profile],
        typing: TypingSettings,
        textPacer: Pacer? = nil,
        hasKeyboard: Bool = true,
        advertisedAddress: ManufacturerAddressField? = nil,
        security: GATTLinkSecurity.Level = .none
    ) {
        self.adapter = adapter
        self.device = device
        self.profiles = profiles
        self.typing = typing
        self.textPacer = textPacer ?? typing.pacer
        self.hasKeyboard = hasKeyboard
        self.advertisedAddress = advertisedAddress
        self.security = security
    }

    /// Typing settings of an output beside the first: no keys of clients, and no events to read back.
    package var textTyping: TypingSettings {
        var typing = typing
        typing.pacer = textPacer
        (typing.verifies, typing.keypad) = (false, nil)
        return typing
    }

    /// Maximum duration of the handshake of one of these profiles; zero without one.
    package var longestHandshake: Duration {
        profiles.map { $0.handshake.reduce(Duration.zero) { $0 + $1.timeout * $1.attempts } }.max() ?? .zero
    }
}
