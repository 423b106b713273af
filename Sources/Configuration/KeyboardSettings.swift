// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
package import BluetoothHost
package import Devices
package import HIDReports
package import Keystrokes
package import Typing

/// Settings of a `KeyboardService`.
package struct KeyboardSettings: Sendable {
    package var adapter: AdapterTransport
    /// Device to use from the start; nil if none is selected yet.
    package var device: DeviceSelector?
    /// Profiles to try on the device, in this order; the first profile that the device offers is used.
    package var profiles: [Profile]
    package var typing: TypingSettings
    /// Pacer for the outputs other than the keyboard.
    package var textPacer: Pacer
    /// True if one of the outputs is the keyboard.
    package var hasKeyboard: Bool
    /// Position of the address that devices include in their manufacturer data; nil if they do not (BT-3).
    package var advertisedAddress: ManufacturerAddressField?
    /// Minimum security of a link, regardless of its device and its profile.
    package var security: GATTLinkSecurity.Level
    /// Properties of keyboards whose reports are decoded.
    package var keys: KeyDecoder.Settings
    /// Longest time by which accepted data may precede the encryption of its link (D-41).
    package var earlyTime: Duration

    package init(
        adapter: AdapterTransport,
        device: DeviceSelector?,
        profiles: [Profile],
        typing: TypingSettings,
        textPacer: Pacer? = nil,
        hasKeyboard: Bool = true,
        advertisedAddress: ManufacturerAddressField? = nil,
        security: GATTLinkSecurity.Level = .none,
        keys: KeyDecoder.Settings = KeyDecoder.Settings(),
        earlyTime: Duration = .zero
    ) {
        self.adapter = adapter
        self.device = device
        self.profiles = profiles
        self.typing = typing
        self.textPacer = textPacer ?? typing.pacer
        self.hasKeyboard = hasKeyboard
        self.advertisedAddress = advertisedAddress
        self.security = security
        self.keys = keys
        self.earlyTime = earlyTime
    }

    /// Typing settings for an output other than the first: without client keys, and without the self-check.
    package var textTyping: TypingSettings {
        var typing = typing
        typing.pacer = textPacer
        (typing.verifies, typing.keypad) = (false, nil)
        return typing
    }

    /// Field that contains the values of a device that only advertises; nil if the device is to be connected.
    package var advertisedField: AdvertisedField? { profiles.first?.advertised }

    /// Maximum duration of the handshake of any of these profiles; zero if none has a handshake.
    package var longestHandshake: Duration {
        profiles.map { $0.handshake.reduce(Duration.zero) { $0 + $1.timeout * $1.attempts } }.max() ?? .zero
    }
}
