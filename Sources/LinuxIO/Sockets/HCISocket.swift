// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
package import SystemPackage

/// A raw HCI socket: packets of the chosen events in, commands out, each with its H4 packet type as first byte.
///
/// The kernel uses the same controller at the same time; its own commands' events are seen here too. Reading needs no
/// capability for harmless events; setting a filter beyond them and sending need CAP_NET_RAW.
package struct HCISocket: ~Copyable {
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

    package init(opened descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Takes packets from the queue into `packets`, as many as it has places; answers how many came (C: `recvmmsg`).
    package func receive(into packets: PacketBatch) throws(Errno) -> NonBlocking<Int> {
        try packets.receive(from: descriptor)
    }

    /// Sends one packet whole (C: `write`).
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

    /// The switch of controller `index`; nil where it has none (Linux, Documentation/ABI/stable/sysfs-class-rfkill).
    package init?(controller index: UInt16, sysfs: String = "/sys") {
        let directory = "\(sysfs)/class/bluetooth/hci\(index)"
        guard let name = FileSystem.names(in: directory).first(where: { $0.hasPrefix("rfkill") }) else { return nil }
        isSoftBlocked = FileSystem.line(of: "\(directory)/\(name)/soft") == "1"
        isHardBlocked = FileSystem.line(of: "\(directory)/\(name)/hard") == "1"
    }
}

/// The kernel's Bluetooth management channel: commands and events for all controllers.
///
/// Every user may open it and ask for information; changes need CAP_NET_ADMIN, and so does news of
/// devices.
package struct ManagementSocket: ~Copyable {
    package let descriptor: Descriptor

    /// The most packets that are read in a row before the loop serves its other descriptors.
    package static let batch = 64

    /// The bytes of the longest packet: a header of six and what a 16-bit length allows in practice.
    package static let packetCapacity = 6 + 4096

    /// A bound socket (C: `socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI)` and `bind` to HCI_CHANNEL_CONTROL).
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

    package init(opened descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Sends one packet whole (C: `write`).
    package func send(_ packet: [UInt8]) throws(Errno) -> NonBlocking<Int> {
        try unsafe descriptor.write(packet.span.bytes)
    }
}

/// The kernel's Bluetooth monitor channel: a copy of all that passes between the kernel and every controller.
///
/// It needs CAP_NET_RAW, and shows the contents of all connections: to be opened only when the user asks for a capture.
package struct MonitorSocket: ~Copyable {
    package let descriptor: Descriptor

    /// The bytes of the longest packet: a header of six and what a 16-bit length allows.
    package static let packetCapacity = 6 + 65_535

    /// A packet of the channel, with the time at which the kernel saw it.
    package struct Reception: Equatable, Sendable {
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

    /// Takes one packet from the queue, with the kernel's time of it where it names one, else the time now (C:
    /// `recvmsg`).
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

/// The packets that one system call has taken from a socket, each in a place of its own; the next call overwrites them
/// (C: `recvmmsg`).
@safe
package final class PacketBatch {
    /// The most packets that one call takes.
    package static let places = 16

    private let size: Int
    private let bytes: UnsafeMutablePointer<UInt8>
    private let vectors: UnsafeMutablePointer<iovec>
    private let messages: UnsafeMutablePointer<blewedge_message>
    package private(set) var count = 0

    /// No packets yet, with places of so many bytes.
    package init(size: Int) {
        self.size = size
        // Sound: all of it is initialised here, holds no references, and lives as long as this object; each vector names
        // its place with the place's size, and each header its vector. The kernel writes into the headers their flags only.
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
        // Sound: allocated in the initialiser; integers and pointers need no deinitialisation.
        unsafe messages.deallocate()
        unsafe vectors.deallocate()
        unsafe bytes.deallocate()
    }

    /// The bytes of a packet, at most a place's; to be asked for packets that are here only.
    package subscript(index: Int) -> Span<UInt8> {
        @_lifetime(borrow self)
        get {
            precondition(index >= 0 && index < count, "no packet there")
            // Sound: the place is one of those allocated, and the count is at most its size, all of it initialised. The
            // object lives as long as the span, and the bytes change in `receive` only.
            let length = unsafe min(Int(messages[index].length), size)
            let place = unsafe UnsafePointer(bytes + index * size)
            let span = unsafe Span(_unsafeStart: place, count: length)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Takes the packets that wait, as many as there are places.
    func receive(from descriptor: borrowing Descriptor) throws(Errno) -> NonBlocking<Int> {
        let (number, site) = (descriptor.number, CallSite(descriptor.kind, .recvmmsg))
        count = 0
        let result = try SystemCall.runNonBlocking(site) {
            // Sound: the messages are as many as is said, and what they name is this object's.
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
