// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// Lines to a stream whose reader may be slow, or stuck: no line waits for it.
///
/// What the reader does not take at once is kept, up to `capacity` bytes; lines that do not fit are left out, and the next one
/// that fits comes behind a notice of how many. The stream's open file is shared with other programs and keeps its flags: a
/// pipe and a terminal are opened anew, without blocking, and a socket is told so in each call. It is used on the event loop's
/// thread.
package final class LineWriter {
    /// The most bytes that wait.
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
