// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE

/// The security that a device is chosen with: what was asked for, and what is demanded of every device.
///
/// A device without keys is taken only where somebody has said that anybody may be it; nothing pairs by itself.
package struct SecurityPolicy: Equatable, Sendable {
    package enum Refusal: Error, Equatable, Sendable {
        case lessSecure(GATTLinkSecurity.Level, least: GATTLinkSecurity.Level)
        case lacking(SecurityLack)
        case unpaired(SelectedDevice)
    }

    /// The level that the user asks for; nil where nothing was said.
    package var asked: GATTLinkSecurity.Level?
    /// The least level, by the configuration and its profiles.
    package var least: GATTLinkSecurity.Level

    package init(_ asked: GATTLinkSecurity.Level?, least: GATTLinkSecurity.Level) {
        self.asked = asked
        self.least = least
    }

    /// The choice with the level that it is to be kept with: the one that is asked for or the one that it was kept with
    /// `earlier`, and never less than its bond demands.
    ///
    /// Only the word `none` chooses a device whose bond cannot be used. Throws where the keys do not give the level, and
    /// where there is no bond and nobody has said `none`.
    package func secured(
        _ choice: SelectedDevice,
        _ claim: BondClaim,
        earlier: SelectedDevice?
    ) throws(Refusal) -> SelectedDevice {
        if let asked, asked < least {
            throw .lessSecure(asked, least: least)
        }
        let before = earlier.flatMap { $0.device.address == choice.device.address ? $0.security : nil }
        let ignoresBond = asked == GATTLinkSecurity.Level.none && claim.isUnusable
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

/// A device whose keys do not give the required security.
package struct SecurityLack: Equatable, Sendable {
    package let device: DeviceAddress
    package let claim: BondClaim

    /// Nil where a link with the device can have the `required` security.
    package init?(_ required: GATTLinkSecurity.Level, _ device: DeviceAddress, _ claim: BondClaim) {
        guard claim.keys < required else { return nil }
        self.device = device
        self.claim = claim
    }
}

extension GATTLinkSecurity.Level {
    package static let words = allCases.map(\.word).joined(separator: ", ")

    /// The level of a word, as files, requests and options have it; nil for any other.
    package init?(word: some StringProtocol) {
        guard let level = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = level
    }

    package var word: String { "\(self)" }
}
