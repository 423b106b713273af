// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
package import SystemPackage

/// A raw HCI socket that receives selected events and sends commands.
///
/// The first byte of each packet is its H4 packet type. The kernel uses the same controller at the same time, so the
/// events of the kernel's own commands are received here too. Receiving harmless events requires no capability;
/// receiving other events, and sending, require CAP_NET_RAW.
package struct HCISocket: ~Copyable {
    package let descriptor: Descriptor

    /// Maximum number of packets read in a row before the loop handles its other descriptors.
    package static let batch = 64

    /// Length of the longest event packet in bytes: packet type, two-byte header, 255 bytes of parameters.
    package static let packetCapacity = 1 + 2 + 255

    /// Creates a socket bound to controller `index` that receives only the given event codes.
    ///
    /// Throws `operationNotSupportedByDevice` (ENODEV) if there is no such controller, `permissionDenied` or
    /// `notPermitted` without CAP_NET_RAW. The corresponding C calls are `socket(AF_BLUETOOTH, SOCK_RAW,
    /// BTPROTO_HCI)`, `bind`, `setsockopt(HCI_FILTER)`.
    package init(controller index: UInt16, events: [UInt8], receiveBuffer: Int32? = nil) throws(Errno) {
        let socket = try Descriptor.bluetoothSocket(.hci, type: blewedge_SOCK_RAW, protocol: BTPROTO_HCI)
        // The filter is set first, so that no unwanted packet is ever queued.
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

    package init(opened descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Makes the kernel report, with each packet, when it received the packet (HCI_TIME_STAMP).
    package func stampPackets() throws(Errno) { try descriptor.setOption(SOL_HCI, HCI_TIME_STAMP, to: Int32(1)) }

    /// Receives pending packets into `packets`, at most `PacketBatch.places`; returns the number of packets (C:
    /// `recvmmsg`).
    package func receive(into packets: PacketBatch) throws(Errno) -> NonBlocking<Int> {
        try packets.receive(from: descriptor)
    }

    /// Sends one complete packet (C: `write`).
    package func send(_ packet: [UInt8]) throws(Errno) -> NonBlocking<Int> {
        try Capability.raised { () throws(Errno) in try unsafe descriptor.write(packet.span.bytes) }
    }

    /// Layout of struct hci_filter: 14 bytes, and two bytes of padding that newer kernels require.
    struct Filter: BitwiseCopyable {
        var packetTypes: UInt32
        var events: (UInt32, UInt32) = (0, 0)
        var opcode: UInt16 = 0
        var padding: UInt16 = 0

        init(events codes: [UInt8]) {
            packetTypes = 1 << UInt32(HCI_EVENT_PKT)
            for code in codes {
                let bit: UInt32 = 1 << UInt32(code & 31)
                // The kernel uses only the lowest six bits of the event code.
                if code & 32 == 0 { events.0 |= bit } else { events.1 |= bit }
            }
        }
    }
}

/// Exclusive access to a controller, which bypasses the kernel's Bluetooth stack.
///
/// The socket carries complete HCI packets in both directions; the first byte of each packet is its H4 packet type. The
/// kernel releases the controller while the socket is open, and uses it again after the socket is closed.
package struct HCIUserChannel: ~Copyable {
    package let descriptor: Descriptor

    /// Buffer size for the longest packet that a controller sends: 65,535 bytes of ACL data and its header.
    package static let packetCapacity = 1 + 4 + 65535

    /// Opens controller `index`, which must be down.
    ///
    /// Throws `resourceBusy` (EBUSY) if the controller is up or used by another process,
    /// `operationNotSupportedByDevice` (ENODEV) if there is no such controller, `notPermitted` without CAP_NET_ADMIN.
    /// The corresponding C calls are `socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI)` and `bind` to HCI_CHANNEL_USER.
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

/// The state of a radio's rfkill switches, from sysfs.
package struct RFKill: Equatable, Sendable {
    /// True if blocked by software; `rfkill unblock bluetooth` unblocks the radio.
    package var isSoftBlocked: Bool
    /// True if blocked by a hardware switch or the firmware; software cannot unblock the radio.
    package var isHardBlocked: Bool

    /// Reads the switches of controller `index`; nil if the controller has no switch (Linux,
    /// Documentation/ABI/stable/sysfs-class-rfkill).
    package init?(controller index: UInt16, sysfs: String = "/sys") {
        let directory = "\(sysfs)/class/bluetooth/hci\(index)"
        guard let name = FileSystem.names(in: directory).first(where: { $0.hasPrefix("rfkill") }) else { return nil }
        isSoftBlocked = FileSystem.line(of: "\(directory)/\(name)/soft") == "1"
        isHardBlocked = FileSystem.line(of: "\(directory)/\(name)/hard") == "1"
    }
}

/// The kernel's Bluetooth management channel: commands and events for all controllers.
///
/// Every user may open it and query information; making changes and receiving events about devices require
/// CAP_NET_ADMIN.
package struct ManagementSocket: ~Copyable {
    package let descriptor: Descriptor

    /// Maximum number of packets read in a row before the loop handles its other descriptors.
    package static let batch = 64

    /// Length of the longest packet in bytes: a six-byte header and the longest parameters that occur in practice.
    package static let packetCapacity = 6 + 4096

    /// Creates a bound socket (C: `socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI)` and `bind` to HCI_CHANNEL_CONTROL).
    package init() throws(Errno) {
        let socket = try Descriptor.bluetoothSocket(.management, type: blewedge_SOCK_RAW, protocol: BTPROTO_HCI)
        var address = sockaddr_hci()
        address.hci_family = sa_family_t(AF_BLUETOOTH)
        address.hci_dev = UInt16(HCI_DEV_NONE)
        address.hci_channel = UInt16(HCI_CHANNEL_CONTROL)
        // The kernel decides in bind() which privileges the socket has.
        try Capability.raised { () throws(Errno) in try socket.bind(to: address) }
        descriptor = socket
    }

    package init(opened descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Sends one complete packet (C: `write`).
    package func send(_ packet: [UInt8]) throws(Errno) -> NonBlocking<Int> {
        try unsafe descriptor.write(packet.span.bytes)
    }
}

/// The kernel's Bluetooth monitor channel: a copy of all traffic between the kernel and every controller.
///
/// It requires CAP_NET_RAW. Open it only when the user requests a capture, because it shows the contents of all
/// connections.
package struct MonitorSocket: ~Copyable {
    package let descriptor: Descriptor

    /// Length of the longest packet in bytes: a six-byte header, and the maximum payload for its 16-bit length field.
    package static let packetCapacity = 6 + 65_535

    /// A packet from the channel, with the time at which the kernel handled it.
    package struct Reception: Equatable, Sendable {
        package var packet: ReceivedPacket
        /// Microseconds since 1970-01-01 00:00:00 UTC.
        package var time: Int64
    }

    /// Creates a socket that first receives the list of controllers, and then every new packet.
    ///
    /// Throws `notPermitted` or `permissionDenied` without CAP_NET_RAW. The corresponding C calls are
    /// `socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI)`, `setsockopt(SO_TIMESTAMP)` and `bind` to HCI_CHANNEL_MONITOR.
    package init(receiveBuffer: Int32) throws(Errno) {
        let socket = try Descriptor.bluetoothSocket(.hci, type: blewedge_SOCK_RAW, protocol: BTPROTO_HCI)
        socket.raiseReceiveBuffer(to: receiveBuffer)
        // Best effort: without timestamps, `receive` uses the time of reading. Kernels before 5.1 have no timestamps
        // for a 32-bit program with 64-bit times.
        try? socket.setOption(SOL_SOCKET, SO_TIMESTAMP, to: Int32(1))
        var address = sockaddr_hci()
        address.hci_family = sa_family_t(AF_BLUETOOTH)
        address.hci_dev = UInt16(HCI_DEV_NONE)
        address.hci_channel = UInt16(HCI_CHANNEL_MONITOR)
        try Capability.raised { () throws(Errno) in try socket.bind(to: address) }
        descriptor = socket
    }

    /// Receives one packet with the kernel's timestamp, or with the current time if there is none (C: `recvmsg`).
    package func receive(into buffer: inout [UInt8]) throws(Errno) -> NonBlocking<Reception> {
        var control = TimestampMessage()
        let empty = MemoryLayout<TimestampMessage>.size
        let number = descriptor.number
        var isTruncated = false
        let result = unsafe buffer.withUnsafeMutableBytes { bytes in
            // Sound: the vector refers to this buffer, and the header refers to the vector and the control message,
            // each with its own length; all of them outlive the call.
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

    /// Contents of a struct cmsghdr, followed by the struct timeval of SO_TIMESTAMP.
    struct TimestampMessage: BitwiseCopyable {
        var length = 0
        var level: Int32 = 0
        var type: Int32 = 0
        var seconds = 0
        var fraction = 0

        /// The time in microseconds; nil if the kernel wrote no timestamp.
        var microseconds: Int64? {
            guard level == SOL_SOCKET, type == SO_TIMESTAMP, length == MemoryLayout<Self>.size else { return nil }
            return Int64(seconds) &* 1_000_000 &+ Int64(fraction)
        }
    }
}

/// Buffers for the packets that one system call receives from a socket; the next call overwrites them (C: `recvmmsg`).
@safe
package final class PacketBatch {
    /// Maximum number of packets per call.
    package static let places = 16

    private let size: Int
    private let bytes: UnsafeMutablePointer<UInt8>
    private let vectors: UnsafeMutablePointer<iovec>
    private let messages: UnsafeMutablePointer<blewedge_message>
    package private(set) var count = 0

    /// Creates an empty batch of buffers with `size` bytes each.
    package init(size: Int) {
        self.size = size
        // Sound: all memory is initialised here, contains no references, and lives as long as this object. Each vector
        // refers to its place and the place's size, and each header refers to its vector. The kernel writes only the
        // flags of the headers.
        unsafe bytes = .allocate(capacity: size * Self.places)
        unsafe bytes.initialize(repeating: 0, count: size * Self.places)
        unsafe vectors = .allocate(capacity: Self.places)
        unsafe messages = .allocate(capacity: Self.places)
        for place in 0..<Self.places {
            unsafe (vectors + place).initialize(to: iovec(iov_base: bytes + place * size, iov_len: size))
            var message = unsafe blewedge_message()
            unsafe message.header.msg_iov = unsafe vectors + place
            unsafe message.header.msg_iovlen = 1
            unsafe (messages + place).initialize(to: message)
        }
    }

    deinit {
        // Sound: the memory was allocated in the initialiser; integers and pointers need no deinitialisation.
        unsafe messages.deallocate()
        unsafe vectors.deallocate()
        unsafe bytes.deallocate()
    }

    /// Bytes of a packet, at most `size`; the index must be less than `count`.
    package subscript(index: Int) -> Span<UInt8> {
        @_lifetime(borrow self)
        get {
            precondition(index >= 0 && index < count, "no packet there")
            // Sound: the place is allocated and initialised, and the count is at most its size. The object lives as
            // long as the span, and only `receive` changes the bytes.
            let length = unsafe min(Int(messages[index].length), size)
            let place = unsafe UnsafePointer(bytes + index * size)
            let span = unsafe Span(_unsafeStart: place, count: length)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Receives the pending packets, at most `places`.
    func receive(from descriptor: borrowing Descriptor) throws(Errno) -> NonBlocking<Int> {
        let (number, site) = (descriptor.number, CallSite(descriptor.kind, .recvmmsg))
        count = 0
        let result = try SystemCall.runNonBlocking(site) {
            // Sound: the count is the number of messages, and the messages refer to memory of this object.
            unsafe blewedge_receive_many(number, messages, UInt32(Self.places))
        }
        switch result {
        case .wouldBlock: return .wouldBlock
        case .done(let received):
            count = min(Int(received), Self.places)
            return .done(count)
        }
    }
}
