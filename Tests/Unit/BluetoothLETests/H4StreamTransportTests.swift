// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothPackets
import CLinux
import Glibc
import LinuxIO
import SystemPackage
import Testing

/// Transport with its events, and the remote end of its stream.
private final class H4Bench {
    let loop: EventLoop
    let transport: H4StreamTransport
    let peer: H4Peer
    private(set) var packets: [[UInt8]] = []
    private(set) var endings: [String] = []

    init(_ kind: StreamKind) throws {
        loop = try EventLoop()
        let listener = try H4Listener(kind)
        transport = try H4StreamTransport(to: listener.address, on: loop)
        peer = try listener.accept(on: loop)
        transport.onReceive = { [unowned self] packet in packets.append([UInt8](copying: packet)) }
        transport.onClosed = { [unowned self] reason in endings.append(reason) }
    }

    /// Runs the loop until a condition is met, for at most two minutes.
    func until(_ condition: @escaping () -> Bool) throws {
        let end = MonotonicClock.now + .seconds(120)
        while !condition(), MonotonicClock.now < end { try run(for: .milliseconds(1)) }
        #expect(condition())
    }

    /// Runs the loop for this time.
    func run(for time: Duration) throws {
        _ = loop.schedule(at: MonotonicClock.now + time) { [loop] in
            // Lets the loop handle everything that became ready together with this timer.
            _ = loop.schedule(at: MonotonicClock.now) { loop.stop() }
        }
        try loop.run()
    }
}

@Suite("H4 streams", .timeLimit(.minutes(10)))
struct H4StreamTransportTests {
    /// Event that contains bytes of all values.
    private static let event: [UInt8] = [0x04, 0xFF, 255] + (0..<255).map { UInt8($0) }
    private static let everyByte: [UInt8] = [0x02, 0x40, 0x00, 0x00, 0x01] + (0...255).map { UInt8($0) }

    @Test("Packets pass both ways whole, however the stream is cut", arguments: StreamKind.allCases)
    func passes(_ kind: StreamKind) throws {
        let bench = try H4Bench(kind)
        for _ in 0..<3 { bench.transport.send(Self.everyByte) }
        try bench.until { bench.peer.received.count >= 3 * Self.everyByte.count }
        #expect(bench.peer.received == Self.everyByte + Self.everyByte + Self.everyByte)
        for piece in [1, 2, 3, 100, 1000] {
            let before = bench.packets.count
            let bytes = Self.event + Self.everyByte + Self.event
            for (number, start) in stride(from: 0, to: bytes.count, by: piece).enumerated() {
                bench.peer.send(Array(bytes[start..<min(start + piece, bytes.count)]))
                // The buffer of a Unix socket holds only a few hundred small blocks.
                if number % 64 == 63 { try bench.run(for: .milliseconds(1)) }
            }
            try bench.until { bench.packets.count >= before + 3 }
            #expect(Array(bench.packets.dropFirst(before)) == [Self.event, Self.everyByte, Self.event])
        }
        #expect(bench.endings.isEmpty)
    }

    @Test(
        "Bad input: garbage from the first byte ends the stream, once, with its place",
        arguments: StreamKind.allCases
    )
    func garbage(_ kind: StreamKind) throws {
        let bench = try H4Bench(kind)
        bench.peer.send([0x77] + Self.event)
        try bench.until { !bench.endings.isEmpty }
        #expect(
            bench.endings == [
                "the stream from the controller is no H4: byte 0 of the H4 stream is 0x77, which begins no packet"
            ]
        )
        #expect(bench.packets.isEmpty)
        bench.peer.send(Self.event)
        bench.transport.send(Self.everyByte)
        try bench.until { bench.peer.isClosed || kind == .serialLine }
    }

    @Test("Bad input: garbage after packets names its place; what came before was used")
    func lateGarbage() throws {
        let bench = try H4Bench(.unixSocket)
        bench.peer.send(Self.event + [0x01])
        try bench.until { !bench.endings.isEmpty }
        #expect(bench.packets == [Self.event])
        #expect(bench.endings.first?.contains("byte 258 of the H4 stream is 0x01") == true)
    }

    @Test("Bad input: a packet longer than any is refused by its header alone", arguments: StreamKind.allCases)
    func oversize(_ kind: StreamKind) throws {
        let bench = try H4Bench(kind)
        bench.peer.send([0x02, 0x40, 0x00, 0x01, 0x10])
        try bench.until { !bench.endings.isEmpty }
        #expect(bench.endings.count == 1)
        #expect(bench.endings.first?.contains("4097 bytes, which is too long") == true)
    }

    @Test("Bad input: a stream that ends in the middle of a packet, between packets, or at once")
    func ends() throws {
        for (bytes, reason) in [
            ([], "the stream from the controller ended"),
            (Self.event, "the stream from the controller ended"),
            (Array(Self.event.dropLast()), "the stream from the controller ended inside a packet"),
            ([0x04], "the stream from the controller ended inside a packet"),
        ] {
            let bench = try H4Bench(.unixSocket)
            bench.peer.send(bytes)
            bench.peer.hangUp()
            try bench.until { !bench.endings.isEmpty }
            #expect(bench.endings == [reason])
            #expect(bench.packets.count == (bytes == Self.event ? 1 : 0))
        }
    }

    @Test(
        "A line that is unplugged, and a connection that is reset, end the stream",
        arguments: [StreamKind.serialLine, .tcp]
    )
    func unplugged(_ kind: StreamKind) throws {
        let bench = try H4Bench(kind)
        bench.transport.send(Self.everyByte)
        bench.peer.hangUp()
        try bench.until { !bench.endings.isEmpty }
        #expect(bench.endings.count == 1)
    }

    @Test("A controller that is not there ends the stream later, from the loop, whatever was sent")
    func refused() throws {
        let loop = try EventLoop()
        let listener = try H4Listener(.tcp)
        let address = listener.address
        _ = consume listener
        var endings: [String] = []
        let transport = try H4StreamTransport(to: address, on: loop)
        transport.onClosed = { reason in
            endings.append(reason)
            loop.stop()
        }
        transport.send(Self.everyByte)
        #expect(endings.isEmpty)
        try loop.run()
        #expect(endings == ["cannot connect to the controller: Connection refused"])
    }

    @Test("Data for a slow controller is queued in order; beyond a limit the stream ends")
    func slow() throws {
        let bench = try H4Bench(.unixSocket)
        // More than the socket's buffer holds, but less than the limit of the queue.
        for number in 0..<3000 {
            bench.transport.send(
                [0x01, UInt8(number & 255), UInt8(number >> 8), 200] + [UInt8](repeating: 7, count: 200)
            )
        }
        try bench.until { bench.peer.received.count >= 3000 * 204 }
        #expect(bench.endings.isEmpty)
        for number in stride(from: 0, to: 3000, by: 299) {
            let start = number * 204
            #expect(
                Array(bench.peer.received[start..<(start + 4)]) == [0x01, UInt8(number & 255), UInt8(number >> 8), 200]
            )
        }
        let full = try H4Bench(.unixSocket)
        for _ in 0..<10_000 { full.transport.send([0x01, 0, 0, 200] + [UInt8](repeating: 7, count: 200)) }
        try full.until { !full.endings.isEmpty }
        #expect(full.endings == ["the controller takes no more data"])
    }

    @Test("After close nothing is reported, and nothing is sent")
    func closed() throws {
        let bench = try H4Bench(.unixSocket)
        bench.peer.send(Self.event)
        bench.transport.close()
        bench.transport.send(Self.everyByte)
        bench.transport.close()
        try bench.run(for: .milliseconds(20))
        #expect(bench.packets.isEmpty && bench.endings.isEmpty)
    }

    @Test(
        "A stream that cannot be opened says why",
        arguments: [
            (H4Address.unixSocket("/nonexistent/socket"), Errno.noSuchFileOrDirectory),
            (.unixSocket(String(repeating: "x", count: 108)), .fileNameTooLong),
            (.tcp(host: "example.org", port: 1), .addressNotAvailable),
            (.serialLine("/dev/null", speed: 115_200), .inappropriateIOCTLForDevice),
            (.serialLine("/nonexistent", speed: 115_200), .noSuchFileOrDirectory),
            (.serialLine("/dev/null", speed: 115_201), .invalidArgument),
        ]
    )
    func cannotOpen(_ address: H4Address, _ error: Errno) throws {
        let loop = try EventLoop()
        #expect(throws: AdapterError.stream(address, error)) { try H4StreamTransport(to: address, on: loop) }
        #expect(!AdapterError.stream(address, error).cause.isEmpty)
        #expect(!AdapterError.stream(address, error).remedy.isEmpty)
    }

    @Test("A serial line is set to the speed, 8 bits, raw, with hardware flow control")
    func line() throws {
        let loop = try EventLoop()
        let listener = try H4Listener(.serialLine)
        guard case .serialLine(let path, _) = listener.address else {
            Issue.record("another listener: \(listener.address)")
            return
        }
        let transport = try H4StreamTransport(to: .serialLine(path, speed: 921_600), on: loop)
        let number = open(path, O_RDWR | O_NOCTTY)
        try #require(number >= 0)
        defer { close(number) }
        var settings = termios()
        try #require(tcgetattr(number, &settings) == 0)
        #expect(cfgetospeed(&settings) == speed_t(B921600) && cfgetispeed(&settings) == speed_t(B921600))
        #expect(settings.c_cflag & tcflag_t(CSIZE) == tcflag_t(CS8))
        #expect(settings.c_cflag & tcflag_t(PARENB) == 0)
        // CRTSCTS of <bits/termios-c_cflag.h>.
        #expect(settings.c_cflag & 0o20000000000 != 0)
        #expect(settings.c_lflag & tcflag_t(ICANON | ECHO | ISIG) == 0)
        #expect(settings.c_iflag & tcflag_t(ICRNL | IXON) == 0)
        #expect(settings.c_oflag & tcflag_t(OPOST) == 0)
        transport.close()
    }
}
