// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
package import SystemPackage

/// A controller for this process alone: whole HCI packets in and out, each with its H4 packet type as first byte, with
/// no kernel in between.
///
/// The kernel lets go of the controller while the socket is open and takes it back when it is closed.
package struct HCIUserChannel: ~Copyable {
    /// The socket, for the event loop.
    package let descriptor: Descriptor

    /// Room for the longest packet that a controller sends: ACL data of 65,535 bytes with its header.
    package static let packetCapacity = 1 + 4 + 65535

    /// Takes controller `index`; it must be down.
    ///
    /// Throws `resourceBusy` (EBUSY) when it is up or somebody else has it, `operationNotSupportedByDevice` (ENODEV)
    /// without that controller, `notPermitted` without CAP_NET_ADMIN. The corresponding C calls are
    /// `socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI)` and `bind` to HCI_CHANNEL_USER.
    package init(controller index: UInt16) throws(Errno) {
        let socket = try Descriptor.bluetoothSocket(.hci, type: blewedge_SOCK_RAW, protocol: BTPROTO_HCI)
        var address = sockaddr_hci()
        address.hci_family = sa_family_t(AF_BLUETOOTH)
        address.hci_dev = index
        address.hci_channel = UInt16(HCI_CHANNEL_USER)
        try Capability.raised { () throws(Errno) in try socket.bind(to: address) }
        descriptor = socket
    }
}
