// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
package import SystemPackage

/// A file descriptor with one owner, closed when the value is destroyed.
package struct Descriptor: ~Copyable, Sendable {
    /// Number for system calls in this module; do not close it.
    let number: Int32
    let kind: CallKind

    /// Takes ownership of an open descriptor.
    package init(owning number: Int32, _ kind: CallKind = .file) {
        self.number = number
        self.kind = kind
    }

    deinit {
        // close is never repeated: on Linux the number is free even if the call fails with EINTR.
        _ = close(number)
    }

    /// Opens a path, closed on exec (C: `open`).
    static func open(
        _ path: String,
        _ flags: Int32,
        mode: UInt32 = 0,
        _ kind: CallKind = .file
    ) throws(Errno) -> Descriptor {
        let site = CallSite(kind, .open)
        return Descriptor(
            owning: try SystemCall.run(site) { unsafe blewedge_open(path, flags | O_CLOEXEC, mode) },
            kind
        )
    }

    /// Creates a non-blocking pipe, closed on exec (C: `pipe2`).
    ///
    /// Returns the descriptor numbers of both ends; the caller must take ownership of them.
    static func pipe() throws(Errno) -> (output: Int32, input: Int32) {
        var ends: [Int32] = [-1, -1]
        // Sound: the kernel writes two numbers, and the array has room for two.
        _ = try SystemCall.run { unsafe blewedge_pipe(&ends) }
        return (ends[0], ends[1])
    }

    /// Returns a new descriptor with its own owner for the same open file, closed on exec (C:
    /// `fcntl(F_DUPFD_CLOEXEC)`).
    func duplicate() throws(Errno) -> Descriptor {
        let number = number
        return Descriptor(owning: try SystemCall.run { blewedge_duplicate(number) }, kind)
    }

    /// Reads into the buffer; returns 0 at the end of the file (C: `read`).
    package func read(into buffer: inout [UInt8]) throws(Errno) -> NonBlocking<Int> {
        let (number, site) = (number, CallSite(kind, .read))
        return try unsafe buffer.withUnsafeMutableBytes { bytes in
            // Sound: the pointer is used within the closure, with the buffer's own length.
            Result { () throws(Errno) in
                try SystemCall.runNonBlocking(site) { unsafe CLinux.read(number, bytes.baseAddress, bytes.count) }
            }
        }.get()
    }

    /// Writes as many bytes as the descriptor accepts now (C: `write`).
    package func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        let (number, site) = (number, CallSite(kind, .write))
        return try unsafe bytes.withUnsafeBytes { bytes in
            // Sound: the pointer is used within the closure, with the span's own length.
            Result { () throws(Errno) in
                try SystemCall.runNonBlocking(site) { unsafe CLinux.write(number, bytes.baseAddress, bytes.count) }
            }
        }.get()
    }

    /// Opens a file for writing, after creating or truncating it (C: `open`).
    package static func forWriting(_ path: String) throws(Errno) -> Descriptor {
        try open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
    }

    /// Opens a file for reading (C: `open`).
    package static func forReading(_ path: String) throws(Errno) -> Descriptor {
        try open(path, O_RDONLY)
    }

    /// Opens standard input again under another descriptor number.
    package static func forStandardInput() throws(Errno) -> Descriptor {
        Descriptor(owning: try SystemCall.run { blewedge_duplicate(0) })
    }

    /// The descriptor's number, for C code that is measured alongside the product; valid only while the descriptor is
    /// open.
    package var unownedNumber: Int32 { number }

    /// Opens a virtual terminal to query its state, not for reading.
    ///
    /// These queries need no permission to read keys: members of the group tty may open a terminal for writing only.
    static func terminal(_ path: String) throws(Errno) -> Descriptor {
        do {
            return try open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
        } catch .permissionDenied {
            return try open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK)
        }
    }

    /// Creates a non-blocking Bluetooth socket, closed on exec.
    ///
    /// Throws `addressFamilyNotSupported` if the kernel has no Bluetooth support. The corresponding C function is
    /// `socket`.
    static func bluetoothSocket(_ kind: CallKind, type: Int32, protocol number: Int32) throws(Errno) -> Descriptor {
        let flags = blewedge_SOCK_NONBLOCK | blewedge_SOCK_CLOEXEC
        let site = CallSite(kind, .socket)
        return Descriptor(owning: try SystemCall.run(site) { socket(AF_BLUETOOTH, type | flags, number) }, kind)
    }

    /// Creates a non-blocking stream socket of the unix family, closed on exec (C: `socket`).
    static func localSocket(_ kind: CallKind) throws(Errno) -> Descriptor {
        let flags = blewedge_SOCK_STREAM | blewedge_SOCK_NONBLOCK | blewedge_SOCK_CLOEXEC
        return Descriptor(owning: try SystemCall.run(CallSite(kind, .socket)) { socket(AF_UNIX, flags, 0) }, kind)
    }

    /// Binds to an address of the socket's family (C: `bind`).
    func bind<Address: BitwiseCopyable>(to address: Address) throws(Errno) {
        var address = address
        let length = socklen_t(MemoryLayout<Address>.size)
        _ = try unsafe withPointer(to: &address, .bind) { pointer in unsafe CLinux.bind(number, pointer, length) }
    }

    /// Starts to connect (C: `connect`).
    ///
    /// If it returns `wouldBlock`, the attempt ends when the descriptor becomes writable.
    func connect<Address: BitwiseCopyable>(to address: Address) throws(Errno) -> NonBlocking<Void> {
        var address = address
        let length = socklen_t(MemoryLayout<Address>.size)
        do {
            _ = try unsafe withPointer(to: &address, .connect) { pointer in
                unsafe CLinux.connect(number, pointer, length)
            }
            return .done(())
        } catch {
            guard error.recovery(of: kind) == .wait else { throw error }
            return .wouldBlock
        }
    }

    /// Sends as many bytes as the stream socket accepts now; a disconnected peer causes an error, but no signal.
    ///
    /// The call never blocks, even if the socket is in blocking mode. The corresponding C function is `send` with
    /// MSG_NOSIGNAL and MSG_DONTWAIT.
    func send(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        let (number, site) = (number, CallSite(kind, .send))
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        return try unsafe bytes.withUnsafeBytes { bytes in
            // Sound: the pointer is used within the closure, with the span's own length.
            Result { () throws(Errno) in
                try SystemCall.runNonBlocking(site) {
                    unsafe CLinux.send(number, bytes.baseAddress, bytes.count, flags)
                }
            }
        }.get()
    }

    /// Starts to accept connections; at most `backlog` connections can be pending (C: `listen`).
    func listen(backlog: Int32) throws(Errno) {
        _ = try SystemCall.run(CallSite(kind, .listen)) { CLinux.listen(number, backlog) }
    }

    /// Accepts the next pending connection, and stores the peer's address in `address`.
    ///
    /// Returns nil if no connection is pending. The new descriptor does not block and is closed on exec. The
    /// corresponding C function is `accept4`.
    func accept<Address: BitwiseCopyable>(from address: inout Address, as kind: CallKind) throws(Errno) -> Descriptor? {
        var length = socklen_t(MemoryLayout<Address>.size)
        let (number, site) = (number, CallSite(self.kind, .accept))
        // Sound: the kernel writes at most `length` bytes, which is the size of the structure.
        let result = try unsafe withUnsafeMutableBytes(of: &address) { bytes in
            Result { () throws(Errno) in
                try SystemCall.runNonBlocking(site) {
                    unsafe blewedge_accept(number, bytes.baseAddress, &length)
                }
            }
        }.get()
        switch result {
        case .wouldBlock: return nil
        case .done(let accepted): return Descriptor(owning: accepted, kind)
        }
    }

    /// Sets an option to the bytes of a value (C: `setsockopt`).
    func setOption<Value: BitwiseCopyable>(_ level: Int32, _ name: Int32, to value: Value) throws(Errno) {
        var value = value
        // Sound: the kernel reads only the bytes of the value, during the call.
        _ = try SystemCall.run(CallSite(kind, .setsockopt, option: name)) {
            unsafe setsockopt(number, level, name, &value, socklen_t(MemoryLayout<Value>.size))
        }
    }

    /// Reads an option into a value of known size (C: `getsockopt`).
    func option<Value: BitwiseCopyable>(_ level: Int32, _ name: Int32, initial value: Value) throws(Errno) -> Value {
        var value = value
        var length = socklen_t(MemoryLayout<Value>.size)
        // Sound: the kernel writes at most `length` bytes, which is the size of the value.
        _ = try SystemCall.run(CallSite(kind, .getsockopt, option: name)) {
            unsafe getsockopt(number, level, name, &value, &length)
        }
        return value
    }

    /// Returns and clears the socket's pending error; nil if there is none (SO_ERROR).
    ///
    /// If the pending error cannot be read, the error of that call is returned: a connection in an unknown state counts
    /// as failed.
    package func takePendingError() -> Errno? {
        do throws(Errno) {
            let code = try option(SOL_SOCKET, SO_ERROR, initial: Int32(0))
            return code == 0 ? nil : Errno(rawValue: code)
        } catch {
            return error
        }
    }

    /// Enlarges the receive queue to the requested size, but without CAP_NET_ADMIN only up to the kernel's limit.
    func raiseReceiveBuffer(to bytes: Int32) {
        do {
            try Capability.raised { () throws(Errno) in try setOption(SOL_SOCKET, SO_RCVBUFFORCE, to: bytes) }
        } catch {
            // Without the capability, net.core.rmem_max is the limit. A smaller queue is not an error, because drops
            // are counted.
            try? setOption(SOL_SOCKET, SO_RCVBUF, to: bytes)
        }
    }

    /// Makes the kernel report, with each packet, how many packets it has dropped before (SO_RXQ_OVFL).
    ///
    /// Does nothing if the kernel does not support this.
    func countDrops() { try? setOption(SOL_SOCKET, SO_RXQ_OVFL, to: Int32(1)) }

    /// Number of packets that the kernel dropped because the receive queue was full (SO_MEMINFO, SK_MEMINFO_DROPS).
    ///
    /// The number is always 0 on kernels before 4.12, which report drops only with each packet (`countDrops`).
    package var droppedPacketCount: UInt32 { (try? memory())?.drops ?? 0 }

    func memory() throws(Errno) -> SocketMemory { try option(SOL_SOCKET, SO_MEMINFO, initial: SocketMemory()) }

    /// Makes the kernel report, with each packet, when it received the packet (SO_TIMESTAMPING).
    ///
    /// Nothing is reported for a packet whose time is unknown, for example one that was joined from fragments; with
    /// SO_TIMESTAMP, the kernel would report the time of the call instead.
    func stampPackets(_ isOn: Bool) throws(Errno) {
        // SOF_TIMESTAMPING_RX_SOFTWARE and SOF_TIMESTAMPING_SOFTWARE of <linux/net_tstamp.h>.
        try setOption(SOL_SOCKET, SO_TIMESTAMPING, to: Int32(isOn ? 1 << 3 | 1 << 4 : 0))
    }

    /// Receives one packet from the queue; the packet's length is 0 if the peer has closed the connection (C:
    /// `recvmsg`).
    package func receive(into buffer: inout [UInt8]) throws(Errno) -> NonBlocking<ReceivedPacket> {
        var messages: ControlMessages?
        return try receive(into: &buffer, &messages)
    }

    /// Receives one packet like `receive(into:)`, and what the kernel reports with it: its time, and earlier drops.
    package func receiveStamped(
        into buffer: inout [UInt8]
    ) throws(Errno) -> NonBlocking<(packet: ReceivedPacket, facts: PacketFacts)> {
        var messages: ControlMessages? = ControlMessages()
        switch try receive(into: &buffer, &messages) {
        case .wouldBlock: return .wouldBlock
        case .done(let packet): return .done((packet, messages?.facts ?? PacketFacts()))
        }
    }

    private func receive(
        into buffer: inout [UInt8],
        _ messages: inout ControlMessages?
    ) throws(Errno) -> NonBlocking<ReceivedPacket> {
        let (number, site) = (number, CallSite(kind, .recvmsg))
        var isTruncated = false
        var control = messages ?? ControlMessages()
        let capacity = messages == nil ? 0 : ControlMessages.size
        let result = unsafe buffer.withUnsafeMutableBytes { bytes in
            // Sound: the vector refers to this buffer, and the header to the vector and the control messages, each with
            // its own length; all of them outlive the call.
            var vector = unsafe iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
            return unsafe withUnsafeMutablePointer(to: &vector) { vector in
                unsafe withUnsafeMutableBytes(of: &control.words) { words in
                    Result { () throws(Errno) in
                        var header = unsafe msghdr()
                        unsafe header.msg_iov = vector
                        unsafe header.msg_iovlen = 1
                        unsafe header.msg_control = words.baseAddress
                        unsafe header.msg_controllen = capacity
                        let count = try SystemCall.runNonBlocking(site) { unsafe recvmsg(number, &header, 0) }
                        isTruncated = unsafe header.msg_flags & Int32(MSG_TRUNC) != 0
                        return count
                    }
                }
            }
        }
        if messages != nil { messages = control }
        switch try result.get() {
        case .wouldBlock: return .wouldBlock
        case .done(let count): return .done(ReceivedPacket(count: count, isTruncated: isTruncated))
        }
    }

    private func withPointer<Address: BitwiseCopyable>(
        to address: inout Address,
        _ name: CallSite.Call,
        _ call: (UnsafePointer<sockaddr>) -> Int32
    ) throws(Errno) -> Int32 {
        // Sound: the kernel reads the structure for this address family, within the given length.
        try unsafe withUnsafeBytes(of: &address) { bytes in
            Result { () throws(Errno) in
                try SystemCall.run(CallSite(kind, name)) {
                    unsafe bytes.baseAddress.map { unsafe call($0.assumingMemoryBound(to: sockaddr.self)) } ?? -1
                }
            }
        }.get()
    }
}

/// A packet received from a datagram or sequenced-packet socket.
package struct ReceivedPacket: Equatable, Sendable {
    /// Number of received bytes at the beginning of the buffer.
    package var count: Int
    /// True if the packet was longer than the buffer and was truncated (MSG_TRUNC).
    package var isTruncated: Bool
}

/// The nine counters of SO_MEMINFO.
struct SocketMemory: BitwiseCopyable {
    var receiveAllocated: UInt32 = 0
    var receiveBuffer: UInt32 = 0
    var sendAllocated: UInt32 = 0
    var sendBuffer: UInt32 = 0
    var forwardAllocated: UInt32 = 0
    var sendQueued: UInt32 = 0
    var optionMemory: UInt32 = 0
    var backlog: UInt32 = 0
    var drops: UInt32 = 0
}
