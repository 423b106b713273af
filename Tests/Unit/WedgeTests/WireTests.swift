// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Daemon
import Glibc
import Link
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts

@Suite("Other ends of the wire")
struct WireTests {
    @Test("A pseudo-terminal carries all 256 bytes both ways as they are, and its path goes with it")
    func terminal() throws {
        let directory = try TestDirectory()
        let path = directory("line")
        let loop = try EventLoop()
        let all = (0...255).map { UInt8($0) }
        var received: [UInt8] = []
        do {
            let end = try #require(try OutputListener(.terminal(path), on: loop))
            #expect(end.place == path)
            let line = open(path, O_RDWR | O_NOCTTY)
            try #require(line >= 0)
            defer { close(line) }
            end.onBytes = { bytes in
                received += bytes
                loop.stop()
            }
            #expect(all.withUnsafeBytes { write(line, $0.baseAddress, $0.count) } == all.count)
            #expect(try loop.run { received.count >= all.count })
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

    @Test("A path where something else is is refused and left alone; a link that was left behind is replaced")
    func takenPath() throws {
        let directory = try TestDirectory()
        let path = directory("line")
        let loop = try EventLoop()
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        for destination in [OutputDestination.terminal(path), .socket(path)] {
            #expect(throws: OutputError.self) { _ = try OutputListener(destination, on: loop) }
        }
        #expect(FileSystem.exists(path))
        unlink(path)
        symlink("/dev/pts/99999", path)
        let end = try #require(try OutputListener(.terminal(path), on: loop))
        #expect(FileSystem.exists(path))
        end.close()
    }

    @Test("A socket carries bytes to every client and back, and takes none while there is no client")
    func socketEnd() throws {
        let directory = try TestDirectory()
        let path = directory("wire")
        let loop = try EventLoop()
        var received: [UInt8] = []
        do {
            let end = try #require(try OutputListener(.socket(path), on: loop))
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
                // The client has sent bytes, so it is connected by now.
                end.deliver(end.line(text, cost: text.count))
                end.flush()
                loop.stop()
            }
            _ = try client.write([0x05, 0x00, 0xFF])
            #expect(try loop.run { !received.isEmpty })
            #expect(received == [0x05, 0x00, 0xFF])
            var buffer = [UInt8](repeating: 0, count: 64)
            #expect(try client.wait(for: .readable, until: MonotonicClock.now + .seconds(120)))
            #expect(try client.descriptor.read(into: &buffer) == .done(text.count))
            #expect(Array(buffer.prefix(text.count)) == text)
            #expect(outcomes == [[0, text.count], [text.count, 0]])
            end.close()
        }
        #expect(!FileSystem.exists(path))
    }

    @Test("A terminal that no program has open is given nothing, counted so; who opens it later is given nothing old")
    func nobody() throws {
        let directory = try TestDirectory()
        let path = directory("line")
        let loop = try EventLoop()
        for policy in [SlowReaderPolicy.dropNewest, .dropOldest] {
            let end = try #require(try OutputListener(.terminal(path), policy, on: loop))
            var outcomes: [[Int]] = []
            end.onOutcome = { delivered, undelivered in outcomes.append([delivered, undelivered]) }
            func deliver(_ text: String) {
                let line = end.line(Array(text.utf8), cost: text.utf8.count)
                #expect(end.hasRoom(for: line))
                end.deliver(line)
                end.flush()
            }
            func got(_ line: Int32, within milliseconds: Int32 = 0) -> String {
                var entry = pollfd(fd: line, events: Int16(POLLIN), revents: 0)
                poll(&entry, 1, milliseconds)
                var buffer = [UInt8](repeating: 0, count: 512)
                let count = read(line, &buffer, buffer.count)
                return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
            }
            deliver("old\n")
            #expect(outcomes == [[0, 4]])
            for turn in 1...2 {
                let line = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)
                try #require(line >= 0)
                #expect(got(line) == "", "turn \(turn), \(policy)")
                deliver("new\n")
                #expect(outcomes.last == [4, 0])
                #expect(got(line, within: 120_000) == "new\n")
                deliver("unread\n")
                #expect(outcomes.last == [7, 0])
                close(line)
                deliver("closed\n")
                #expect(outcomes.last == [0, 7])
            }
            // Without a client, nothing is reported repeatedly.
            var turns = 0
            _ = loop.schedule(at: MonotonicClock.now + .milliseconds(100)) { loop.stop() }
            end.onRoom = { turns += 1 }
            try loop.run()
            #expect(turns == 0)
            end.close()
        }
    }

    @Test("With the policy wait, a line waits until a program opens the terminal, and again after it has closed it")
    func waitingForProgram() throws {
        let directory = try TestDirectory()
        let path = directory("line")
        let loop = try EventLoop()
        let end = try #require(try OutputListener(.terminal(path), .wait, on: loop))
        let line = end.line(Array("4901\n".utf8), cost: 5)
        for _ in 1...2 {
            #expect(!end.hasRoom(for: line))
            let program = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)
            try #require(program >= 0)
            // Opening the terminal makes room.
            var rooms = 0
            end.onRoom = { (rooms += 1, loop.stop()).1 }
            try loop.run()
            #expect(rooms == 1 && end.hasRoom(for: line))
            end.onRoom = nil
            close(program)
        }
        end.close()
    }

    @Test("Unread data of a client is not delivered to the next client")
    func unread() throws {
        let directory = try TestDirectory()
        let path = directory("line")
        let loop = try EventLoop()
        let end = try #require(try OutputListener(.terminal(path), on: loop))
        let line = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)
        end.deliver(end.line(Array("unread\n".utf8), cost: 7))
        end.flush()
        close(line)
        end.onRoom = { loop.stop() }
        #expect(try loop.run { end.counts.readers.allSatisfy { !$0.isAttended } })
        let next = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)
        defer { close(next) }
        var byte: UInt8 = 0
        #expect(read(next, &byte, 1) < 0 && errno == EAGAIN)
        end.close()
    }

    @Test("A client of the socket that has ended its writing goes on reading, until it closes")
    func halfClosed() throws {
        let directory = try TestDirectory()
        let loop = try EventLoop()
        let end = try #require(try OutputListener(.socket(directory("wire")), on: loop))
        do {
            let client = try LocalStream(connectingTo: directory("wire"))
            var received: [UInt8] = []
            end.onBytes = { bytes in
                received += bytes
                loop.stop()
            }
            _ = try client.write([1])
            try client.finishWriting()
            #expect(try loop.run { received == [1] })
            _ = loop.schedule(at: MonotonicClock.now + .milliseconds(50)) { loop.stop() }
            try loop.run()
            #expect(end.counts.readers.count == 1)
            var outcomes: [[Int]] = []
            end.onOutcome = { delivered, undelivered in outcomes.append([delivered, undelivered]) }
            end.deliver(end.line([2, 3], cost: 2))
            end.flush()
            #expect(outcomes == [[2, 0]])
            var buffer = [UInt8](repeating: 0, count: 8)
            #expect(try client.descriptor.read(into: &buffer) == .done(2))
            end.onRoom = { loop.stop() }
        }
        #expect(try loop.run { end.counts.readers.isEmpty })
        #expect(end.counts.readers.isEmpty)
        end.close()
    }

    @Test("Standard output that is full or closed is told, and what was for it is counted as not delivered")
    func lostOutput() throws {
        LinuxIO.Process.ignoreBrokenPipes()
        let loop = try EventLoop()
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        let full = open("/dev/full", O_WRONLY)
        defer {
            close(full)
            close(ends[1])
        }
        for (number, error) in [(full, Errno.noSpace), (ends[1], .brokenPipe)] {
            let end = try #require(try OutputListener(.standardOutput, output: number, on: loop))
            var losses: [Errno] = []
            var outcomes: [[Int]] = []
            end.onLoss = { losses.append($0) }
            end.onOutcome = { delivered, undelivered in outcomes.append([delivered, undelivered]) }
            for _ in 0..<2 {
                end.deliver(end.line([0x31, 0x0A], cost: 2))
                end.flush()
            }
            #expect(losses == [error] && outcomes == [[0, 2], [0, 2]])
            end.close()
        }
    }

    @Test("Destinations are read as they are written, and others are refused")
    func destinations() {
        for text in ["keyboard", "stdout", "pty:/tmp/line", "unix:/run/blewedge/wire"] {
            #expect(OutputDestination(text)?.description == text)
        }
        let long = "unix:/" + String(repeating: "a", count: 107)
        for text in ["", "key", "pty", "pty:", "pty:line", "unix:wire", "tcp:/x", long] {
            #expect(OutputDestination(text) == nil, "\(text)")
        }
    }
}
