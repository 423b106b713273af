// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
package import SystemPackage

/// A socket on which centrals reach the Attribute Protocol channel of this machine.
///
/// The kernel has no ATT server of its own: every request comes to the accepted socket. Of two listeners on one address
/// the newer one gets the connections.
package struct L2CAPListener: ~Copyable {
    /// The socket, for the event loop: readable when a central has connected.
    package let descriptor: Descriptor

    /// A central that has connected.
    package struct Central: ~Copyable {
        /// The connection.
        package let socket: L2CAPSocket
        /// The central's address, 48 bits.
        package let address: UInt64
        /// True for a random address.
        package let isRandom: Bool

        /// The connection, for its new owner.
        package consuming func takeSocket() -> L2CAPSocket { socket }
    }

    /// The most centrals that may wait to be accepted; no controller holds as many connections.
    private static let backlog: Int32 = 16

    /// A listener on the controller with the public address `local` (48 bits).
    ///
    /// The corresponding C calls are `socket(AF_BLUETOOTH, SOCK_SEQPACKET, BTPROTO_L2CAP)`, `bind` and `listen`.
    package init(local: UInt64) throws(Errno) {
        let socket = try Descriptor.bluetoothSocket(.listener, type: blewedge_SOCK_SEQPACKET, protocol: BTPROTO_L2CAP)
        try socket.bind(to: L2CAPSocket.address(local, type: L2CAPSocket.lowEnergyPublic))
        try socket.listen(backlog: Self.backlog)
        descriptor = socket
    }

    /// Takes the next central that has connected; nil when there is none.
    ///
    /// The corresponding C function is `accept4`.
    package func accept(receiveBuffer: Int32) throws(Errno) -> Central? {
        var address = sockaddr_l2()
        guard let accepted = try descriptor.accept(from: &address, as: .link) else { return nil }
        let bytes = address.l2_bdaddr.b
        var value: UInt64 = 0
        for byte in [bytes.5, bytes.4, bytes.3, bytes.2, bytes.1, bytes.0] { value = value &<< 8 | UInt64(byte) }
        return Central(
            socket: L2CAPSocket(accepted: accepted, receiveBuffer: receiveBuffer),
            address: value,
            isRandom: address.l2_bdaddr_type != L2CAPSocket.lowEnergyPublic
        )
    }
}
