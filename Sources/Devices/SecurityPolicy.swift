// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import Texts

/// The security that a device is chosen with: what was asked for, and what is demanded of every device.
///
/// A device without keys is taken only where somebody has said that anybody may be it; nothing pairs by itself.
package struct SecurityPolicy: Equatable, Sendable {
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
    /// Only the word `none` chooses a device whose bond cannot be used. Throws, with status 78, where the keys do not give
    /// the level, and where there is no bond and nobody has said `none`.
    package func secured(
        _ choice: SelectedDevice,
        _ claim: BondClaim,
        earlier: SelectedDevice?
    ) throws(CommandFailure) -> SelectedDevice {
        if let asked, asked < least {
            throw CommandFailure(.configuration, LinkFaultText.lessSecure, asked.word, least.word)
        }
        let before = earlier.flatMap { $0.device.address == choice.device.address ? $0.security : nil }
        let ignoresBond = asked == GATTLinkSecurity.Level.none && claim.isUnusable
        let level = max(asked ?? before ?? .none, least, ignoresBond ? .none : claim.demanded)
        if let lack = CommandFailure.lacking(level, choice.device, claim, .configuration) { throw lack }
        var secured = choice
        secured.security = level
        secured.ignoresBond = ignoresBond
        if secured.security == .none, asked == nil {
            throw CommandFailure(
                .configuration,
                LinkFaultText.openDevice,
                choice.labelWithAddress,
                "\(choice.device.address)"
            )
        }
        return secured
    }
}

extension CommandFailure {
    /// Why no link with a device can have the `required` security; nil where one can.
    package static func lacking(
        _ required: GATTLinkSecurity.Level,
        _ device: DeviceAddress,
        _ claim: BondClaim,
        _ status: ExitStatus
    ) -> CommandFailure? {
        guard claim.keys < required else { return nil }
        let address = "\(device.address)"
        switch claim.fault {
        case .otherDevice(let identity):
            return CommandFailure(status, LinkFaultText.otherDevice, "\(device)", "\(identity)", "\(identity.address)")
        case .otherAdapter(let adapter):
            return CommandFailure(status, LinkFaultText.otherAdapter, address, "\(adapter)")
        case .damaged: return CommandFailure(status, LinkFaultText.damagedBond, address)
        case nil:
            let fault: LinkFaultText = claim.keys == .none ? .noBond : claim.isLegacy ? .legacyBond : .weakBond
            return CommandFailure(status, fault, address)
        }
    }

    /// Refuses to run for a device that was never paired, which nobody has said may be anybody.
    package static func unpaired(_ choice: DeviceSelector) -> CommandFailure {
        CommandFailure(.configuration, LinkFaultText.unpaired, "\(choice)")
    }
}

extension GATTLinkSecurity.Level {
    package static let words = allCases.map(\.word).joined(separator: ", ")

    /// The level of a word, as files, requests and options have it; nil for any other.
    package init?(word: some StringProtocol) {
        guard let level = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = level
    }

    /// The level's word: `none`, `encrypted` or `authenticated`.
    package var word: String { "\(self)" }
}
