// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// Standard output and standard error, written at once and whole.
package enum StandardStream: Int32, Sendable {
    /// Data only.
    case output = 1
    /// Progress and errors, for people.
    case error = 2

    /// Writes text.
    ///
    /// A reader that has gone throws `brokenPipe` (SIGPIPE is to be ignored).
    ///
    /// The corresponding C function is `write`.
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

    /// True where this is a terminal.
    ///
    /// The corresponding C function is `isatty`.
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

    /// Columns and rows of the terminal; nil where it has none or is none.
    ///
    /// The corresponding C call is `ioctl(TIOCGWINSZ)`.
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
    /// True where standard input is a terminal, so that somebody can answer.
    ///
    /// The corresponding C function is `isatty`.
    package static var isTerminal: Bool { isatty(0) == 1 }

    /// The next line, without its end; nil at the end of the input.
    package static func line() -> String? { readLine() }
}

/// Standard output as an end that never blocks its writer, whatever else has the same pipe or terminal open.
package struct StandardOutput: ~Copyable {
    /// The kind of file that it is.
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

    /// The end that this number stands for, which stays open.
    ///
    /// The corresponding C functions are `fstat` and `open`.
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
