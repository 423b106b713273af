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
        management.send(.loadIdentityResolvingKeys(index, own.compactMap(\.managementResolvingKey))) { _ in }
        management.send(.loadLongTermKeys(index, own.flatMap(\.managementKeys))) { _ in }
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
    /// The latter is refused: a bond is made by the user only. Who connects to this adapter may pair while there is a window;
    /// devices of other programs are left to those.
    func handlePairing(_ event: ManagementEvent.Kind) {
        if let pairing { return pairing.handle(event) }
        switch event {
        case .userConfirmationRequest(let device, _, _) where asked.contains(device):
            management.send(.userConfirmationReply(index, device, accepts: false)) { _ in }
        case .userPasskeyRequest(let device) where asked.contains(device):
            management.send(.userPasskeyReply(index, device, nil)) { _ in }
        default: window?.handle(event)
        }
    }
}
