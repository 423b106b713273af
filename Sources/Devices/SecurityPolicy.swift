// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets

/// The security policy for selecting a device.
///
/// It consists of the level that the user requests, and the minimum level for every device. An unpaired device is
/// accepted only if the user has explicitly allowed it; no device is paired automatically.
package struct SecurityPolicy: Equatable, Sendable {
    package enum Refusal: Error, Equatable, Sendable {
        case lessSecure(GATTLinkSecurity.Level, least: GATTLinkSecurity.Level)
        case lacking(SecurityLack)
        case unpaired(SelectedDevice)
        /// The device is a keyboard, and was never paired.
        case unpairedKeyboard(SelectedDevice)
    }

    /// Level requested by the user; nil if the user requested none.
    package var asked: GATTLinkSecurity.Level?
    /// Minimum level that the configuration and its profiles require.
    package var least: GATTLinkSecurity.Level

    package init(_ asked: GATTLinkSecurity.Level?, least: GATTLinkSecurity.Level) {
        self.asked = asked
        self.least = least
    }

    /// Returns the selected device with the security level to store.
    ///
    /// The level is the requested level or, without a request, the level of the `earlier` selection, but at least the
    /// level that the device's bond demands. A device whose bond is unusable can be selected only by requesting `none`.
    /// Throws if the keys do not provide the level, or if there is no bond and `none` was not requested. A keyboard
    /// must be paired, whatever the user requests (D-41).
    package func secured(
        _ choice: SelectedDevice,
        _ claim: BondClaim,
        isKeyboard: Bool = false,
        earlier: SelectedDevice?
    ) throws(Refusal) -> SelectedDevice {
        if isKeyboard, claim == BondClaim() { throw .unpairedKeyboard(choice) }
        if let asked, asked < least {
            throw .lessSecure(asked, least: least)
        }
        let before = earlier.flatMap { $0.device.address == choice.device.address ? $0.security : nil }
        let ignoresBond = asked == GATTLinkSecurity.Level.none && claim.isUnusable && !isKeyboard
        let level = max(asked ?? before ?? .none, least, ignoresBond ? .none : claim.demanded)
        if let lack = SecurityLack(level, choice.device, claim) { throw .lacking(lack) }
        var secured = choice
        secured.security = level
        secured.ignoresBond = ignoresBond
        if secured.security == .none, asked == nil {
            throw .unpaired(choice)
        }
        return secured
    }
}

/// A device whose keys do not provide the required security.
package struct SecurityLack: Equatable, Sendable {
    package let device: DeviceAddress
    package let claim: BondClaim

    /// Creates the error; nil if a link with the device can have the `required` security.
    package init?(_ required: GATTLinkSecurity.Level, _ device: DeviceAddress, _ claim: BondClaim) {
        guard claim.keys < required else { return nil }
        self.device = device
        self.claim = claim
    }
}

extension GATTLinkSecurity.Level {
    package static let words = allCases.map(\.word).joined(separator: ", ")

    /// Parses the word for a level, as used in files, requests and options; returns nil for any other text.
    package init?(word: some StringProtocol) {
        guard let level = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = level
    }

    package var word: String { "\(self)" }
}
