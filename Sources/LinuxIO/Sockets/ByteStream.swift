// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
package import SystemPackage

/// A byte stream to a controller: a unix socket, a TCP connection or a serial line.
package struct ByteStream: ~Copyable {
    /// Non-blocking descriptor of the stream, for the event loop.
    package let descriptor: Descriptor
    /// True if `init` returned before the connection was made.
    ///
    /// When the descriptor becomes writable, call `takePendingError` for the result.
    package let isConnecting: Bool
    private let isSocket: Bool

    private static let speedCodes: [UInt32: speed_t] = [
        9600: speed_t(B9600), 19200: speed_t(B19200), 38400: speed_t(B38400), 57600: speed_t(B57600),
        115_200: speed_t(B115200), 230_400: speed_t(B230400), 460_800: speed_t(B460800), 921_600: speed_t(B921600),
        1_000_000: speed_t(B1000000), 2_000_000: speed_t(B2000000), 3_000_000: speed_t(B3000000),
    ]

    /// Supported speeds of a serial line, in bits per second.
    package static var speeds: [UInt32] { speedCodes.keys.sorted() }

    private static var flags: Int32 { blewedge_SOCK_STREAM | blewedge_SOCK_NONBLOCK | blewedge_SOCK_CLOEXEC }

    /// Connects to a unix socket.
    ///
    /// Throws `fileNameTooLong` for a path that does not fit into a socket address. The corresponding C functions are
    /// `socket` and `connect`.
    package init(unixSocket path: String) throws(Errno) {
        let address = try sockaddr_un(path: path)
        let socket = try Descriptor.localSocket(.line)
        isConnecting = try Self.isUnderWay(socket.connect(to: address))
        isSocket = true
        descriptor = socket
    }

    /// Connects to a TCP port of an IPv4 address, or of `localhost`.
    ///
    /// Throws `addressNotAvailable` if the text is not an IPv4 address. The corresponding C functions are `inet_pton`,
    /// `socket` and `connect`.
    package init(host: String, port: UInt16) throws(Errno) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        // Sound: inet_pton writes four bytes, which is the size of the structure.
        guard unsafe inet_pton(AF_INET, host == "localhost" ? "127.0.0.1" : host, &address.sin_addr) == 1 else {
            throw .addressNotAvailable
        }
        let socket = Descriptor(
            owning: try SystemCall.run(CallSite(.line, .socket)) { CLinux.socket(AF_INET, Self.flags, 0) },
            .line
        )
        // Make the kernel send small packets immediately.
        try socket.setOption(Int32(IPPROTO_TCP), TCP_NODELAY, to: Int32(1))
        isConnecting = try Self.isUnderWay(socket.connect(to: address))
        isSocket = true
        descriptor = socket
    }

    /// Opens a serial line in raw mode, with 8 data bits and no parity.
    ///
    /// If `usesFlowControl` is true, it has the hardware flow control that H4 requires. Throws `invalidArgument` for a
    /// speed that is not in `speeds`, `inappropriateIOCTLForDevice` (ENOTTY) if the path does not lead to a serial
    /// line. Core 6.0, Vol 4, Part A, 3. The corresponding C functions are `open`, `tcgetattr` and `tcsetattr`.
    package init(serialLine path: String, speed: UInt32, usesFlowControl: Bool = true) throws(Errno) {
        guard let code = Self.speedCodes[speed] else { throw .invalidArgument }
        let line = try Descriptor.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK, .line)
        let number = line.number
        var settings = termios()
        // Sound, here and below: the structure is a local variable that outlives each call.
        _ = try SystemCall.run { unsafe tcgetattr(number, &settings) }
        unsafe cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        if usesFlowControl {
            settings.c_cflag |= tcflag_t(blewedge_CRTSCTS)
        } else {
            settings.c_cflag &= ~tcflag_t(blewedge_CRTSCTS)
        }
        _ = try SystemCall.run { unsafe cfsetispeed(&settings, code) }
        _ = try SystemCall.run { unsafe cfsetospeed(&settings, code) }
        _ = try SystemCall.run { unsafe tcsetattr(number, TCSANOW, &settings) }
        // Discard bytes that were received earlier.
        _ = try SystemCall.run { tcflush(number, TCIOFLUSH) }
        isConnecting = false
        isSocket = false
        descriptor = line
    }

    /// Writes as many bytes as the stream accepts now; a disconnected peer causes an error, but no signal (C: `send`
    /// with MSG_NOSIGNAL, and `write`).
    package func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        isSocket ? try descriptor.send(bytes) : try descriptor.write(bytes)
    }

    private static func isUnderWay(_ connection: NonBlocking<Void>) -> Bool {
        if case .wouldBlock = connection { true } else { false }
    }
}

/// A bounded buffer of bytes that a descriptor has not accepted yet.
///
/// An addition that does not fit is rejected as a whole.
package struct OutgoingBuffer: Sendable {
    package let capacity: Int
    private var bytes: [UInt8] = []
    /// Number of bytes at the beginning of the buffer that are already written.
    ///
    /// They are removed when they make up more than half of the buffer.
    private var taken = 0

    package init(capacity: Int) {
        self.capacity = max(0, capacity)
    }

    package var count: Int { bytes.count - taken }

    package var isEmpty: Bool { count == 0 }

    /// Appends bytes, or returns false without appending any if they do not all fit.
    package mutating func append(_ more: [UInt8]) -> Bool {
        guard more.count <= capacity - count else { return false }
        bytes += more
        return true
    }

    /// Appends text as UTF-8, or returns false without appending any of it if it does not fit.
    package mutating func append(_ text: String) -> Bool { append(Array(text.utf8)) }

    /// Flushes the buffer until `write` would block; returns true if it is empty.
    ///
    /// `write` returns the number of leading bytes that it accepted.
    package mutating func drain(_ write: (borrowing RawSpan) throws(Errno) -> NonBlocking<Int>) throws(Errno) -> Bool {
        while !isEmpty {
            // Sound: the bytes are not changed during the call.
            guard case .done(let count) = try write(unsafe bytes.span.bytes.extracting(droppingFirst: taken)) else {
                return false
            }
            remove(count)
        }
        return true
    }

    package mutating func removeAll() {
        bytes = []
        taken = 0
    }

    private mutating func remove(_ count: Int) {
        taken += min(max(0, count), self.count)
        // Remove the written bytes only if fewer bytes have to be moved than are removed.
        guard taken > bytes.count / 2 else { return }
        bytes.removeFirst(taken)
        taken = 0
    }
}
