// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
import Glibc
package import SystemPackage

/// Calls that ask whether the kernel has what the product uses, undone at once; they change nothing.
package enum KernelProbe {
    /// What is asked for by a call of its own.
    package enum Call: Sendable, CaseIterable {
        /// A descriptor of a process (`pidfd_open`).
        case processDescriptor
        /// A filter in front of system calls (`prctl`, PR_SET_SECCOMP).
        case systemCallFilter
        /// The event loop's own descriptor (`epoll_create1`).
        case epoll
        /// A timer as a descriptor (`timerfd_create`).
        case timer
        /// A count as a descriptor (`eventfd`).
        case eventCount
        /// Signals as a descriptor (`signalfd`).
        case signals
        /// Changes in a directory as a descriptor (`inotify_init1`).
        case directoryChanges
    }

    /// An option that is asked of a socket of the Bluetooth family.
    package enum Option: Sendable, CaseIterable {
        /// The count of all packets that a socket has dropped (SO_MEMINFO).
        case memory
        /// The count with each packet of those dropped before it (SO_RXQ_OVFL).
        case overflow
        /// The time with each packet (SO_TIMESTAMP).
        case times
    }

    /// The error of the call; nil where the kernel has it.
    package static func fault(of call: Call) -> Errno? {
        switch call {
        case .processDescriptor: made(CallSite(.file, .pidfdOpen)) { blewedge_pidfd_open(getpid()) }
        case .systemCallFilter: filterFault()
        case .epoll: made(CallSite(.loop, .epollCreate)) { epoll_create1(Int32(EPOLL_CLOEXEC)) }
        case .timer: made(CallSite(.loop, .timerfdCreate)) { timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC)) }
        case .eventCount: made(CallSite(.loop, .eventfd)) { eventfd(0, Int32(EFD_CLOEXEC)) }
        case .signals: signalFault()
        case .directoryChanges: made(CallSite(.loop, .inotifyInit)) { inotify_init1(Int32(IN_CLOEXEC)) }
        }
    }

    /// The error of the option; nil where the kernel has it, and where there is no socket to ask it of.
    package static func fault(of option: Option) -> Errno? {
        do throws(Errno) {
            let socket = try Descriptor.bluetoothSocket(
                option == .times ? .hci : .link,
                type: option == .times ? blewedge_SOCK_RAW : blewedge_SOCK_SEQPACKET,
                protocol: option == .times ? BTPROTO_HCI : BTPROTO_L2CAP
            )
            switch option {
            case .memory: _ = try socket.memory()
            case .overflow: try socket.setOption(SOL_SOCKET, SO_RXQ_OVFL, to: Int32(1))
            case .times: try socket.setOption(SOL_SOCKET, SO_TIMESTAMP, to: Int32(1))
            }
            return nil
        } catch {
            return error
        }
    }

    /// The error of a call that makes a descriptor, which is closed.
    private static func made(_ site: CallSite, _ call: () -> Int32) -> Errno? {
        let (number, error) = SystemCall.attempt(site, call)
        if number >= 0 { _ = Descriptor(owning: number) }
        return error
    }

    private static func signalFault() -> Errno? {
        var none = sigset_t()
        // Sound: the set is a local that outlives each call.
        unsafe sigemptyset(&none)
        return made(CallSite(.loop, .signalfd)) { unsafe signalfd(-1, &none, Int32(SFD_CLOEXEC)) }
    }

    /// A program of no address is refused for that (EFAULT) by a kernel that would take one, and by any other for what it is.
    private static func filterFault() -> Errno? {
        let (_, error) = SystemCall.attempt(CallSite(.file, .prctl)) {
            blewedge_prctl(PR_SET_SECCOMP, UInt(SECCOMP_MODE_FILTER), 0)
        }
        return error == .badAddress || error == .permissionDenied ? nil : error
    }
}
