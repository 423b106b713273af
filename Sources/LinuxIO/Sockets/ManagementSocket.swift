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

/// The kernel's Bluetooth monitor channel: a copy of all that passes between the kernel and every controller.
///
/// It needs CAP_NET_RAW, and shows the contents of all connections: to be opened only when the user asks for a capture.
package struct MonitorSocket: ~Copyable {
    /// The socket, for the event loop.
    package let descriptor: Descriptor

    /// The bytes of the longest packet: a header of six and what a 16-bit length allows.
    package static let packetCapacity = 6 + 65_535

    /// A packet of the channel, with the time at which the kernel saw it.
    package struct Reception: Equatable, Sendable {
        /// The packet.
        package var packet: ReceivedPacket
        /// Microseconds since the beginning of 1970 (UTC).
        package var time: Int64
    }

    /// A socket that receives the list of controllers first, and every packet from now on.
    ///
    /// Throws `notPermitted` or `permissionDenied` without CAP_NET_RAW. The corresponding C calls are
    /// `socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI)`, `setsockopt(SO_TIMESTAMP)` and `bind` to HCI_CHANNEL_MONITOR.
    package init(receiveBuffer: Int32) throws(Errno) {
        let socket = try Descriptor.bluetoothSocket(.hci, type: blewedge_SOCK_RAW, protocol: BTPROTO_HCI)
        socket.raiseReceiveBuffer(to: receiveBuffer)
        // Without it the times are those at which the packets are read. Before 5.1 there is none for a 32-bit program whose
        // times have 64 bits.
        try? socket.setOption(SOL_SOCKET, SO_TIMESTAMP, to: Int32(1))
        var address = sockaddr_hci()
        address.hci_family = sa_family_t(AF_BLUETOOTH)
        address.hci_dev = UInt16(HCI_DEV_NONE)
        address.hci_channel = UInt16(HCI_CHANNEL_MONITOR)
        try Capability.raised { () throws(Errno) in try socket.bind(to: address) }
        descriptor = socket
    }

    /// Takes one packet from the queue, with the kernel's time of it where it names one, else the time now.
    ///
    /// The corresponding C function is `recvmsg`.
    package func receive(into buffer: inout [UInt8]) throws(Errno) -> NonBlocking<Reception> {
        var control = TimestampMessage()
        let empty = MemoryLayout<TimestampMessage>.size
        let number = descriptor.number
        var isTruncated = false
        let result = unsafe buffer.withUnsafeMutableBytes { bytes in
            // Sound: the vector names this buffer, and the header the vector and the control message, each with its own
            // length; all of them live for the call.
            var vector = unsafe iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
            return unsafe withUnsafeMutablePointer(to: &vector) { vector in
                unsafe withUnsafeMutableBytes(of: &control) { control in
                    Result { () throws(Errno) in
                        var header = unsafe msghdr()
                        unsafe header.msg_iov = vector
                        unsafe header.msg_iovlen = 1
                        unsafe header.msg_control = control.baseAddress
                        unsafe header.msg_controllen = empty
                        let count = try SystemCall.runNonBlocking { unsafe recvmsg(number, &header, 0) }
                        isTruncated = unsafe header.msg_flags & Int32(MSG_TRUNC) != 0
                        return count
                    }
                }
            }
        }
        switch try result.get() {
        case .wouldBlock: return .wouldBlock
        case .done(let count):
            let packet = ReceivedPacket(count: count, isTruncated: isTruncated)
            return .done(Reception(packet: packet, time: control.microseconds ?? WallClock.microseconds))
        }
    }

    /// struct cmsghdr with the struct timeval that SO_TIMESTAMP puts behind it.
    private struct TimestampMessage: BitwiseCopyable {
        var length = 0
        var level: Int32 = 0
        var type: Int32 = 0
        var seconds = 0
        var fraction = 0

        /// The time in microseconds; nil where the kernel wrote no such message.
        var microseconds: Int64? {
            guard level == SOL_SOCKET, type == SO_TIMESTAMP, length == MemoryLayout<Self>.size else { return nil }
            return Int64(seconds) &* 1_000_000 &+ Int64(fraction)
        }
    }
}
