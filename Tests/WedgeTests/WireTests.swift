// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import TestSupport
import Testing
import Texts
import Wedge

@Suite("Other ends of the wire")
struct WireTests {
    /// Runs the loop until `isDone`, at most 20 s.
    private static func run(_ loop: EventLoop, until isDone: () -> Bool) throws {
        var isLate = false
        let limit = loop.schedule(at: MonotonicClock.now + .seconds(20)) {
            isLate = true
            loop.stop()
        }
        while !isDone(), !isLate { try loop.run() }
        loop.cancel(limit)
    }

    @Test("X-9: a pseudo-terminal carries all 256 bytes both ways as they are, and its path goes with it")
    func terminal() throws {
        let directory = try TestDirectory()
        let path = directory("line")
        let loop = try EventLoop()
        let all = (0...255).map { UInt8($0) }
        var received: [UInt8] = []
        do {
            let end = try #require(try WireEnd(.terminal(path), on: loop))
            #expect(end.place == path)
            let line = open(path, O_RDWR | O_NOCTTY)
            try #require(line >= 0)
            defer { close(line) }
            end.onBytes = { bytes in
                received += bytes
                loop.stop()
            }
            #expect(all.withUnsafeBytes { write(line, $0.baseAddress, $0.count) } == all.count)
            try Self.run(loop) { received.count >= all.count }
            #expect(received == all)
            end.deliver(end.line(all, cost: all.count))
            end.flush()
            var buffer = [UInt8](repeating: 0, count: 512)
            var heard: [UInt8] = []
            while heard.count < all.count {
                let count = read(line, &buffer, buffer.count)
                try #require(count > 0)
                heard += buffer.prefix(count)
            }
            #expect(heard == all)
            end.close()
        }
        #expect(!FileSystem.exists(path))
    }

    @Test("X-9: a path where something else is is refused and left alone; a link that was left behind is replaced")
    func takenPath() throws {
        let directory = try TestDirectory()
        let path = directory("line")
        let loop = try EventLoop()
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        for destination in [WireDestination.terminal(path), .socket(path)] {
            #expect(throws: CommandFailure.self) { _ = try WireEnd(destination, on: loop) }
        }
        #expect(FileSystem.exists(path))
        unlink(path)
        symlink("/dev/pts/99999", path)
        let end = try #require(try WireEnd(.terminal(path), on: loop))
        #expect(FileSystem.exists(path))
        end.close()
    }

    @Test("X-9: a socket carries bytes to every client and back, and takes none while there is no client")
    func socketEnd() throws {
        let directory = try TestDirectory()
        let path = directory("wire")
        let loop = try EventLoop()
        var received: [UInt8] = []
        do {
            let end = try #require(try WireEnd(.socket(path), on: loop))
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            let text = Array("4901234567894\r".utf8)
            var outcomes: [[Int]] = []
            end.onOutcome = { delivered, undelivered in outcomes.append([delivered, undelivered]) }
            end.deliver(end.line(text, cost: text.count))
            #expect(outcomes == [[0, text.count]])
            let client = try LocalStream(connectingTo: path)
            end.onBytes = { bytes in
                received += bytes
                // Its bytes have come, so it is a client by now.
                end.deliver(end.line(text, cost: text.count))
                end.flush()
                loop.stop()
            }
            _ = try client.write([0x05, 0x00, 0xFF])
            try Self.run(loop) { !received.isEmpty }
            #expect(received == [0x05, 0x00, 0xFF])
            var buffer = [UInt8](repeating: 0, count: 64)
            #expect(try client.wait(for: .readable, until: MonotonicClock.now + .seconds(20)))
            #expect(try client.descriptor.read(into: &buffer) == .done(text.count))
            #expect(Array(buffer.prefix(text.count)) == text)
            #expect(outcomes == [[0, text.count], [text.count, 0]])
            end.close()
        }
        #expect(!FileSystem.exists(path))
    }

    @Test("X-9: destinations are read as they are written, and others are refused")
    func destinations() {
        for text in ["keyboard", "stdout", "pty:/tmp/line", "unix:/run/blewedge/wire"] {
            #expect(WireDestination(text)?.description == text)
        }
        let long = "unix:/" + String(repeating: "a", count: 107)
        for text in ["", "key", "pty", "pty:", "pty:line", "unix:wire", "tcp:/x", long] {
            #expect(WireDestination(text) == nil, "\(text)")
        }
    }
}
