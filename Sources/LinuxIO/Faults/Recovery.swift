// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
package import SystemPackage

/// Reaction to a failed system call.
package enum Recovery: String, CaseIterable, Sendable {
    /// The call is repeated at once.
    case again
    /// The call is repeated when the descriptor is ready.
    case wait
    /// The call, or the operation that it is part of, is retried later; its object is kept.
    case later
    /// The object that the call works on is closed and made anew.
    case rebuild
    /// The adapter is given up, and searched for again by its address.
    case adapterLost
    /// The link is given up, and connected again.
    case linkLost
    /// The other process has disconnected: only its connection ends.
    case peerGone
    /// A permission is missing: this is reported, and the call is retried later.
    case forbidden
    /// The object does not exist: this is reported, and it is searched for again later.
    case absent
    /// The kernel does not support this build: this is reported, and the program ends.
    case unfit
    /// The program has confused two descriptors, or corrupted its own memory: it stops at once.
    ///
    /// If it continued, it could write received text into the wrong file. The service manager restarts it.
    case fault
}

extension Errno {
    /// Returns the reaction to this error of a call on an object of that kind; it is defined for every error.
    ///
    /// The errors are those of errno(3); an error that is not listed here is treated as a broken object.
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
        // A regular file, which epoll does not support.
        case .loop: .absent
        }
    }

    /// Returns the reaction to a shortage or a conflict, both of which are temporary.
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

/// The number of consecutive failures of one call, and their limit.
///
/// A descriptor that is readable and returns an error each time would keep the loop busy for ever.
package struct RepeatedFaults: Sendable {
    /// Number of consecutive failures after which the call is not repeated.
    package static let limit = 16

    private var count = 0

    package init() {}

    /// Records that the call has succeeded.
    package mutating func clear() { if count > 0 { count = 0 } }

    /// Records that the call has failed with this error; returns true if it is to be retried later.
    package mutating func allow(_ error: Errno, of kind: CallKind) -> Bool {
        let recovery = error.recovery(of: kind)
        return (recovery == .later || recovery == .wait) && allow()
    }

    /// Records that the call has failed with any error; returns true if it is to be repeated.
    package mutating func allow() -> Bool {
        count += 1
        return count < Self.limit
    }
}
