// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// A thread of the operating system, for work that must not share one.
package struct SystemThread: ~Copyable {
    private let thread: pthread_t

    private final class Start {
        let name: String
        let body: @Sendable () -> Void
        #if DEBUG
            let script = CallScript.current
        #endif
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Starts a thread that runs `body`; `name` (15 bytes at most) is what ps and top show.
    ///
    /// The corresponding C function is `pthread_create`.
    package init(name: String, body: @escaping @Sendable () -> Void) throws(Errno) {
        var thread = pthread_t()
        // Sound: the box is retained here and taken over by the thread, or released when there is none.
        let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
        VirtualClock.addThread()
        let code = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                _ = unsafe blewedge_set_thread_name(String(start.name.prefix(15)))
                #if DEBUG
                    if let script = start.script { CallScript.use(script) }
                    defer { if start.script != nil { CallScript.use(nil) } }
                #endif
                start.body()
                VirtualClock.removeThread()
                return nil
            },
            start.toOpaque()
        )
        guard code == 0 else {
            VirtualClock.removeThread()
            unsafe start.release()
            throw Errno(rawValue: code)
        }
        self.thread = thread
    }

    /// The identity of the calling thread, different from that of every other running thread.
    ///
    /// The corresponding C function is `pthread_self`.
    static var current: UInt { UInt(pthread_self()) }

    /// Sleeps, by the real clock; returns false if a signal handler has ended the sleep.
    ///
    /// The corresponding C function is `ppoll`.
    @discardableResult
    package static func sleep(milliseconds: Int) -> Bool {
        var time = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
        // Sound: no entries, and a local that outlives the call.
        return unsafe blewedge_ppoll(nil, 0, &time) >= 0
    }

    /// Waits until the thread has ended; who waits is awake for `VirtualClock`, whose time stands still.
    ///
    /// The corresponding C function is `pthread_join`.
    package consuming func join() {
        _ = pthread_join(thread, nil)
    }
}
