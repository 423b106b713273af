// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import LinuxIO

/// Waits at most 10 s until this number of bytes can be read; a terminal passes bytes on in the background.
@discardableResult
func awaitInput(_ number: Int32, _ count: Int32) -> Bool {
    var waiting: Int32 = 0
    var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    while poll(&entry, 1, 10_000) == 1 {
        if ioctl(number, UInt(FIONREAD), &waiting) == 0, waiting >= count { return true }
        // Only a part has been passed on.
        sched_yield()
    }
    return false
}

@Suite("Lines and pseudo-terminals", .timeLimit(.minutes(5)))
struct SerialLineTests {
    private func settings(_ number: Int32) -> termios {
        var settings = termios()
        tcgetattr(number, &settings)
        return settings
    }

    @Test("A serial line is raw, has its speed and flow control, and begins without old bytes")
    func line() throws {
        let directory = try TestDirectory()
        let terminal = try PseudoTerminal(linkedAt: directory("line"))
        let keep = open(terminal.device, O_RDWR | O_NOCTTY)
        defer { close(keep) }
        var cooked = settings(keep)
        cooked.c_lflag |= tcflag_t(ICANON | ISIG)
        // The echo would be read as a byte of the line.
        cooked.c_lflag &= ~tcflag_t(ECHO)
        cooked.c_oflag |= tcflag_t(OPOST | ONLCR)
        cooked.c_cflag &= ~tcflag_t(CREAD | CLOCAL)
        tcsetattr(keep, TCSANOW, &cooked)
        write(terminal.descriptor.unownedNumber, "old\n", 4)
        #expect(awaitInput(keep, 4))
        for (speed, code) in [(9600, B9600), (115_200, B115200), (3_000_000, B3000000)] as [(UInt32, Int32)] {
            for usesFlowControl in [true, false] {
                let line = try ByteStream(serialLine: directory("line"), speed: speed, usesFlowControl: usesFlowControl)
                let found = settings(line.descriptor.number)
                #expect(found.c_lflag & tcflag_t(ICANON | ECHO | ISIG) == 0 && found.c_oflag & tcflag_t(OPOST) == 0)
                #expect(found.c_cflag & tcflag_t(CREAD) != 0 && found.c_cflag & tcflag_t(CLOCAL) != 0)
                #expect((found.c_cflag & tcflag_t(blewedge_CRTSCTS) != 0) == usesFlowControl)
                var copy = found
                #expect(cfgetospeed(&copy) == speed_t(code) && cfgetispeed(&copy) == speed_t(code))
                var buffer = [UInt8](repeating: 0, count: 8)
                let isConnecting = line.isConnecting
                #expect(try line.descriptor.read(into: &buffer) == .wouldBlock && !isConnecting)
                let bytes: [UInt8] = [0x0A]
                #expect(try line.write(bytes.span.bytes) == .done(1))
                #expect(awaitInput(terminal.descriptor.unownedNumber, 1))
                #expect(try terminal.descriptor.read(into: &buffer) == .done(1) && buffer[0] == 0x0A)
            }
        }
        #expect(throws: Errno.invalidArgument) { _ = try ByteStream(serialLine: directory("line"), speed: 1200) }
        #expect(throws: Errno.inappropriateIOCTLForDevice) {
            _ = try ByteStream(serialLine: "/dev/null", speed: 9600)
        }
        #expect(
            ByteStream.speeds == [
                9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600, 1_000_000, 2_000_000, 3_000_000,
            ]
        )
    }

    @Test("A stream connects to a socket file and to a port; what cannot be reached is an error")
    func streams() throws {
        let directory = try TestDirectory()
        let listener = try LocalListener(at: directory("socket"), mode: 0o600)
        let stream = try ByteStream(unixSocket: directory("socket"))
        guard let peer = try listener.accept() else {
            Issue.record("no client")
            return
        }
        let bytes: [UInt8] = [1, 2]
        let isConnecting = stream.isConnecting
        #expect(try stream.write(bytes.span.bytes) == .done(2) && !isConnecting)
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(try peer.descriptor.read(into: &buffer) == .done(2))
        #expect(throws: Errno.noSuchFileOrDirectory) { _ = try ByteStream(unixSocket: directory("none")) }
        let tcp = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(tcp) }
        var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(tcp, $0, length)
                getsockname(tcp, $0, &length)
            }
        }
        listen(tcp, 4)
        for host in ["127.0.0.1", "localhost"] {
            let stream = try ByteStream(host: host, port: UInt16(bigEndian: address.sin_port))
            let accepted = accept(tcp, nil, nil)
            let error = stream.descriptor.takePendingError()
            #expect(accepted >= 0 && error == nil)
            close(accepted)
            #expect(try stream.descriptor.option(Int32(IPPROTO_TCP), TCP_NODELAY, initial: Int32(0)) != 0)
        }
        #expect(throws: Errno.addressNotAvailable) { _ = try ByteStream(host: "example.org", port: 1) }
    }

    @Test("A local client knows its peer, waits for both directions, and ends its writing alone")
    func local() throws {
        let directory = try TestDirectory()
        #expect(LocalStream.listener(at: directory("socket")) == nil)
        let listener = try LocalListener(at: directory("socket"), mode: 0o620)
        #expect(FileSystem.ownerAndMode(of: directory("socket"))?.mode == 0o620)
        #expect(LocalStream.listener(at: directory("socket")) == getpid())
        while try listener.accept() != nil {}
        let client = try LocalStream(connectingTo: directory("socket"))
        #expect(try client.peer() == LocalStream.Peer(process: getpid(), user: geteuid(), group: getegid()))
        guard let server = try listener.accept() else {
            Issue.record("no client")
            return
        }
        let isNext = try listener.accept() != nil
        #expect(!isNext)
        #expect(try !client.wait(for: .readable, until: Duration.zero))
        #expect(try client.wait(for: .writable, until: Duration.zero))
        #expect(try client.wait(for: [.readable, .writable], until: nil))
        let start = MonotonicClock.now
        #expect(try !client.wait(for: .readable, until: start + .milliseconds(20)))
        #expect(MonotonicClock.now - start >= .milliseconds(20))
        #expect(try server.write([7]) == .done(1))
        #expect(try client.wait(for: .readable, until: nil))
        try client.finishWriting()
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(try server.descriptor.read(into: &buffer) == .done(0))
        #expect(try server.write([8]) == .done(1))
        #expect(try client.descriptor.read(into: &buffer) == .done(2))
        while case .done = try server.write([UInt8](repeating: 0, count: 4096)) {}
        #expect(try !server.wait(for: .writable, until: Duration.zero))
        for (path, error) in [("", Errno.invalidArgument), ("a\0b", .invalidArgument)] {
            #expect(throws: error) { _ = try LocalStream(connectingTo: path) }
        }
        for (count, error) in [(107, Errno.noSuchFileOrDirectory), (108, .fileNameTooLong)] {
            let path = "/tmp/" + String(repeating: "x", count: count - 5)
            #expect(throws: error) { _ = try LocalStream(connectingTo: path) }
        }
    }

    @Test("The service manager gets the text at a path and at an abstract name")
    func notifications() throws {
        let directory = try TestDirectory()
        for name in [directory("notify"), "@blewedge-test-\(getpid())"] {
            let receiver = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            defer { close(receiver) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            var bytes = Array(name.utf8)
            if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
            let length = socklen_t(2 + bytes.count + (bytes[0] == 0 ? 0 : 1))
            let isBound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(receiver, $0, length) }
            }
            try #require(isBound == 0)
            var socket = try NotifySocket(name)
            socket.send("READY=1\nSTATUS=x")
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = recv(receiver, &buffer, 64, 0)
            #expect(count > 0 && String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "READY=1\nSTATUS=x")
        }
    }

    @Test("A pseudo-terminal knows whether it is opened, discards what nobody read, and removes only its own link")
    func pseudoTerminal() throws {
        let directory = try TestDirectory()
        let loop = try EventLoop()
        do {
            let terminal = try PseudoTerminal(linkedAt: directory("line"))
            let (device, wasOpened) = (terminal.device, terminal.isOpened)
            #expect(FileSystem.target(ofLink: directory("line")) == device && !wasOpened)
            var openings = 0
            let watched = try terminal.watchOpenings(on: loop) {
                openings += 1
                loop.stop()
            }
            let registration = try #require(watched)
            let line = open(terminal.device, O_RDWR | O_NOCTTY | O_NONBLOCK)
            try loop.run()
            let isOpened = terminal.isOpened
            #expect(openings == 1 && isOpened)
            #expect(settings(line).c_lflag & tcflag_t(ICANON | ECHO) == 0)
            terminal.clearOpenings()
            write(terminal.descriptor.unownedNumber, "unread", 6)
            var waiting: Int32 = 0
            #expect(awaitInput(line, 6))
            try terminal.discardUnread()
            #expect(ioctl(line, UInt(FIONREAD), &waiting) == 0 && waiting == 0)
            close(line)
            let isStillOpened = terminal.isOpened
            #expect(!isStillOpened)
            terminal.unwatchOpenings(registration, on: loop)
            terminal.clearOpenings()
            // An old link of such a terminal is replaced; any other file is not.
            let other = try PseudoTerminal(linkedAt: directory("line"))
            let next = other.device
            #expect(FileSystem.target(ofLink: directory("line")) == next)
            _ = consume terminal
            #expect(FileSystem.target(ofLink: directory("line")) == next)
        }
        #expect(FileSystem.target(ofLink: directory("line")) == nil)
        symlink("/dev/null", directory("line"))
        #expect(throws: Errno.fileExists) { _ = try PseudoTerminal(linkedAt: directory("line")) }
        #expect(FileSystem.target(ofLink: directory("line")) == "/dev/null")
    }
}
