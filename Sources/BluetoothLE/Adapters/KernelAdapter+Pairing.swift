// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets

extension KernelAdapter {
    /// Loads the keys of the bonds with this adapter into the kernel, in the place of all that it had.
    ///
    /// The kernel takes them while the command is sent, so a connection that is begun afterwards finds them. While there
    /// never were any, the keys of others are left alone.
    package func use(_ bonds: [Bond]) {
        let own = bonds.filter { $0.localAddress == address }
        self.bonds = own
        resolver = AddressResolver(own)
        guard !own.isEmpty || hasLoadedKeys else { return }
        hasLoadedKeys = true
        load(.loadIdentityResolvingKeys(index, own.compactMap(\.managementResolvingKey)))
        load(.loadLongTermKeys(index, own.flatMap(\.managementKeys)))
    }

    /// Loads a list of keys, and notes whether the kernel has taken it.
    private func load(_ command: ManagementCommand) {
        let opcode = command.opcode
        management.send(command) { [weak self] reply in
            switch reply {
            case .status(.success, _): self?.refusedKeys[opcode] = nil
            case .status(let status, _): self?.refusedKeys[opcode] = .refused("\(opcode)", "\(status)")
            case .timedOut: self?.refusedKeys[opcode] = .refused("\(opcode)", "\(ManagementStatus.timeout)")
            }
        }
    }

    /// Why the kernel cannot encrypt a link with a device that has a bond: it has refused the keys; nil where it can.
    ///
    /// It would want to pair anew, and the device would seem to be another.
    func keyFailure(of device: DeviceAddress) -> LinkFailure? {
        guard bonds.contains(where: { $0.identityAddress == device }) else { return nil }
        return refusedKeys[.loadLongTermKeys] ?? refusedKeys[.loadIdentityResolvingKeys]
    }

    package func makePairing(_ wish: PairingWish) -> any DevicePairing { KernelPairing(wish, on: self) }

    package func makePairingWindow(_ offer: PairingOffer) -> any PairingWindow { KernelPairingWindow(offer, on: self) }

    /// Has the kernel forget the keys of a device, and ends a link with it; `completion` gets false where it had none.
    package func unpair(_ device: DeviceAddress, completion: @escaping (Bool) -> Void) {
        management.send(.unpairDevice(index, ManagementAddress(device), disconnects: true)) { reply in
            if case .status(.success, _) = reply { completion(true) } else { completion(false) }
        }
    }

    /// Takes an event about pairing: for the pairing that the user has begun, or else a device that wants to pair anew.
    ///
    /// The latter is refused: a bond is made by the user only. Who connects to this adapter may pair while there is a window,
    /// and is refused without one; devices of other programs are left to those. While the user pairs with one device, another one
    /// of this process is refused too.
    func handlePairing(_ event: ManagementEvent.Kind) {
        let device = event.asker
        if let device, served.contains(device) {
            if let window { window.handle(event) } else { refuse(event) }
        } else if let device, asked.contains(device), pairing?.isAbout(device) != true {
            refuse(event)
        } else if let pairing {
            pairing.handle(event)
        } else {
            window?.handle(event)
        }
    }

    /// Answers no to a question of the kernel about a pairing.
    private func refuse(_ event: ManagementEvent.Kind) {
        switch event {
        case .userConfirmationRequest(let device, _, _):
            management.send(.userConfirmationReply(index, device, accepts: false)) { _ in }
        case .userPasskeyRequest(let device): management.send(.userPasskeyReply(index, device, nil)) { _ in }
        // The kernel asks nothing here: only the end of the link ends the pairing.
        case .passkeyNotify(let device, _, _): management.send(.disconnect(index, device)) { _ in }
        default: break
        }
    }
}

extension ManagementEvent.Kind {
    /// The device about whose pairing the kernel asks or shows something; nil for another event.
    fileprivate var asker: ManagementAddress? {
        switch self {
        case .userConfirmationRequest(let device, _, _), .userPasskeyRequest(let device),
            .passkeyNotify(let device, _, _):
            device
        default: nil
        }
    }
}
