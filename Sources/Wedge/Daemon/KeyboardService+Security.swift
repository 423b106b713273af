// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO
import Texts
import Typing

extension KeyboardService {
    /// Connects to the device, as secure as its bond and its choice want it; without the bond for that, not at all.
    func connect(to device: DeviceAddress) {
        let known = bonds?() ?? []
        if bonds != nil { core.adapter?.use(known) }
        let bond = known.first { $0.identityAddress == device && $0.localAddress == core.adapter?.address }
        var required = bond?.security.level ?? .none
        if case .kept(let kept)? = choice { required = max(required, kept.security) }
        var fault: LinkFaultText?
        if let bond {
            if bond.security.level < required { fault = .weakBond }
        } else if required > .none {
            fault = .noBond
        }
        guard let fault else {
            return link.open(device, timeout: Session.usualAttemptTimeout, requiring: required)
        }
        let reason = Reason(CommandFailure(.permission, fault, "\(device.address)"))
        // Not from within the step that asks for it.
        _ = loop.schedule(at: .zero) { [unowned self] in apply(.attemptFailed(reason)) }
    }

    /// Ends the link of a device that has not proved to be the paired one.
    func refuse() {
        keyboard.endLink(through: link.epoch)
        let address = device.map { "\($0.address)" } ?? ""
        apply(.attemptFailed(Reason(CommandFailure(.permission, LinkFaultText.notSecured, address))))
    }
}
