// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
package import SystemPackage

/// A raw HCI socket: packets of the chosen events in, commands out, each with its H4 packet type as first byte.
///
/// The kernel uses the same controller at the same time; its own commands' events are seen here too. Reading needs no
/// capability for harmless events; setting a filter beyond them and sending need CAP_NET_RAW.
package struct HCISocket: ~Copyable {
    /// The socket, for the event loop.
    package let descriptor: Descriptor

    /// The most packets that are read in a row before the loop serves its other descriptors.
    package static let batch = 64

    /// The bytes of the longest event packet: packet type, header of two bytes, 255 of parameters.
    package static let packetCapacity = 1 + 2 + 255

    /// A socket bound to controller `index`, which sees the given event codes only.
    ///
    /// Throws `operationNotSupportedByDevice` (ENODEV) without that controller, `permissionDenied` or `notPermitted`
    /// without CAP_NET_RAW. The corresponding C calls are `socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI)`, `bind`,
    /// `setsockopt(HCI_FILTER)`.
    package init(controller index: UInt16, events: [UInt8], receiveBuffer: Int32? = nil) throws(Errno) {
        let socket = try Descriptor.bluetoothSocket(.hci, type: blewedge_SOCK_RAW, protocol: BTPROTO_HCI)
        // The filter comes first, so that no unwanted packet is ever queued.
        try Capability.raised { () throws(Errno) in
            try socket.setOption(SOL_HCI, HCI_FILTER, to: Filter(events: events))
        }
        if let receiveBuffer { socket.raiseReceiveBuffer(to: receiveBuffer) }
        var address = sockaddr_hci()
        address.hci_family = sa_family_t(AF_BLUETOOTH)
        address.hci_dev = index
        address.hci_channel = UInt16(HCI_CHANNEL_RAW)
        try socket.bind(to: address)
        descriptor = socket
    }

    /// A socket that is open and bound already.
    package init(opened descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Takes packets from the queue into `packets`, as many as it has places; answers how many came.
    ///
    /// The corresponding C function is `recvmmsg`.
    package func receive(into packets: PacketBatch) throws(Errno) -> NonBlocking<Int> {
        try packets.receive(from: descriptor)
    }

    /// Sends one packet whole.
    ///
    /// The corresponding C function is `write`.
    package func send(_ packet: [UInt8]) throws(Errno) -> NonBlocking<Int> {
        try Capability.raised { () throws(Errno) in try unsafe descriptor.write(packet.span.bytes) }
    }

    /// struct hci_filter: 14 bytes and two of padding, which newer kernels insist on.
    private struct Filter: BitwiseCopyable {
        var packetTypes: UInt32
        var events: (UInt32, UInt32) = (0, 0)
        var opcode: UInt16 = 0
        var padding: UInt16 = 0

        init(events codes: [UInt8]) {
            packetTypes = 1 << UInt32(HCI_EVENT_PKT)
            for code in codes {
                let bit: UInt32 = 1 << UInt32(code & 31)
                // The kernel looks at the lowest six bits of the event code.
                if code & 32 == 0 { events.0 |= bit } else { events.1 |= bit }
            }
        }
    }
}

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

/// The switches that silence a radio, as sysfs shows them.
package struct RFKill: Equatable, Sendable {
    /// Blocked by software; `rfkill unblock bluetooth` mends it.
    package var isSoftBlocked: Bool
    /// Blocked by a switch or the firmware, out of software's reach.
    package var isHardBlocked: Bool

    /// The switch of controller `index`; nil where it has none.
    ///
    /// Linux, Documentation/ABI/stable/sysfs-class-rfkill.
    package init?(controller index: UInt16, sysfs: String = "/sys") {
        let directory = "\(sysfs)/class/bluetooth/hci\(index)"
        guard let name = FileSystem.names(in: directory).first(where: { $0.hasPrefix("rfkill") }) else { return nil }
        isSoftBlocked = FileSystem.line(of: "\(directory)/\(name)/soft") == "1"
        isHardBlocked = FileSystem.line(of: "\(directory)/\(name)/hard") == "1"
    }
}
