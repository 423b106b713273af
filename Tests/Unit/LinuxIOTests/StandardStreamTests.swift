// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import LinuxIO

/// Each test runs in its own process, because the standard streams belong to the process.
@Suite("Standard streams", .timeLimit(.minutes(5)))
struct StandardStreamTests {
    /// Pseudo-terminal whose line replaces a standard stream.
    private final class Terminal {
        let other: PseudoTerminal
        private let directory: TestDirectory

        init(as stream: Int32 = 1) throws {
            directory = try TestDirectory()
            other = try PseudoTerminal(linkedAt: directory("line"))
            let line = open(other.device, O_RDWR | O_NOCTTY)
            try #require(dup2(line, stream) == stream)
            close(line)
        }

        /// Sends text, and waits until it has arrived at standard input.
        func send(_ text: String) {
            write(other.descriptor.unownedNumber, text, text.utf8.count)
            awaitInput(0, Int32(text.utf8.count))
        }
    }

    @Test("A terminal has the size that it reports, 24 rows if it reports only columns, and none without columns")
    func windowSize() async {
        await #expect(processExitsWith: .success) {
            let terminal = try Terminal()
            #expect(StandardStream.output.isTerminal)
            let sizes: [(columns: UInt16, rows: UInt16, expected: [Int]?)] = [
                (0, 0, nil), (0, 40, nil), (80, 0, [80, 24]), (1, 1, [1, 1]), (132, 43, [132, 43]),
            ]
            for (columns, rows, expected) in sizes {
                var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
                try #require(ioctl(1, UInt(TIOCSWINSZ), &size) == 0)
                #expect(StandardStream.output.windowSize.map { [$0.columns, $0.rows] } == expected)
            }
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            dup2(ends[1], 1)
            #expect(!StandardStream.output.isTerminal && StandardStream.output.windowSize == nil)
            withExtendedLifetime(terminal) {}
        }
    }

    @Test("Standard error is the journal if the environment names its device and file")
    func journal() async {
        await #expect(processExitsWith: .success) {
            var status = stat()
            try #require(fstat(2, &status) == 0)
            let names = [
                ("\(status.st_dev):\(status.st_ino)", true), ("\(status.st_dev):\(status.st_ino)0", false), ("", false),
            ]
            for (name, isJournal) in names {
                setenv("JOURNAL_STREAM", name, 1)
                #expect(StandardStream.error.isJournal == isJournal)
            }
            unsetenv("JOURNAL_STREAM")
            #expect(!StandardStream.error.isJournal)
        }
    }

    @Test("A text is written whole even if another program made the stream non-blocking; at once only if it fits")
    func writing() async {
        await #expect(processExitsWith: .success) {
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
            dup2(ends[1], 1)
            #expect(try StandardStream.output.writeAtOnce(String(repeating: "a", count: 4096)))
            #expect(try !StandardStream.output.writeAtOnce(String(repeating: "b", count: 4097)))
            let reader = ends[0]
            let text = String(repeating: "c", count: 300_000)
            let thread = try SystemThread(name: "reader") {
                var (buffer, rest) = ([UInt8](repeating: 0, count: 65_536), 4096 + 300_000)
                while rest > 0 { rest -= max(0, read(reader, &buffer, buffer.count)) }
            }
            try StandardStream.output.write(text)
            thread.join()
            let filler = [UInt8](repeating: 0x64, count: 4096)
            while write(ends[1], filler, filler.count) > 0 {}
            #expect(try !StandardStream.output.writeAtOnce("e"))
            signal(SIGPIPE, SIG_IGN)
            close(ends[0])
            #expect(throws: Errno.brokenPipe) { try StandardStream.output.write("f") }
        }
    }

    @Test("Standard output is opened anew where it can be, and never blocks; the shared description stays as it was")
    func output() throws {
        let directory = try TestDirectory()
        var (pipeEnds, socketEnds): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        try #require(pipe(&pipeEnds) == 0)
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &socketEnds) == 0)
        let file = open(directory("file"), O_WRONLY | O_CREAT, 0o600)
        defer { for number in pipeEnds + socketEnds + [file] { close(number) } }
        let bytes = [UInt8](repeating: 0x61, count: 10_000)
        for (number, isBounded) in [(pipeEnds[1], true), (socketEnds[0], true), (file, false)] {
            let output = try StandardOutput(of: number)
            var written = 0
            for _ in 0..<1000 {
                guard case .done(let count) = try output.write(bytes.span.bytes) else { break }
                written += count
            }
            #expect(isBounded ? written < 10_000_000 && written > 0 : written == 4_096_000, "\(number)")
            #expect(fcntl(number, F_GETFL) & O_NONBLOCK == 0)
        }
    }

    @Test("Closed standard streams, and those that cannot be used as such, become /dev/null; others stay")
    func opened() async {
        await #expect(processExitsWith: .success) {
            func isNull(_ number: Int32) -> Bool {
                var (own, null) = (stat(), stat())
                return fstat(number, &own) == 0 && stat("/dev/null", &null) == 0 && own.st_rdev == null.st_rdev
                    && fcntl(number, F_GETFL) & O_ACCMODE == O_RDWR
            }
            let error = dup(2)
            let (reading, writing) = (open("/proc/self/status", O_RDONLY), open("/dev/zero", O_WRONLY))
            dup2(reading, 0)
            dup2(writing, 1)
            try Process.openStandardStreams()
            #expect(!isNull(0) && !isNull(1) && !isNull(2))
            dup2(writing, 0)
            dup2(reading, 1)
            close(2)
            try Process.openStandardStreams()
            let areNull = [isNull(0), isNull(1), isNull(2)]
            close(0)
            try Process.openStandardStreams()
            let isFirst = isNull(0)
            dup2(error, 2)
            #expect(areNull == [true, true, true] && isFirst)
            let next = open("/dev/null", O_RDONLY)
            #expect(next == writing + 1, "no descriptor is left open")
        }
    }

    @Test("A terminal gives each key at once without echo, and has its settings again afterwards")
    func takeOver() async {
        await #expect(processExitsWith: .success) {
            let end = try Terminal(as: 0)
            var settings = termios()
            func read() -> termios {
                var settings = termios()
                tcgetattr(0, &settings)
                return settings
            }
            // As another program may leave it: raw.
            let raw = read()
            settings = raw
            let input = tcflag_t(BRKINT | ICRNL | IXON)
            let local = tcflag_t(ECHO | ICANON | IEXTEN | ISIG)
            for isUsual in [true, false] {
                if isUsual {
                    settings.c_iflag |= input | tcflag_t(INLCR | IGNCR | INPCK | ISTRIP)
                    settings.c_lflag |= local | tcflag_t(ECHONL)
                } else {
                    settings = raw
                }
                try #require(tcsetattr(0, TCSANOW, &settings) == 0)
                let before = read()
                let terminal = try LinuxIO.Terminal()
                terminal.restore()
                #expect(read().c_lflag == before.c_lflag)
                end.send("x\n")
                try terminal.takeOver()
                let taken = read()
                #expect(taken.c_iflag & (input | tcflag_t(INLCR | IGNCR | INPCK | ISTRIP)) == 0)
                #expect(taken.c_lflag & (local | tcflag_t(ECHONL)) == 0 && taken.c_oflag == before.c_oflag)
                var waiting: Int32 = -1
                #expect(ioctl(0, UInt(FIONREAD), &waiting) == 0 && waiting == 0)
                end.send("y")
                terminal.restore()
                let after = read()
                #expect(ioctl(0, UInt(FIONREAD), &waiting) == 0 && waiting == 0)
                if isUsual {
                    #expect(after.c_iflag == before.c_iflag && after.c_lflag == before.c_lflag)
                } else {
                    #expect(after.c_iflag == before.c_iflag | input && after.c_lflag == before.c_lflag | local)
                }
            }
            withExtendedLifetime(end) {}
        }
    }
}
