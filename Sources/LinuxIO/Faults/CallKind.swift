// SPDX-License-Identifier: GPL-2.0-or-later

/// What a system call works on: the same error means another thing of a file than of a link.
package enum CallKind: String, CaseIterable, Sendable {
    /// A raw HCI socket of a controller, or its user channel.
    case hci
    /// The kernel's management channel.
    case management
    /// The Attribute Protocol's channel to one device.
    case link
    /// The stream to a controller that is no adapter of the kernel.
    case line
    /// The virtual keyboard (uinput).
    case keyboard
    /// A connection to another process of this machine.
    case client
    /// A socket on which others connect.
    case listener
    /// The event loop's own: epoll, timers, wakers, watched directories.
    case loop
    /// A file, a directory, a terminal, and everything else.
    case file
}

/// A place at which the program calls the kernel: what is called, and on what.
package struct CallSite: Hashable, Sendable, CustomStringConvertible {
    /// The C function.
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

    /// What the call works on.
    package var kind: CallKind
    /// The C function.
    package var call: Call
    /// The number of the socket's option; nil for every other call, and where it does not matter.
    package var option: Int32?

    /// A place by its parts.
    package init(_ kind: CallKind, _ call: Call, option: Int32? = nil) {
        self.kind = kind
        self.call = call
        self.option = option
    }

    /// The place as text, such as `hci.write`.
    package var description: String { "\(kind).\(call.rawValue)" }
}
