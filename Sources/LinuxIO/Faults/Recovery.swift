// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
package import SystemPackage

/// Reaction to a failed system call.
package enum Recovery: String, CaseIterable, Sendable {
    /// Repeat the call immediately.
    case again
    /// Repeat the call when the descriptor is ready.
    case wait
    /// Keep the object, and later retry the call or the operation that it is part of.
    case later
    /// Close the object that the call works on, and create it again.
    case rebuild
    /// Give up the adapter, and search for it again by its address.
    case adapterLost
    /// Give up the link, and connect again.
    case linkLost
    /// Close the connection to the other process, which has disconnected; nothing else is affected.
    case peerGone
    /// Report that a permission is missing, and retry the call later.
    case forbidden
    /// Report that the object does not exist, and search for it again later.
    case absent
    /// Report that the kernel lacks something that this build needs, and end the program.
    case unfit
    /// Stop the program immediately, because it has confused two descriptors or corrupted its own memory.
    ///
    /// If it continued, it could write received text into the wrong file. The service manager restarts it.
    case fault
}

extension Errno {
    /// Returns the reaction to this error if the call works on an object of this kind; every error has a reaction.
    ///
    /// The errors are those in errno(3); an error that is not listed here means that the object is broken.
    package func recovery(of kind: CallKind) -> Recovery { Recovery(after: rawValue, kind) }
}

extension Recovery {
    fileprivate init(after code: Int32, _ kind: CallKind) {
        self =
            switch code {
            case EINTR: .again
            case EBADF, EFAULT: .fault
            case EAGAIN, EINPROGRESS, EALREADY: .wait
            case EPERM, EACCES: Self.forbidden(kind)
            case ENOMEM, ENOBUFS, EMFILE, ENFILE, ENOSPC, EDQUOT, EUSERS, ENOSR, ENOLCK, EBUSY, EADDRINUSE, ETXTBSY,
                EDEADLK:
                Self.short(kind)
            case ENOENT: kind == .link || kind == .listener ? Self.broken(kind) : .absent
            case ENOTDIR, ENOSYS, EAFNOSUPPORT, EPFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT, EOPNOTSUPP, ENOPROTOOPT,
                ENOTTY:
                Self.missing(kind)
            case EINVAL: kind == .keyboard ? .unfit : Self.broken(kind)
            default: Self.broken(kind)
            }
    }

    private static func forbidden(_ kind: CallKind) -> Recovery {
        switch kind {
        case .hci, .management, .line, .keyboard, .file: .forbidden
        // The peer has lost its key.
        case .link: .linkLost
        case .client: .peerGone
        case .listener: .later
        // The descriptor is a regular file, which epoll does not support.
        case .loop: .absent
        }
    }

    /// Returns the reaction to a shortage of resources or to a conflict with another process; both are temporary.
    private static func short(_ kind: CallKind) -> Recovery {
        switch kind {
        case .keyboard: .rebuild
        case .client: .peerGone
        case .hci, .management, .link, .line, .listener, .loop, .file: .later
        }
    }

    private static func missing(_ kind: CallKind) -> Recovery {
        switch kind {
        case .hci, .management, .line, .keyboard, .client, .loop: .absent
        case .link, .listener, .file: broken(kind)
        }
    }

    private static func broken(_ kind: CallKind) -> Recovery {
        switch kind {
        case .hci, .management, .line: .adapterLost
        case .link: .linkLost
        case .keyboard: .rebuild
        case .client: .peerGone
        case .listener, .loop, .file: .later
        }
    }
}

/// Counts the consecutive failures of one call, and limits their number.
///
/// Without a limit, a descriptor that is readable but returns an error each time would keep the loop busy forever.
package struct RepeatedFaults: Sendable {
    /// Number of consecutive failures after which the call is not repeated.
    package static let limit = 16

    private var count = 0

    package init() {}

    /// Records that the call has succeeded.
    package mutating func clear() { if count > 0 { count = 0 } }

    /// Records that the call has failed with this error; returns true if the call may be retried later.
    package mutating func allow(_ error: Errno, of kind: CallKind) -> Bool {
        let recovery = error.recovery(of: kind)
        return (recovery == .later || recovery == .wait) && allow()
    }

    /// Records that the call has failed, with any error; returns true if the call may be repeated.
    package mutating func allow() -> Bool {
        count += 1
        return count < Self.limit
    }
}
