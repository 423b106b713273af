// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothPackets
import Glibc
import SystemPackage
import Testing
import VirtualAdapters

@testable import LinuxIO

/// Kinds of streams to a controller.
enum StreamKind: String, CaseIterable, Sendable {
    case unixSocket, tcp, serialLine
}

/// Remote end of an H4 stream, which replaces the controller; used on the loop's thread.
final class H4Peer {
    private let descriptor: Descriptor
    private let loop: EventLoop
    private var registration: EventLoop.Registration?
    private var buffer = [UInt8](repeating: 0, count: 65536)
    /// All bytes received.
    private(set) var received: [UInt8] = []
    /// Called with received bytes.
    var onBytes: (([UInt8]) -> Void)?
    /// True once the other end was closed.
    private(set) var isClosed = false

    fileprivate init(_ descriptor: consuming Descriptor, on loop: EventLoop) throws {
        self.descriptor = descriptor
        self.loop = loop
        registration = try loop.watch(self.descriptor, for: .readable) { [weak self] _ in self?.read() }
    }

    deinit { hangUp() }

    /// Writes bytes unchanged.
    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                // Avoids SIGPIPE if the other end is closed; a serial line is not a socket and needs write().
                let sent = Glibc.send(descriptor.number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                return sent < 0 && errno == ENOTSOCK ? write(descriptor.number, bytes.baseAddress, bytes.count) : sent
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Closes this end.
    func hangUp() {
        guard let registration else { return }
        self.registration = nil
        loop.unwatch(registration, descriptor)
        // Keeps the descriptor number reserved until this object is released.
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard null >= 0 else { return }
        dup2(null, descriptor.number)
        close(null)
    }

    private func read() {
        let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor.number, $0.baseAddress, $0.count) }
        guard count > 0 else {
            isClosed = true
            hangUp()
            return
        }
        received += buffer.prefix(count)
        onBytes?(Array(buffer.prefix(count)))
    }
}

/// Listener to which the host's end of a stream connects.
final class H4Listener {
    /// Address for the host's end.
    let address: H4Address
    /// Listening socket, or the remote end of a serial line.
    private let number: Int32

    /// TIOCSPTLCK and TIOCGPTN of <asm-generic/ioctls.h>.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    /// Creates a listener without a connection.
    init(_ kind: StreamKind) throws {
        switch kind {
        case .unixSocket:
            let path = "/tmp/blewedge-h4.\(getpid()).\(UInt64.random(in: 0...UInt64.max))"
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
            number = try Self.listen(AF_UNIX, &name)
            address = .unixSocket(path)
        case .tcp:
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let listener = try Self.listen(AF_INET, &name)
            number = listener
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isNamed = withUnsafeMutableBytes(of: &name) { bytes in
                getsockname(listener, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length) == 0
            }
            try #require(isNamed)
            address = .tcp(host: "localhost", port: UInt16(bigEndian: name.sin_port))
        case .serialLine:
            number = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
            try #require(number >= 0)
            var lock: Int32 = 0
            var line: UInt32 = 0
            try #require(ioctl(number, Self.setLock, &lock) == 0 && ioctl(number, Self.getNumber, &line) == 0)
            address = .serialLine("/dev/pts/\(line)", speed: 115_200)
        }
    }

    deinit {
        close(number)
        if case .unixSocket(let path) = address { unlink(path) }
    }

    /// Accepts the stream, and returns its remote end.
    func accept(on loop: EventLoop) throws -> H4Peer {
        let far: Int32
        if case .serialLine = address {
            far = fcntl(number, F_DUPFD_CLOEXEC, 0)
        } else {
            far = Glibc.accept(number, nil, nil)
        }
        try #require(far >= 0)
        return try H4Peer(Descriptor(owning: far), on: loop)
    }

    private static func listen<Address>(_ family: Int32, _ address: inout Address) throws -> Int32 {
        let number = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(number >= 0)
        let isBound = withUnsafeBytes(of: &address) { bytes in
            let length = socklen_t(MemoryLayout<Address>.size)
            return bind(number, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), length) == 0
        }
        try #require(isBound && Glibc.listen(number, 1) == 0)
        return number
    }
}

/// H4 streams between hosts and simulated controllers.
final class H4Lines {
    private var lines: [(peer: H4Peer, reader: H4Reader)] = []

    /// Returns a transport over a stream to a controller.
    func connect(
        _ controller: MemoryTransport,
        _ kind: StreamKind = .unixSocket,
        on loop: EventLoop
    ) throws -> H4StreamTransport {
        let listener = try H4Listener(kind)
        let transport = try H4StreamTransport(to: listener.address, on: loop)
        attach(try listener.accept(on: loop), to: controller)
        return transport
    }

    /// Connects the remote end of a stream to a controller.
    func attach(_ peer: H4Peer, to controller: MemoryTransport) {
        let index = lines.count
        lines.append((peer, H4Reader(from: .host)))
        controller.onReceive = { [weak peer] packet in peer?.send([UInt8](copying: packet)) }
        peer.onBytes = { [weak self] bytes in
            // Bytes that are not valid H4 are ignored.
            try? self?.lines[index].reader.read(bytes.span) { packet in controller.send([UInt8](copying: packet)) }
        }
    }
}
