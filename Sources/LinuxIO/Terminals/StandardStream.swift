// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// Standard output and standard error, unbuffered: when a write returns, it is complete.
package enum StandardStream: Int32, Sendable {
    case output = 1
    /// Standard error, for progress and errors shown to the user.
    case error = 2

    /// Writes text.
    ///
    /// Throws `brokenPipe` if the reading end is closed (SIGPIPE must be ignored). The corresponding C function is
    /// `write`.
    package func write(_ text: String) throws(Errno) {
        let bytes = Array(text.utf8)
        var offset = 0
        while offset < bytes.count {
            let start = offset
            // Sound: the pointer is used within the closure, for the remaining bytes.
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
                // Another program has made the terminal non-blocking, so wait until it accepts more bytes.
                var entry = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&entry, 1, -1)
            }
        }
    }

    /// Writes a short text if that is possible without blocking; otherwise writes nothing and returns false.
    ///
    /// It returns false for more than 4,096 bytes (PIPE_BUF), because a pipe might accept only part of the text.
    package func writeAtOnce(_ text: String) throws(Errno) -> Bool {
        var entry = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
        // Sound: the call gets one entry, a local variable. poll reports a pipe as writable if it accepts PIPE_BUF
        // bytes.
        guard unsafe poll(&entry, 1, 0) == 1, text.utf8.count <= 4096 else { return false }
        try write(text)
        return true
    }

    /// True if this stream is a terminal (C: `isatty`).
    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// True if systemd has connected this stream to its journal.
    ///
    /// systemd.exec(5), $JOURNAL_STREAM. The corresponding C function is `fstat`.
    package var isJournal: Bool {
        guard let named = ProcessFacts.environment("JOURNAL_STREAM") else { return false }
        var status = stat()
        // Sound: the kernel fills a structure of this type, which outlives the call.
        return unsafe fstat(rawValue, &status) == 0 && named == "\(status.st_dev):\(status.st_ino)"
    }

    /// Columns and rows of the terminal; nil if this stream is not a terminal or its size is unknown (C:
    /// `ioctl(TIOCGWINSZ)`).
    package var windowSize: (columns: Int, rows: Int)? {
        var size = winsize()
        // Sound: the kernel fills a structure of this type, which outlives the call.
        guard unsafe blewedge_ioctl_pointer(rawValue, blewedge_TIOCGWINSZ, &size) == 0, size.ws_col > 0
        else { return nil }
        // A serial console may report only its columns.
        return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
    }
}

/// Standard input, for the user's answers.
package enum StandardInput {
    /// True if standard input is a terminal, so that a user can answer (C: `isatty`).
    package static var isTerminal: Bool { isatty(0) == 1 }

    /// Returns the next line without its line end; nil at the end of the input.
    package static func line() -> String? { readLine() }
}

/// Standard output that never blocks this program, even if other programs have the same pipe or terminal open.
package struct StandardOutput: ~Copyable {
    private enum Kind {
        /// A pipe or terminal that this process has opened again, so that non-blocking mode does not affect other
        /// programs.
        case own
        /// A socket; each call can request not to block.
        case socket
        /// A file, which never blocks, or a pipe or terminal that cannot be opened again.
        case shared
    }

    /// Descriptor for the event loop; a file cannot be watched.
    package let descriptor: Descriptor
    private let kind: Kind

    /// Opens the stream with this descriptor number, which stays open (C: `fstat` and `open`).
    package init(of number: Int32 = StandardStream.output.rawValue) throws(Errno) {
        var status = stat()
        // Sound: the structure is a local variable that outlives the call.
        _ = try SystemCall.run { unsafe fstat(number, &status) }
        let type = status.st_mode & S_IFMT
        let own = type == S_IFIFO || type == S_IFCHR ? Self.openAnew(number) : nil
        let number = if let own { own } else { try SystemCall.run { blewedge_duplicate(number) } }
        descriptor = Descriptor(owning: number)
        kind = own != nil ? .own : type == S_IFSOCK ? .socket : .shared
    }

    /// Opens the same file again in non-blocking mode; returns nil if that fails.
    private static func openAnew(_ number: Int32) -> Int32? {
        let flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        return try? SystemCall.run { unsafe blewedge_open("/proc/self/fd/\(number)", flags, 0) }
    }

    /// Writes as many bytes as the stream accepts now.
    ///
    /// Throws `brokenPipe` if the reading end is closed. The corresponding C functions are `write` and `send`.
    package func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        switch kind {
        case .own: return try descriptor.write(bytes)
        case .socket: return try descriptor.send(bytes)
        case .shared:
            let number = descriptor.number
            var entry = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
            // Sound: the call gets one entry, a local variable. poll reports a pipe as writable if it accepts PIPE_BUF
            // bytes.
            guard unsafe poll(&entry, 1, 0) == 1 else { return .wouldBlock }
            return try descriptor.write(bytes.extracting(first: Self.pipeBuffer))
        }
    }

    /// Number of bytes that a pipe accepts without blocking once poll reports it as writable (PIPE_BUF).
    private static let pipeBuffer = 4096
}

extension Process {
    /// Opens /dev/null in place of each standard stream that is closed, or that is open only in the wrong direction.
    ///
    /// Call it before any other file is opened, because that file could get the number of a closed stream and receive
    /// its messages. Programs that are started later inherit the streams. Throws if /dev/null does not exist. The
    /// corresponding C functions are `fcntl(F_GETFL)`, `open` and `dup2`.
    package static func openStandardStreams() throws(Errno) {
        for (number, unusable) in [(Int32(0), O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)] {
            let flags = blewedge_status_flags(number)
            guard flags == -1 || flags & O_ACCMODE == unusable else { continue }
            // open returns the lowest free number, which is the stream's own number if the stream was closed.
            let opened = try SystemCall.run { unsafe blewedge_open("/dev/null", O_RDWR, 0) }
            guard opened != number else { continue }
            _ = try SystemCall.run { dup2(opened, number) }
            _ = close(opened)
        }
    }
}

/// Writes lines to a stream that may be slow or stuck, and never blocks, except in `finish`.
///
/// Up to `capacity` bytes are queued for a slow stream. Lines that do not fit are dropped, and a notice with their
/// number precedes the next line that fits.
///
/// The stream's open file is shared with other programs, so its flags are not changed: a pipe or a terminal is opened
/// again in non-blocking mode, and each write to a socket uses MSG_DONTWAIT. The writer is used on the event loop's
/// thread.
package final class LineWriter {
    package static let capacity = 64 * 1024

    /// The method that prevents a write from blocking.
    private enum Manner {
        /// The descriptor does not block, or is a file, which accepts all bytes at once.
        case plain
        /// Each call uses MSG_DONTWAIT.
        case socket
        /// Each write follows a poll and is limited to PIPE_BUF bytes, because the file could not be opened again.
        case asked
    }

    private let descriptor: Descriptor
    private let manner: Manner
    private let notice: (Int) -> String
    private var waiting = OutgoingBuffer(capacity: LineWriter.capacity)
    private var loop: EventLoop?
    private var registration: EventLoop.Registration?
    /// Number of lines dropped since the last notice.
    private var missing = 0
    /// Last error of a write; nil if there was none.
    package private(set) var fault: Errno?

    /// Creates a writer for a standard stream; `notice` returns the line that reports the number of dropped lines.
    package convenience init(_ stream: StandardStream, notice: @escaping (Int) -> String) throws(Errno) {
        try self.init(number: stream.rawValue, notice: notice)
    }

    /// Creates a writer for an open descriptor, which the caller still owns.
    ///
    /// The corresponding C functions are `fstat`, `fcntl(F_DUPFD_CLOEXEC)` and `open` of /proc/self/fd.
    package init(number: Int32, notice: @escaping (Int) -> String) throws(Errno) {
        self.notice = notice
        var status = stat()
        // Sound: the kernel fills a structure of this type, which outlives the call.
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

    /// Registers with the event loop, so that queued bytes are written as soon as the stream accepts them.
    package func join(_ loop: EventLoop) { self.loop = loop }

    /// Writes a line, which must include its line end.
    package func write(_ line: String) {
        let text = missing > 0 ? notice(missing) + line : line
        if waiting.append(text) { missing = 0 } else { missing &+= 1 }
        drain()
    }

    /// Writes queued bytes for at most `patience`, and discards the rest.
    package func finish(within patience: Duration) {
        let deadline = MonotonicClock.now + patience
        while !waiting.isEmpty, MonotonicClock.now < deadline {
            let time = Int32(clamping: max(0, (deadline - MonotonicClock.now).rounded(to: .milliseconds(1))))
            var entry = pollfd(fd: descriptor.number, events: Int16(POLLOUT), revents: 0)
            // Sound: the call gets one entry, a local variable.
            guard unsafe poll(&entry, 1, time) == 1 else { continue }
            drain()
        }
        waiting.removeAll()
    }

    private func drain() {
        do throws(Errno) {
            guard try empty() else { return watch() }
            if missing > 0, waiting.append(notice(missing)) {
                missing = 0
                guard try empty() else { return watch() }
            }
        } catch {
            // The reading end is closed, so the queued bytes are lost, but another program may open that end before the
            // next line.
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
                // Sound: the call gets one entry, a local variable. poll reports a pipe as writable if it accepts
                // PIPE_BUF bytes.
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
