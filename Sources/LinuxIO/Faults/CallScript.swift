// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import Glibc
    import Synchronization
    package import SystemPackage

    /// A substitute for the kernel at named call sites, for tests; release builds do not contain it.
    ///
    /// It applies to the thread that calls `use` and to the threads that this thread starts, so that parallel tests use
    /// the real kernel.
    package enum CallScript {
        /// The result or the error that a call returns instead of the kernel's.
        package enum Answer: Sendable {
            case result(Int32)
            case error(Errno)
        }

        /// Function that answers a call in place of the kernel, or returns nil to let the kernel answer it.
        package typealias Handler = @Sendable (CallSite) -> Answer?

        private static let handlers = Mutex<[UInt: Handler]>([:])
        private static let count = Atomic<Int>(0)

        /// Lets `handler` answer the system calls of this thread and of the threads that it starts; nil restores the
        /// real kernel.
        package static func use(_ handler: Handler?) {
            handlers.withLock { handlers in
                handlers[SystemThread.current] = handler
                count.store(handlers.count, ordering: .relaxed)
            }
        }

        static var current: Handler? {
            guard count.load(ordering: .relaxed) > 0 else { return nil }
            return handlers.withLock { $0[SystemThread.current] }
        }

        static func run<Result: FixedWidthInteger>(_ site: CallSite?, _ call: () -> Result) -> Result {
            guard let site, let answer = current?(site) else { return call() }
            switch answer {
            case .result(let result): return Result(truncatingIfNeeded: result)
            case .error(let error):
                errno = error.rawValue
                return Result(truncatingIfNeeded: -1)
            }
        }
    }
#endif

/// Kind of object that a system call works on, because the same error means different things for a file and for a link.
package enum CallKind: String, CaseIterable, Sendable {
    /// A raw HCI socket of a controller, or its user channel.
    case hci
    /// The kernel's management channel.
    case management
    /// The Attribute Protocol channel to one device.
    case link
    /// The stream to a controller that is not managed by the kernel.
    case line
    /// The virtual keyboard (uinput).
    case keyboard
    /// A connection to another process of this machine.
    case client
    /// A socket to which other processes or centrals connect.
    case listener
    /// A descriptor that the event loop uses: epoll, timers, wakers, watched directories.
    case loop
    /// A file, a directory, a terminal, and everything else.
    case file
}

/// A place where the program calls the kernel: the name of the call and the kind of its object.
package struct CallSite: Hashable, Sendable, CustomStringConvertible {
    package enum Call: String, CaseIterable, Sendable {
        case open, socket, bind, connect, listen, accept, read, write, send, recvmsg, recvmmsg, getsockopt, setsockopt
        case ioctl
        case epollAdd = "epoll_ctl_add"
        case epollModify = "epoll_ctl_mod"
        case epollWait = "epoll_wait"
        case fsync, rename, mkdir, flock
        case prctl, eventfd, signalfd
        case pidfdOpen = "pidfd_open"
        case epollCreate = "epoll_create1"
        case timerfdCreate = "timerfd_create"
        case inotifyInit = "inotify_init1"
    }

    package var kind: CallKind
    package var call: Call
    /// The number of the socket option or of the ioctl request; nil for other calls, and where it does not matter.
    package var option: Int32?

    package init(_ kind: CallKind, _ call: Call, option: Int32? = nil) {
        self.kind = kind
        self.call = call
        self.option = option
    }

    /// The place as text, such as `hci.write`.
    package var description: String { "\(kind).\(call.rawValue)" }
}
