// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
package import SystemPackage

/// The kernel's Bluetooth management channel: commands and events for all controllers.
///
/// Every user may open it and ask for information; changes need CAP_NET_ADMIN, and so does news of
/// devices.
package struct ManagementSocket: ~Copyable {
    /// The socket, for the event loop.
    package let descriptor: Descriptor

    /// The most packets that are read in a row before the loop serves its other descriptors.
    package static let batch = 64

    /// The bytes of the longest packet: a header of six and what a 16-bit length allows in practice.
    package static let packetCapacity = 6 + 4096

    /// A bound socket.
    ///
    /// The corresponding C calls are `socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI)` and `bind` to HCI_CHANNEL_CONTROL.
    package init() throws(Errno) {
        let socket = try Descriptor.bluetoothSocket(.management, type: blewedge_SOCK_RAW, protocol: BTPROTO_HCI)
        var address = sockaddr_hci()
        address.hci_family = sa_family_t(AF_BLUETOOTH)
        address.hci_dev = UInt16(HCI_DEV_NONE)
        address.hci_channel = UInt16(HCI_CHANNEL_CONTROL)
        // What the kernel grants the socket is settled here.
        try Capability.raised { () throws(Errno) in try socket.bind(to: address) }
        descriptor = socket
    }

    /// A socket that is open and bound already.
    package init(opened descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Sends one packet whole.
    ///
    /// The corresponding C function is `write`.
    package func send(_ packet: [UInt8]) throws(Errno) -> NonBlocking<Int> {
        try unsafe descriptor.write(packet.span.bytes)
    }
}
