// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
import BluetoothPackets

extension HostAdapter {
    /// Makes the host stack know the bonds with its controller; a link that stands keeps the one that it has.
    package func use(_ bonds: [Bond]) {
        perform { host in host.bonds = bonds.filter { $0.localAddress == host.ownAddress?.address } }
    }

    package var keepsAddress: Bool { deviceAddress?.type == .public }

    package func makePairing(_ wish: PairingWish) -> any DevicePairing { HostPairing(wish, on: self) }

    package func makePairingWindow(_ offer: PairingOffer) -> any PairingWindow { HostPairingWindow(offer, on: self) }
}
