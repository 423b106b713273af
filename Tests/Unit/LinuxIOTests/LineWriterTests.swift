// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing

/// Both ends of a pipe, socket or terminal, which are closed with this object.
private final class Ends {
    let write: Int32
    private(set) var read: Int32

    enum Kind: CaseIterable { case pipe, socket, terminal }

    init(_ kind: Kind) throws {
        var ends: [Int32] = [-1, -1]
        switch kind {
        case .pipe: try #require(pipe(&ends) == 0)
        case .socket:
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        case .terminal:
            let directory = try TestDirectory()
            let terminal = try PseudoTerminal(linkedAt: directory("line"))
            ends = [dup(terminal.descriptor.unownedNumber), open(terminal.device, O_RDWR | O_NOCTTY)]
        }
        (read, write) = (ends[0], ends[1])
        try #require(read >= 0 && write >= 0)
        // Only the reader's end is non-blocking.
        _ = fcntl(read, F_SETFL, fcntl(read, F_GETFL) | O_NONBLOCK)
    }

    deinit {
        closeReader()
        close(write)
    }

    func closeReader() {
        if read >= 0 { close(read) }
        read = -1
    }

    /// Reads everything that is available.
    func take() -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(read, &buffer, buffer.count)
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }
}

/// Lines for a slow reader must not block the writer; if it waits, these tests do not end.
@Suite("Lines to a reader that is slow", .timeLimit(.minutes(10)))
struct LineWriterTests {
    @Test(
        "Lines that nobody reads are kept up to a bound; then whole lines are left out and counted, and the rest comes later",
        arguments: Ends.Kind.allCases
    )
    fileprivate func stuck(kind: Ends.Kind) throws {
        let ends = try Ends(kind)
        let flags = fcntl(ends.write, F_GETFL)
        let loop = try EventLoop()
        let writer = try LineWriter(number: ends.write) { count in "missing \(count)\n" }
        writer.join(loop)
        let filler = String(repeating: "x", count: 90)
        for number in 0..<20_000 { writer.write("\(number) \(filler)\n") }
        // The file description, which other programs share, is still in blocking mode.
        #expect(fcntl(ends.write, F_GETFL) == flags && flags & O_NONBLOCK == 0)
        // Reads up to the last notice, and then one more line.
        var text = ""
        var hasAll = false
        let isWhole = try loop.run {
            text += String(decoding: ends.take(), as: UTF8.self)
            if !hasAll, text.suffix(40).contains("missing"), text.hasSuffix("\n") {
                hasAll = true
                writer.write("last\n")
            }
            return text.hasSuffix("last\n")
        }
        #expect(isWhole)
        var lines = text.split(separator: "\n").map(String.init)
        #expect(lines.popLast() == "last")
        // No line is cut, repeated or out of order, and each is either received or counted as missing. A terminal may
        // make room at any time, so that an earlier notice and some more lines can precede the last notice.
        var (next, kept) = (0, 0)
        for line in lines {
            if line.hasPrefix("missing ") {
                next += try #require(Int(line.dropFirst(8)))
            } else {
                #expect(line == "\(next) \(filler)")
                (next, kept) = (next + 1, kept + 1)
            }
        }
        #expect(next == 20_000 && kept > 600 && kept < 20_000)
    }

    @Test("A reader that has gone, and one that never reads, put off the end no longer than they may")
    func end() throws {
        let gone = try Ends(.pipe)
        let writer = try LineWriter(number: gone.write) { _ in "" }
        signal(SIGPIPE, SIG_IGN)
        gone.closeReader()
        writer.write("a\n")
        writer.finish(within: .seconds(60))
        #expect(writer.fault == .brokenPipe)
        let stuck = try Ends(.pipe)
        let other = try LineWriter(number: stuck.write) { _ in "" }
        for _ in 0..<2000 { other.write(String(repeating: "x", count: 99) + "\n") }
        other.finish(within: .milliseconds(10))
        #expect(stuck.take().count > 60_000)
        // The rest was discarded, so only a later line follows.
        other.write("last\n")
        #expect(stuck.take() == Array("last\n".utf8) && other.fault == nil)
    }

    @Test("At the end, queued lines are written if there is a reader")
    func rest() throws {
        let ends = try Ends(.pipe)
        // The descriptors must stay open, because the reader stores only their numbers.
        defer { withExtendedLifetime(ends) {} }
        let writer = try LineWriter(number: ends.write) { _ in "" }
        for _ in 0..<1000 { writer.write(String(repeating: "x", count: 99) + "\n") }
        let reading = ends.read
        let thread = try SystemThread(name: "reader") {
            var left = 100_000
            var buffer = [UInt8](repeating: 0, count: 4096)
            var entry = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            while left > 0 {
                poll(&entry, 1, -1)
                left -= max(0, read(reading, &buffer, buffer.count))
            }
        }
        writer.finish(within: .seconds(60))
        thread.join()
    }

    @Test("Lines are appended to the contents of a file")
    func file() throws {
        let directory = try TestDirectory()
        try directory.write("before\n", to: "log")
        let file = open(directory("log"), O_WRONLY | O_APPEND)
        defer { close(file) }
        let writer = try LineWriter(number: file) { _ in "" }
        writer.write("after\n")
        #expect(try FileSystem.contents(of: directory("log"), limit: 99) == Array("before\nafter\n".utf8))
    }
}
