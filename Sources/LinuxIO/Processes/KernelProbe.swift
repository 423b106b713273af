// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
import Glibc
package import SystemPackage

/// Calls that show if the kernel supports the features that the product uses; each call is undone immediately.
package enum KernelProbe {
    package enum Call: Sendable, CaseIterable {
        /// Getting a descriptor for a process (`pidfd_open`).
        case processDescriptor
        /// Filtering system calls (`prctl`, PR_SET_SECCOMP).
        case systemCallFilter
        /// Waiting for several descriptors (`epoll_create1`).
        case epoll
        /// Getting a descriptor for a timer (`timerfd_create`).
        case timer
        /// Getting a descriptor for a counter (`eventfd`).
        case eventCount
        /// Getting a descriptor for signals (`signalfd`).
        case signals
        /// Getting a descriptor for changes in a directory (`inotify_init1`).
        case directoryChanges
    }

    /// A socket option that is tried on a Bluetooth socket.
    package enum Option: Sendable, CaseIterable {
        /// The total number of packets that the socket has dropped (SO_MEMINFO).
        case memory
        /// The number of dropped packets, reported with each received packet (SO_RXQ_OVFL).
        case overflow
        case times
    }

    /// Returns the error of the call; nil if the kernel supports the call.
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

    /// Returns the error that occurs when the option is used, or when the socket for it is created.
    ///
    /// Returns nil if the kernel supports the option.
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

    /// Makes a call that creates a descriptor, and closes the descriptor immediately; returns the error, or nil.
    private static func made(_ site: CallSite, _ call: () -> Int32) -> Errno? {
        let (number, error) = SystemCall.attempt(site, call)
        if number >= 0 { _ = Descriptor(owning: number) }
        return error
    }

    private static func signalFault() -> Errno? {
        // All bits are zero, so the set is empty.
        var none = sigset_t()
        // Sound: the set is a local variable that outlives the call.
        return made(CallSite(.loop, .signalfd)) { unsafe signalfd(-1, &none, Int32(SFD_CLOEXEC)) }
    }

    /// Returns the error that shows that the kernel does not support filters; nil if it does.
    ///
    /// A kernel that supports filters rejects a null filter only because of its address or because of missing
    /// privileges.
    private static func filterFault() -> Errno? {
        let (_, error) = SystemCall.attempt(CallSite(.file, .prctl)) {
            blewedge_prctl(PR_SET_SECCOMP, UInt(SECCOMP_MODE_FILTER), 0)
        }
        return error == .badAddress || error == .permissionDenied ? nil : error
    }
}

package struct KernelVersion: Equatable, Sendable {
    /// First two numbers of the version, which identify the kernel series: 6 and 1 in 6.1.192.
    package let major: Int
    package let minor: Int
    /// Third number of the version; nil if the distribution does not provide it.
    package let patch: Int?
    /// The version as text: Debian's version, such as `6.1.192-2`, or otherwise the release.
    package let text: String

    /// Parses a version from the release and the build, as `uname -r` and `uname -v` print them; nil for other texts.
    ///
    /// In Debian, the release contains the number of the interface (`6.1.0-56-amd64`), and the build contains the
    /// version (`#1 SMP … Debian 6.1.192-2 (2026-11-16)`).
    package init?(release: String, build: String) {
        guard let named = Self.numbers(release) else { return nil }
        (major, minor) = (named.major, named.minor)
        let words = build.split(separator: " ")
        if let mark = words.firstIndex(of: "Debian"), mark + 1 < words.count {
            let version = words[mark + 1].drop { $0 != ":" }.dropFirst()
            let text = String(version.isEmpty ? words[mark + 1] : version)
            if let own = Self.numbers(text), own.major == major, own.minor == minor {
                (patch, self.text) = (own.patch, text)
                return
            }
        }
        // A patch number of zero before further numbers is only a placeholder.
        let isPlaceholder = named.patch == 0 && release.contains("-")
        (patch, text) = (isPlaceholder ? nil : named.patch, release)
    }

    /// The running kernel's version (C: `uname`, which works where a service cannot read /proc/sys).
    package static let running: KernelVersion? = {
        var names = utsname()
        guard unsafe uname(&names) == 0 else { return nil }
        return KernelVersion(release: text(names.release), build: text(names.version))
    }()

    private static func text<Field>(_ field: Field) -> String {
        unsafe withUnsafeBytes(of: field) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Parses the numbers at the beginning of a version; returns nil if there are fewer than two.
    private static func numbers(_ text: String) -> (major: Int, minor: Int, patch: Int?)? {
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false).prefix(3).map { part in
            Int(part.prefix { "0"..."9" ~= $0 })
        }
        guard numbers.count > 1, let major = numbers[0], let minor = numbers[1] else { return nil }
        return (major, minor, numbers.count > 2 ? numbers[2] : nil)
    }
}

/// The state of a kernel feature that can be built as a module.
package enum ModuleState: Equatable, Sendable {
    case loaded
    case loadable
    /// The feature is neither built in nor available as a module.
    case absent
    /// The state is unknown, because the list of the kernel's modules is not on this machine.
    case unknown

    /// Determines the state of the module `name` (Linux, Documentation/admin-guide/sysfs-rules.rst for /sys/module;
    /// modules.dep(5), modules.builtin(5)).
    package init(_ name: String, sysfs: String = "/sys", modules: String = "/lib/modules/" + Self.kernelRelease) {
        if FileSystem.exists("\(sysfs)/module/\(name)") {
            self = .loaded
            return
        }
        // The dependency list of a distribution's modules has a size of about 1 MB.
        guard let list = try? FileSystem.contents(of: "\(modules)/modules.dep", limit: 1 << 24) else {
            self = .unknown
            return
        }
        let builtin = (try? FileSystem.contents(of: "\(modules)/modules.builtin", limit: 1 << 24)) ?? []
        self = Self.names(name, builtin) ? .loaded : Self.names(name, list) ? .loadable : .absent
    }

    /// The running kernel's release, as `uname -r` prints it.
    package static var kernelRelease: String { FileSystem.line(of: "/proc/sys/kernel/osrelease") ?? "" }

    /// Returns true if a line in the list names the module, such as `kernel/drivers/input/misc/uinput.ko.xz: …`.
    private static func names(_ name: String, _ list: [UInt8]) -> Bool {
        list.split(separator: UInt8(ascii: "\n")).contains { line in
            let path = line.prefix { $0 != UInt8(ascii: ":") }
            guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return false }
            let file = path[path.index(after: slash)...].prefix { $0 != UInt8(ascii: ".") }
            // File names may have a hyphen in place of an underscore.
            return file.elementsEqual(name.utf8) { $0 == $1 || $0 == UInt8(ascii: "-") && $1 == UInt8(ascii: "_") }
        }
    }
}
