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
