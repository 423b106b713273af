// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// A serial line that other programs open by a path, and whose other end this process holds; it goes with its owner.
package struct PseudoTerminal: ~Copyable {
    /// This process's end, for the event loop; it does not block.
    package let descriptor: Descriptor
    /// The device that other programs open; the path leads to it.
    package let device: String
    private let path: String
    /// Tells of programs that open the device; nil on a kernel without inotify.
    private let openings: OpeningWatch?
    /// Held open where openings cannot be watched, so that this end stays quiet.
    private let line: Descriptor?

    /// A line, raw in both directions, to which `path` becomes a symbolic link.
    ///
    /// A link to a terminal that a process which was killed has left there is replaced; anything else at the path
    /// throws `fileExists`. The corresponding C calls are `open("/dev/ptmx")`, `ioctl(TIOCSPTLCK, TIOCGPTN)`,
    /// `tcsetattr` and `symlink`.
    package init(linkedAt path: String) throws(Errno) {
        let end = try Descriptor.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
        let number = end.number
        var isLocked: Int32 = 0
        var index: UInt32 = 0
        // Sound, as the calls below: each structure is a local that outlives its call.
        _ = try SystemCall.run { unsafe blewedge_ioctl_pointer(number, blewedge_TIOCSPTLCK, &isLocked) }
        _ = try SystemCall.run { unsafe blewedge_ioctl_pointer(number, blewedge_TIOCGPTN, &index) }
        let device = "/dev/pts/\(index)"
        let line = try Descriptor.open(device, O_RDWR | O_NOCTTY)
        let lineNumber = line.number
        var settings = termios()
        _ = try SystemCall.run { unsafe tcgetattr(lineNumber, &settings) }
        unsafe cfmakeraw(&settings)
        _ = try SystemCall.run { unsafe tcsetattr(lineNumber, TCSANOW, &settings) }
        if let target = Self.target(of: path), target.hasPrefix("/dev/pts/") { _ = unsafe unlink(path) }
        _ = try SystemCall.run { unsafe symlink(device, path) }
        descriptor = end
        self.device = device
        self.path = path
        if let watch = try? OpeningWatch(device) {
            openings = consume watch
            // Its settings stay as long as this end is open.
            self.line = nil
            _ = consume line
        } else {
            openings = nil
            self.line = consume line
        }
    }

    /// True while a program has the device open; always where that cannot be known.
    ///
    /// The corresponding C function is `poll`.
    package var isOpened: Bool {
        guard line == nil else { return true }
        var entry = pollfd(fd: descriptor.number, events: 0, revents: 0)
        // Sound: one entry, a local.
        return unsafe poll(&entry, 1, 0) < 1 || entry.revents & Int16(POLLHUP) == 0
    }

    /// Calls `handler` after each opening of the device; nil where that cannot be known.
    package func watchOpenings(
        on loop: EventLoop,
        handler: @escaping () -> Void
    ) throws(Errno) -> EventLoop.Registration? {
        try openings?.watch(on: loop, handler: handler)
    }

    /// Ends the watching.
    package func unwatchOpenings(_ registration: EventLoop.Registration, on loop: EventLoop) {
        openings?.unwatch(registration, on: loop)
    }

    /// Takes note of the openings so far.
    package func clearOpenings() { openings?.clear() }

    /// Discards what no program has read, so that the next one to open the device is not given it.
    ///
    /// The corresponding C functions are `open` and `tcflush`.
    package func discardUnread() throws(Errno) {
        let opened = try Descriptor.open(device, O_RDWR | O_NOCTTY | O_NONBLOCK)
        // What is on its way first, then what has arrived.
        for (number, queue) in [(descriptor.number, TCOFLUSH), (opened.number, TCIFLUSH)] {
            _ = try SystemCall.run { tcflush(number, queue) }
        }
    }

    deinit {
        // A file that another process has put there since is not removed.
        if Self.target(of: path) == device { _ = unsafe unlink(path) }
    }

    /// The target of a symbolic link; nil where there is none.
    ///
    /// The corresponding C function is `readlink`.
    private static func target(of path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 64)
        // Sound: the kernel writes at most the buffer's bytes; a longer target is cut, and is none of ours.
        let count = unsafe readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// A watch on a file that is readable after a program has opened it.
struct OpeningWatch: ~Copyable {
    private let descriptor: Descriptor

    /// Watches a file.
    ///
    /// The corresponding C functions are `inotify_init1` and `inotify_add_watch` (IN_OPEN).
    init(_ path: String) throws(Errno) {
        let flags = Int32(IN_CLOEXEC | IN_NONBLOCK)
        let made = Descriptor(owning: try SystemCall.run(CallSite(.loop, .inotifyInit)) { inotify_init1(flags) }, .loop)
        let number = made.number
        _ = try SystemCall.run { unsafe inotify_add_watch(number, path, UInt32(IN_OPEN)) }
        descriptor = made
    }

    /// Calls `handler` after each opening.
    func watch(on loop: EventLoop, handler: @escaping () -> Void) throws(Errno) -> EventLoop.Registration {
        try loop.watch(descriptor, for: .readable) { _ in handler() }
    }

    /// Ends the watching.
    func unwatch(_ registration: EventLoop.Registration, on loop: EventLoop) { loop.unwatch(registration, descriptor) }

    /// Takes note of the openings so far.
    func clear() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case .done(let count)? = try? descriptor.read(into: &buffer), count > 0 {}
    }
}
