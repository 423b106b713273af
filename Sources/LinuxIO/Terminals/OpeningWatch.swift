// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import SystemPackage

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
