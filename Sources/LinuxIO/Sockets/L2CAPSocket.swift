// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
package import SystemPackage

/// A connection to a peer's Attribute Protocol channel (L2CAP fixed channel 4), one PDU per packet.
///
/// The kernel drops notifications silently when the receive queue is full, so the queue is made as large as permitted.
/// `descriptor.droppedPacketCount` is the number of dropped packets; `receive` reports with each packet how many
/// packets were dropped before it.
package struct L2CAPSocket: ~Copyable {
    package let descriptor: Descriptor

    /// Size of a buffer for one PDU.
    ///
    /// The largest MTU in use is 517 bytes; the remaining space is for peers that exceed the MTU.
    package static let packetCapacity = 1024
    private typealias Packet = InlineArray<1024, UInt8>

    /// L2CAP channel identifier of the Attribute Protocol (Core 6.0, Vol 3, Part A, 2.1).
    private static let attributeProtocolChannel: UInt16 = 0x0004

    /// BDADDR_LE_PUBLIC of <bluetooth/bluetooth.h>.
    static let lowEnergyPublic: UInt8 = 1

    /// Creates a socket bound to the controller with the public address `local` (48 bits).
    ///
    /// Binding to the controller's own address prevents the kernel from choosing another controller.
    package init(local: UInt64, receiveBuffer: Int32) throws(Errno) {
        let socket = try Descriptor.bluetoothSocket(.link, type: blewedge_SOCK_SEQPACKET, protocol: BTPROTO_L2CAP)
        socket.raiseReceiveBuffer(to: receiveBuffer)
        socket.countDrops()
        try socket.bind(to: Self.address(local, type: Self.lowEnergyPublic))
        descriptor = socket
    }

    /// Takes ownership of a connection that a listener has accepted.
    init(accepted: consuming Descriptor, receiveBuffer: Int32) {
        accepted.raiseReceiveBuffer(to: receiveBuffer)
        accepted.countDrops()
        descriptor = accepted
    }

    /// Starts a connection to `peer` (48 bits); `isRandom` is true if its address is random.
    ///
    /// The attempt has ended when the descriptor is writable; `takePendingError()` then returns its error, or nil for
    /// success.
    package func connect(to peer: UInt64, isRandom: Bool) throws(Errno) -> NonBlocking<Void> {
        try descriptor.connect(to: Self.address(peer, type: isRandom ? Self.lowEnergyPublic + 1 : Self.lowEnergyPublic))
    }

    /// Returns the security of the connection.
    ///
    /// The level is that of BT_SECURITY, from 1 (none) to 4; the key size is in bytes, and 0 without a key. After the
    /// connection has ended, the method returns the requested level and the key size 0. The corresponding C function is
    /// `getsockopt`.
    package func security() throws(Errno) -> (level: UInt8, keySize: UInt8) {
        let value = try descriptor.option(SOL_BLUETOOTH, BT_SECURITY, initial: SecurityOption())
        return (value.level, value.keySize)
    }

    /// Requests a security level: 2 for encryption, 3 for an authenticated key, 4 for an authenticated LE Secure
    /// Connections key.
    ///
    /// The socket is not writable until the connection has that level. Throws `invalidArgument` if the connection has
    /// the level already. The corresponding C function is `setsockopt`.
    package func raiseSecurity(to level: UInt8) throws(Errno) {
        try descriptor.setOption(SOL_BLUETOOTH, BT_SECURITY, to: SecurityOption(level: level))
    }

    /// Makes the kernel report, with each packet, when it received the packet.
    package func stampPackets(_ isOn: Bool) throws(Errno) { try descriptor.stampPackets(isOn) }

    /// Returns the connection's handle on its controller (L2CAP_CONNINFO).
    package func connectionHandle() throws(Errno) -> UInt16 {
        try descriptor.option(SOL_L2CAP, L2CAP_CONNINFO, initial: ConnectionInformation()).handle
    }

    /// Layout of struct l2cap_conninfo.
    private struct ConnectionInformation: BitwiseCopyable {
        var handle: UInt16 = 0
        var deviceClass: (UInt8, UInt8, UInt8) = (0, 0, 0)
    }

    /// Layout of struct bt_security.
    private struct SecurityOption: BitwiseCopyable {
        var level: UInt8 = 0
        var keySize: UInt8 = 0
    }

    /// Sends one complete PDU (C: `write`).
    package func send(_ pdu: [UInt8]) throws(Errno) -> NonBlocking<Int> {
        try unsafe descriptor.write(pdu.span.bytes)
    }

    /// Receives one packet and passes it to `body`.
    ///
    /// Returns the packet's length, or 0 if the peer has closed the channel. `dropped` is the number of packets that
    /// were dropped since the socket was created and before this packet.
    ///
    /// Throws `messageTooLong` for a packet that does not fit, because the end of its value is missing. The
    /// corresponding C function is `recvmsg` with SO_RXQ_OVFL and MSG_TRUNC.
    package func receive(_ body: (Span<UInt8>, _ dropped: UInt32) -> Void) throws(Errno) -> NonBlocking<Int> {
        var packet = Packet(repeating: 0)
        var control = DropMessage()
        let empty = MemoryLayout<DropMessage>.size
        var space = packet.mutableSpan
        let (number, site) = (descriptor.number, CallSite(.link, .recvmsg))
        let result = unsafe space.withUnsafeMutableBytes { bytes in
            // Sound: the vector refers to the packet, and the header refers to the vector and the control message, each
            // with its own length; all of them outlive the call.
            var vector = unsafe iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
            return unsafe withUnsafeMutablePointer(to: &vector) { vector in
                unsafe withUnsafeMutableBytes(of: &control) { control in
                    Result { () throws(Errno) in
                        var header = unsafe msghdr()
                        unsafe header.msg_iov = vector
                        unsafe header.msg_iovlen = 1
                        unsafe header.msg_control = control.baseAddress
                        unsafe header.msg_controllen = empty
                        return try SystemCall.runNonBlocking(site) {
                            unsafe recvmsg(number, &header, Int32(MSG_TRUNC))
                        }
                    }
                }
            }
        }
        let received = try result.get()
        if case .done(let count) = received {
            try Self.check(count)
            if count > 0 { body(packet.span.extracting(first: count), control.count) }
        }
        return received
    }

    /// Receives one packet with its time (`stampPackets`) and the number of earlier drops.
    package func receiveStamped(
        into buffer: inout [UInt8]
    ) throws(Errno) -> NonBlocking<(packet: ReceivedPacket, facts: PacketFacts)> {
        try descriptor.receiveStamped(into: &buffer)
    }

    /// Receives one packet like `receive`, but from a queue that cannot have dropped any packets.
    ///
    /// Compared to `receive`, it saves about 800 instructions in the kernel. The corresponding C function is `recv`
    /// with MSG_TRUNC.
    package func receiveUnmarked(_ body: (Span<UInt8>) -> Void) throws(Errno) -> NonBlocking<Int> {
        let (number, site) = (descriptor.number, CallSite(.link, .recvmsg))
        // Unlike an array, this memory is not filled with zeros first.
        let result = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Packet.count) { packet in
            Result { () throws(Errno) in
                // Sound: the kernel writes at most the bytes of the packet, which outlives the call.
                let received = try SystemCall.runNonBlocking(site) {
                    unsafe recv(number, packet.baseAddress, packet.count, Int32(MSG_TRUNC))
                }
                if case .done(let count) = received {
                    try Self.check(count)
                    // Sound: the kernel has written `count` bytes, and the span does not outlive them.
                    if count > 0 { unsafe body(Span(_unsafeElements: UnsafeBufferPointer(rebasing: packet[..<count]))) }
                }
                return received
            }
        }
        return try result.get()
    }

    /// Throws `messageTooLong` if the length shows that the packet was truncated.
    private static func check(_ length: Int) throws(Errno) {
        if length > Packet.count { throw .messageTooLong }
    }

    /// Contents of a struct cmsghdr, followed by the drop count of SO_RXQ_OVFL.
    ///
    /// The kernel writes no such message before the first drop.
    private struct DropMessage: BitwiseCopyable {
        var length = 0
        var level: Int32 = 0
        var type: Int32 = 0
        var dropped: UInt32 = 0
        var padding: UInt32 = 0

        var count: UInt32 { level == SOL_SOCKET && type == SO_RXQ_OVFL ? dropped : 0 }
    }

    static func address(_ value: UInt64, type: UInt8) -> sockaddr_l2 {
        var address = sockaddr_l2()
        address.l2_family = sa_family_t(AF_BLUETOOTH)
        address.l2_cid = attributeProtocolChannel.littleEndian
        address.l2_bdaddr_type = type
        let byte = { (index: UInt64) in UInt8(truncatingIfNeeded: value >> (8 * index)) }
        address.l2_bdaddr.b = (byte(0), byte(1), byte(2), byte(3), byte(4), byte(5))
        return address
    }
}

/// A socket that accepts connections from centrals to this machine's Attribute Protocol channel.
///
/// The kernel has no ATT server of its own, so every request arrives at the accepted socket. If two listeners use the
/// same address, the newer one gets the connections.
package struct L2CAPListener: ~Copyable {
    /// Socket for the event loop: readable when a central has connected.
    package let descriptor: Descriptor

    package struct Central: ~Copyable {
        package let socket: L2CAPSocket
        /// The central's address, 48 bits.
        package let address: UInt64
        package let isRandom: Bool

        package consuming func takeSocket() -> L2CAPSocket { socket }
    }

    /// Maximum number of centrals that wait to be accepted; no controller supports that many connections.
    private static let backlog: Int32 = 16

    /// Listens on the controller with the public address `local` (48 bits).
    ///
    /// The corresponding C calls are `socket(AF_BLUETOOTH, SOCK_SEQPACKET, BTPROTO_L2CAP)`, `bind` and `listen`.
    package init(local: UInt64) throws(Errno) {
        let socket = try Descriptor.bluetoothSocket(.listener, type: blewedge_SOCK_SEQPACKET, protocol: BTPROTO_L2CAP)
        try socket.bind(to: L2CAPSocket.address(local, type: L2CAPSocket.lowEnergyPublic))
        try socket.listen(backlog: Self.backlog)
        descriptor = socket
    }

    /// Accepts the next central; returns nil if no central is waiting (C: `accept4`).
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
