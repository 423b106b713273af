// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// Standard output and standard error, written at once and whole.
package enum StandardStream: Int32, Sendable {
    case output = 1
    /// Progress and errors, for people.
    case error = 2

    /// Writes text.
    ///
    /// A reader that has gone throws `brokenPipe` (SIGPIPE is to be ignored). The corresponding C function is `write`.
    package func write(_ text: String) throws(Errno) {
        let bytes = Array(text.utf8)
        var offset = 0
        while offset < bytes.count {
            let start = offset
            // Sound: the pointer is used within the closure, for the bytes that are left.
            let result = unsafe bytes.withUnsafeBytes { bytes in
                Result { () throws(Errno) in
                    try SystemCall.runNonBlocking {
                        unsafe CLinux.write(rawValue, bytes.baseAddress.map { unsafe $0 + start }, bytes.count - start)
                    }
                }
            }
            switch try result.get() {
            case .done(let count): offset += count
            case .wouldBlock:
                // Another program has made the terminal non-blocking: wait until it takes more.
                var entry = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&entry, 1, -1)
            }
        }
    }

    /// Writes a short text if that can be done at once; false if its reader is too far behind, and nothing is written.
    ///
    /// At most 4,096 bytes (PIPE_BUF), so that a pipe takes it whole.
    package func writeAtOnce(_ text: String) throws(Errno) -> Bool {
        var entry = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
        // Sound: one entry, a local. A pipe is writable when it takes PIPE_BUF bytes.
        guard unsafe poll(&entry, 1, 0) == 1, text.utf8.count <= 4096 else { return false }
        try write(text)
        return true
    }

    /// True where this is a terminal (C: `isatty`).
    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// True where systemd has connected this stream to its journal.
    ///
    /// systemd.exec(5), $JOURNAL_STREAM. The corresponding C function is `fstat`.
    package var isJournal: Bool {
        guard let named = ProcessFacts.environment("JOURNAL_STREAM") else { return false }
        var status = stat()
        // Sound: the kernel fills the structure that the call is for.
        return unsafe fstat(rawValue, &status) == 0 && named == "\(status.st_dev):\(status.st_ino)"
    }

    /// Columns and rows of the terminal; nil where it has none or is none (C: `ioctl(TIOCGWINSZ)`).
    package var windowSize: (columns: Int, rows: Int)? {
        var size = winsize()
        // Sound: the kernel fills the structure that the request is for.
        guard unsafe blewedge_ioctl_pointer(rawValue, blewedge_TIOCGWINSZ, &size) == 0, size.ws_col > 0
        else { return nil }
        // A serial console may know its columns only.
        return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
    }
}

/// Standard input, where people answer a question.
package enum StandardInput {
    /// True where standard input is a terminal, so that somebody can answer (C: `isatty`).
    package static var isTerminal: Bool { isatty(0) == 1 }

    /// The next line, without its end; nil at the end of the input.
    package static func line() -> String? { readLine() }
}

/// Standard output as an end that never blocks its writer, whatever else has the same pipe or terminal open.
package struct StandardOutput: ~Copyable {
    private enum Kind {
        /// A pipe or terminal, opened anew: what does not block here blocks others as before.
        case own
        /// A socket, which can be written to without blocking as it is.
        case socket
        /// A file, which never blocks; or a pipe or terminal that cannot be opened anew.
        case shared
    }

    /// The end, for the event loop; a file cannot be watched.
    package let descriptor: Descriptor
    private let kind: Kind

    /// The end that this number stands for, which stays open (C: `fstat` and `open`).
    package init(of number: Int32 = StandardStream.output.rawValue) throws(Errno) {
        var status = stat()
        // Sound: the structure is a local that outlives the call.
        _ = try SystemCall.run { unsafe fstat(number, &status) }
        let type = status.st_mode & S_IFMT
        let own = type == S_IFIFO || type == S_IFCHR ? Self.openAnew(number) : nil
        let number = if let own { own } else { try SystemCall.run { blewedge_duplicate(number) } }
        descriptor = Descriptor(owning: number)
        kind = own != nil ? .own : type == S_IFSOCK ? .socket : .shared
    }

    /// The same file, opened once more, so that writing does not block; nil where that cannot be.
    private static func openAnew(_ number: Int32) -> Int32? {
        let flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        return try? SystemCall.run { unsafe blewedge_open("/proc/self/fd/\(number)", flags, 0) }
    }

    /// Writes bytes, as many as are taken now.
    ///
    /// A reader that has gone throws `brokenPipe`. The corresponding C functions are `write` and `send`.
    package func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        switch kind {
        case .own: return try descriptor.write(bytes)
        case .socket: return try descriptor.send(bytes)
        case .shared:
            let number = descriptor.number
            var entry = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
            // Sound: one entry, a local. A pipe is writable when it takes PIPE_BUF bytes.
            guard unsafe poll(&entry, 1, 0) == 1 else { return .wouldBlock }
            return try descriptor.write(bytes.extracting(first: Self.pipeBuffer))
        }
    }

    /// What a pipe that polls as writable takes whole (PIPE_BUF).
    private static let pipeBuffer = 4096
}

extension Process {
    /// Opens /dev/null in the place of each standard stream that is closed, or that is not open in its direction.
    ///
    /// To be called before anything else is opened: another descriptor would get the stream's number, and what is written for
    /// people would go there. Programs that are run later inherit it. Throws where there is no /dev/null. The corresponding C
    /// functions are `fcntl(F_GETFL)`, `open` and `dup2`.
    package static func openStandardStreams() throws(Errno) {
        for (number, unusable) in [(Int32(0), O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)] {
            let flags = blewedge_status_flags(number)
            guard flags == -1 || flags & O_ACCMODE == unusable else { continue }
            // The lowest number that is free: the stream's own where that was closed.
            let opened = try SystemCall.run { unsafe blewedge_open("/dev/null", O_RDWR, 0) }
            guard opened != number else { continue }
            _ = try SystemCall.run { dup2(opened, number) }
            _ = close(opened)
        }
    }
}

/// Lines to a stream whose reader may be slow, or stuck: no line waits for it.
///
/// What the reader does not take at once is kept, up to `capacity` bytes; lines that do not fit are left out, and the next one
/// that fits comes behind a notice of how many. The stream's open file is shared with other programs and keeps its flags: a
/// pipe and a terminal are opened anew, without blocking, and a socket is told so in each call. It is used on the event loop's
/// thread.
package final class LineWriter {
    package static let capacity = 64 * 1024

    /// How a write is kept from blocking.
    private enum Manner {
        /// The descriptor does not block, or is a file, which takes all at once.
        case plain
        /// Each call says so.
        case socket
        /// It is asked first, and given what a pipe takes whole (PIPE_BUF): it could not be opened anew.
        case asked
    }

    private let descriptor: Descriptor
    private let manner: Manner
    private let notice: (Int) -> String
    private var waiting = OutgoingBuffer(capacity: LineWriter.capacity)
    private var loop: EventLoop?
    private var registration: EventLoop.Registration?
    /// The lines that were left out since the last notice.
    private var missing = 0
    /// The last error of a write; nil for none.
    package private(set) var fault: Errno?

    /// Writes to a standard stream; `notice` makes the line that tells how many are missing.
    package convenience init(_ stream: StandardStream, notice: @escaping (Int) -> String) throws(Errno) {
        try self.init(number: stream.rawValue, notice: notice)
    }

    /// Writes to an open descriptor, which stays its owner's.
    ///
    /// The corresponding C functions are `fstat`, `fcntl(F_DUPFD_CLOEXEC)` and `open` of /proc/self/fd.
    package init(number: Int32, notice: @escaping (Int) -> String) throws(Errno) {
        self.notice = notice
        var status = stat()
        // Sound: the kernel fills the structure that the call is for.
        _ = try SystemCall.run { unsafe fstat(number, &status) }
        let kind = status.st_mode & S_IFMT
        if kind == S_IFIFO || isatty(number) == 1 {
            let path = "/proc/self/fd/\(number)"
            if let opened = try? Descriptor.open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY) {
                descriptor = opened
                manner = .plain
                return
            }
            manner = .asked
        } else {
            manner = kind == S_IFSOCK ? .socket : .plain
        }
        descriptor = Descriptor(owning: try SystemCall.run { blewedge_duplicate(number) })
    }

    deinit { unwatch() }

    /// Writes what waits as soon as the reader takes it, from now on.
    package func join(_ loop: EventLoop) { self.loop = loop }

    /// Writes a line, which brings its end with it.
    package func write(_ line: String) {
        let text = missing > 0 ? notice(missing) + line : line
        if waiting.append(text) { missing = 0 } else { missing &+= 1 }
        drain()
    }

    /// Writes what waits, for as long as that at most; the rest is given up.
    package func finish(within patience: Duration) {
        let deadline = MonotonicClock.now + patience
        drain()
        while !waiting.isEmpty, MonotonicClock.now < deadline {
            let time = Int32(clamping: max(0, (deadline - MonotonicClock.now).rounded(to: .milliseconds(1))))
            var entry = pollfd(fd: descriptor.number, events: Int16(POLLOUT), revents: 0)
            // Sound: one entry, a local.
            guard unsafe poll(&entry, 1, time) == 1 else { continue }
            drain()
        }
        waiting.removeAll()
        unwatch()
    }

    private func drain() {
        do throws(Errno) {
            guard try empty() else { return watch() }
            if missing > 0, waiting.append(notice(missing)) {
                missing = 0
                guard try empty() else { return watch() }
            }
        } catch {
            // The reader has gone, and what it did not read with it; there may be another for the next line.
            waiting.removeAll()
            fault = error
        }
        unwatch()
    }

    private func empty() throws(Errno) -> Bool {
        try waiting.drain { bytes throws(Errno) in
            switch manner {
            case .plain: return try descriptor.write(bytes)
            case .socket: return try descriptor.send(bytes)
            case .asked:
                var entry = pollfd(fd: descriptor.number, events: Int16(POLLOUT), revents: 0)
                // Sound: one entry, a local. A pipe is writable when it takes PIPE_BUF bytes.
                guard unsafe poll(&entry, 1, 0) == 1 else { return .wouldBlock }
                return try descriptor.write(bytes.extracting(first: 4096))
            }
        }
    }

    private func watch() {
        guard registration == nil else { return }
        registration = try? loop?.watch(descriptor, for: .writable) { [unowned self] _ in drain() }
    }

    private func unwatch() {
        if let registration { loop?.unwatch(registration, descriptor) }
        registration = nil
    }
}
