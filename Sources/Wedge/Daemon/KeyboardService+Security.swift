// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
import LinuxIO
import Texts
import Typing

extension KeyboardService {
    /// The security without which nothing of the chosen device is typed, as far as it is known; nil without a choice.
    package var requiredSecurity: GATTLinkSecurity.Level? {
        guard choice != nil else { return nil }
        return device != nil && device == link.device ? max(chosenSecurity, link.required) : chosenSecurity
    }

    /// How a device is chosen for which that security is asked for.
    package func security(asked: GATTLinkSecurity.Level?) -> ChosenSecurity {
        ChosenSecurity(asked, least: settings.security)
    }

    /// The security that the configuration and the choice demand.
    private var chosenSecurity: GATTLinkSecurity.Level {
        guard case .kept(let kept)? = choice else { return settings.security }
        return max(settings.security, kept.security)
    }

    /// Connects to the device, as secure as its bond and its choice want it; without the bond for that, not at all.
    func connect(to device: DeviceAddress) {
        let known = bonds?() ?? []
        if bonds != nil { core.adapter?.use(known) }
        let keys = keys(of: device, in: known)
        let required = max(chosenSecurity, keys)
        guard let lack = lack(of: device, keys, for: required) else {
            return link.open(device, timeout: Session.connectTimeout, requiring: required)
        }
        // Not from within the step that asks for it.
        _ = loop.schedule(at: .zero) { [unowned self] in apply(.attemptFailed(Reason(lack))) }
    }

    /// Ends the link of a device that has not proved to be the paired one, or that has no keys for what its profile demands.
    func refuse() {
        keyboard.endLink(through: link.epoch)
        let address = device.map { "\($0.address)" } ?? ""
        var failure = CommandFailure(.permission, LinkFaultText.notSecured, address)
        if let device, let lack = lack(of: device, keys(of: device, in: bonds?() ?? []), for: link.required) {
            failure = lack
        }
        apply(.attemptFailed(Reason(failure)))
    }

    /// The security that the keys of a device give on this adapter.
    private func keys(of device: DeviceAddress, in bonds: [Bond]) -> GATTLinkSecurity.Level {
        let bond = bonds.first { $0.identityAddress == device && $0.localAddress == core.adapter?.address }
        return bond?.security.level ?? .none
    }

    private func lack(
        of device: DeviceAddress,
        _ keys: GATTLinkSecurity.Level,
        for required: GATTLinkSecurity.Level
    ) -> CommandFailure? {
        .lacking(required, device, keys: keys, .permission)
    }
}
