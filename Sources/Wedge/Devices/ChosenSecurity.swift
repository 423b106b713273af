// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import Texts

/// The security that a device is chosen with: what was asked for, and what is demanded of every device.
///
/// A device without keys is taken only where somebody has said that anybody may be it; nothing pairs by itself.
package struct ChosenSecurity: Equatable, Sendable {
    /// The level that the user asks for; nil where nothing was said.
    package var asked: GATTLinkSecurity.Level?
    /// The least level, by the configuration and its profiles.
    package var least: GATTLinkSecurity.Level

    /// A choice's security.
    package init(_ asked: GATTLinkSecurity.Level?, least: GATTLinkSecurity.Level) {
        self.asked = asked
        self.least = least
    }

    /// The choice with the level that it is to be kept with: the one that is asked for or the one that it was kept with
    /// `earlier`, and never less than its `keys` give.
    ///
    /// Throws, with status 78, where the keys do not give that, and where there are none and nobody has said `none`.
    package func secured(
        _ choice: KeptChoice,
        keys: GATTLinkSecurity.Level,
        earlier: KeptChoice?
    ) throws(CommandFailure) -> KeptChoice {
        if let asked, asked < least {
            throw CommandFailure(.configuration, LinkFaultText.lessSecure, asked.word, least.word)
        }
        let before = earlier.flatMap { $0.device == choice.device ? $0.security : nil }
        let level = max(asked ?? before ?? .none, least)
        let lack = CommandFailure.lacking(level, choice.device, keys: keys, .configuration)
        if let lack { throw lack }
        var secured = choice
        secured.security = max(level, keys)
        if secured.security == .none, asked == nil {
            throw CommandFailure(.configuration, LinkFaultText.openDevice, choice.label, "\(choice.device.address)")
        }
        return secured
    }
}

extension CommandFailure {
    /// Why no link with a device can have the `required` security: the level that its keys give; nil where one can.
    static func lacking(
        _ required: GATTLinkSecurity.Level,
        _ device: DeviceAddress,
        keys: GATTLinkSecurity.Level,
        _ status: ExitStatus
    ) -> CommandFailure? {
        guard keys < required else { return nil }
        let fault: LinkFaultText = keys == .none ? .noBond : .weakBond
        return CommandFailure(status, fault, "\(device.address)")
    }

    /// Whether this refuses a device for want of a word that anybody may be it.
    package var isOfOpenDevice: Bool { cause.says(LinkFaultText.openDevice) }
}
