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
