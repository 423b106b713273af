// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Control
package import Devices
import Link
import LinuxIO
package import Texts

// Pairing beside the typing (D-9): the session lends it the radio, and ends the link to its device before.

extension KeyboardService {
    /// Makes a pairing, which begins with `begin`; until its end no link is begun, and no other pairing is made.
    ///
    /// Throws without an adapter, during another pairing, and for a device that is connected and paired already.
    package func pair(
        _ request: PairingRequest,
        keepingIn store: BondStore,
        _ choices: ChoiceStore
    ) throws(CommandFailure) -> DevicePairer {
        if pairer != nil { throw CommandFailure(.timeout, BondFaultText.busy) }
        guard let adapter = core.adapter?.address else {
            throw CommandFailure(.unavailable, AdapterFaultText.nothingToListenWith)
        }
        let known: BondStore.Contents
        do throws(BondStore.Failure) {
            known = try store.read()
        } catch {
            throw CommandFailure(error)
        }
        if let linked = linked(request.device, known),
            let refusal = known.refusal(of: linked, for: request.device, on: adapter)
        {
            throw refusal
        }
        let pairer = DevicePairer(request, keepingIn: store, known: known, choices, on: core.radio)
        self.pairer = pairer
        pairer.clearWay = { [unowned self] heard, proceed in
            clearWay(ending: heard ?? linked(request.device, known), proceed)
        }
        pairer.onEnd = { [unowned self] in pairingEnded() }
        return pairer
    }

    /// The connected device, which does not advertise, where it is the one that is meant.
    private func linked(_ meant: DeviceChoice, _ known: BondStore.Contents) -> DeviceAddress? {
        guard state == .connected, let device else { return nil }
        var name = known.names[device]
        switch choice {
        case .kept(let kept): name = kept.name ?? name
        case .name(let text), .named(let text, _): name = text
        case .address, nil: break
        }
        return meant.names(device, name) ? device : nil
    }

    /// Ends the link with a device, and whatever leads to another link; one that stands stays.
    private func clearWay(ending device: DeviceAddress?, _ proceed: @escaping () -> Void) {
        apply(.pairingBegins(endingLink: device != nil && device == self.device))
        if state == .connected { proceed() } else { link.close(completion: proceed) }
    }

    /// Goes on after a pairing, whose bond the adapter knows before the next link.
    private func pairingEnded() {
        pairer = nil
        if let known = try? bonds?() { core.adapter?.use(known.bonds) }
        apply(.pairingEnds)
        let waiting = onPairingEnd
        onPairingEnd = nil
        waiting?()
    }

    /// Calls off a pairing; `completion` is called when there is none any more.
    func endPairing(completion: @escaping () -> Void) {
        guard let pairer else { return completion() }
        onPairingEnd = completion
        pairer.cancel()
    }
}
