// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// Reader of lines from a pipe, with a time limit for each read; closes the pipe when it is released.
final class LineReader {
    private let pipe: Int32
    private let milliseconds: Int32
    private var buffer: [UInt8] = []

    /// Creates a reader that waits up to `milliseconds` for each part of a line.
    init(_ pipe: Int32, milliseconds: Int32 = 60_000) {
        self.pipe = pipe
        self.milliseconds = milliseconds
    }

    deinit { close(pipe) }

    /// Returns the next line without its line feed; nil at the end of the pipe, or if the rest of the line does not arrive
    /// in time.
    func line() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer.removeSubrange(...end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            var entry = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            let ready = poll(&entry, 1, milliseconds)
            if ready < 0, errno == EINTR { continue }
            guard ready == 1 else { return nil }
            var part = [UInt8](repeating: 0, count: 4096)
            let count = read(pipe, &part, part.count)
            guard count > 0 else { return nil }
            buffer += part.prefix(count)
        }
    }
}
