// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
package import SystemPackage

/// What is done after a system call has failed.
package enum Recovery: String, CaseIterable, Sendable {
    /// The call is made again at once.
    case again
    /// The call is made again when the descriptor is ready.
    case wait
    /// The call, or what it is a part of, is made again a while later; what it works on stays.
    case later
    /// What the call works on is closed and made anew.
    case rebuild
    /// The adapter is given up, and looked for again, by its address.
    case adapterLost
    /// The link is given up, and made again.
    case linkLost
    /// The other process has gone: its connection ends, and nothing else.
    case peerGone
    /// A permission is missing: that is said, and it is tried again later.
    case forbidden
    /// There is no such thing here: that is said, and it is looked for again later.
    case absent
    /// The kernel does not understand this build: that is said, and the program ends.
    case unfit
    /// The program has mistaken one descriptor for another, or its own memory: it stops at once.
    ///
    /// Going on could write what was received into a file that it is not meant for. The service manager starts it anew.
    case fault
}

extension Errno {
    /// What is done after a call on such a thing has failed with this error: total, for known errors and others.
    ///
    /// The errors are those of errno(3); what is not named here means what a broken thing means.
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
        // A peer that has lost its key.
        case .link: .linkLost
        case .client: .peerGone
        case .listener: .later
        // A regular file, which epoll does not take.
        case .loop: .absent
        }
    }

    /// No room, or something else is in the way: both pass.
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

/// The failures of one call in a row, and how many of those that pass by themselves are borne.
///
/// A descriptor that can be read and gives an error each time would keep the loop busy for ever.
package struct RepeatedFaults: Sendable {
    /// The failures in a row after which the call is not made again.
    package static let limit = 16

    private var count = 0

    package init() {}

    /// Notes that the call has succeeded.
    package mutating func clear() { if count > 0 { count = 0 } }

    /// Notes that the call has failed with this error; returns true where it is to be made again later.
    package mutating func allow(_ error: Errno, of kind: CallKind) -> Bool {
        let recovery = error.recovery(of: kind)
        return (recovery == .later || recovery == .wait) && allow()
    }

    /// Notes that the call has failed, whatever the error; returns true where it is to be made again.
    package mutating func allow() -> Bool {
        count += 1
        return count < Self.limit
    }
}
