// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

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
