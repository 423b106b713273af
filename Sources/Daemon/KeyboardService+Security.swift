// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
import Configuration
package import Devices
import Link
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
        let refusal: CommandFailure
        do throws(CommandFailure) {
            let known = try knownBonds()
            if bonds != nil { core.adapter?.use(known.bonds) }
            let claim = claim(on: device, known)
            let required = max(chosenSecurity, claim.demanded)
            guard let lack = CommandFailure.lacking(required, device, claim, .permission) else {
                return link.open(device, timeout: Session.connectTimeout, requiring: required)
            }
            refusal = lack
        } catch {
            // Without its file no device is known to be unpaired.
            refusal = error
        }
        // Not from within the step that asks for it.
        _ = loop.schedule(at: .zero) { [unowned self] in apply(.attemptFailed(Reason(refusal))) }
    }

    /// Ends the link of a device that has not proved to be the paired one, or that has no keys for what its profile demands.
    func refuse() {
        keyboard.endLink(through: link.epoch)
        let address = device.map { "\($0.address)" } ?? ""
        var failure = CommandFailure(.permission, LinkFaultText.notSecured, address)
        if let device, let known = try? knownBonds(),
            let lack = CommandFailure.lacking(link.required, device, claim(on: device, known), .permission)
        {
            failure = lack
        }
        apply(.attemptFailed(Reason(failure)))
    }

    private func knownBonds() throws(CommandFailure) -> BondStore.Contents {
        guard let bonds else { return BondStore.Contents() }
        do throws(BondStore.Failure) {
            return try bonds()
        } catch {
            throw CommandFailure(error)
        }
    }

    /// What the device that was heard has to prove, for the choice.
    private func claim(on device: DeviceAddress, _ known: BondStore.Contents) -> BondClaim {
        guard let adapter = core.adapter?.address else { return BondClaim(demanded: .authenticated) }
        let claim = known.claim(of: device, for: choice, on: adapter)
        guard claim.isUnusable, case .kept(let kept)? = choice, kept.ignoresBond else { return claim }
        return BondClaim()
    }
}
