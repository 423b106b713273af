// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
import LinuxIO
import Synchronization
import SystemPackage
import Testing

@Suite("The system calls that a keyboard refuses itself", .timeLimit(.minutes(10)))
struct SystemCallFilterTests {
    private static let refused = UInt32(SECCOMP_RET_ERRNO) | UInt32(EPERM)
    private static let allowed = UInt32(SECCOMP_RET_ALLOW)
    private static let newUser: UInt32 = 0x1000_0000

    /// Returns the action of the filter for a call with this number, first argument and architecture.
    private func outcome(
        _ number: UInt32,
        _ argument: UInt32 = 0,
        _ architecture: UInt32 = blewedge_audit_architecture,
        allowsInternet: Bool = false
    ) throws -> UInt32 {
        let steps = try #require(SystemCallFilter.steps(allowsInternet: allowsInternet))
        var (place, value) = (0, UInt32(0))
        while true {
            let step = steps[place]
            place += 1
            let isTrue: Bool
            switch step.code {
            case 0x20:
                value = [0: number, 4: architecture, 16: argument][step.k] ?? 0
                continue
            case 0x15: isTrue = value == step.k
            case 0x45: isTrue = value & step.k != 0
            default: return step.k
            }
            place += Int(isTrue ? step.jt : step.jf)
        }
    }

    @Test("T31: what leads out of a keyboard's rights is refused, by every number; what it lives by is not")
    func decisions() throws {
        var count: Int32 = 0
        while let number = UInt32(exactly: blewedge_refused_call(count)) {
            #expect(try outcome(number) == Self.refused, "\(number)")
            count += 1
        }
        #expect(count > 80)
        for call in [
            SYS_setfsuid, SYS_setfsgid, SYS_mknodat, SYS_vmsplice, SYS_io_setup, SYS_move_pages, SYS_memfd_create,
            SYS_execveat, SYS_shmget, SYS_semget, SYS_msgget,
        ] {
            #expect(try outcome(UInt32(call)) == Self.refused, "\(call)")
        }
        for call in [
            SYS_read, SYS_write, SYS_epoll_ctl, SYS_socketpair, SYS_bind, SYS_ioctl, SYS_execve, SYS_exit_group,
            SYS_futex, SYS_splice,
        ] {
            #expect(try outcome(UInt32(call)) == Self.allowed, "\(call)")
        }
    }

    @Test("T31: a process or thread is made, a namespace is not; the newer call is said not to be there")
    func namespaces() throws {
        // Flags with which the C library creates a thread.
        #expect(try outcome(blewedge_SYS_clone, 0x003D_0F00) == Self.allowed)
        for bit in [17, 25, 26, 27, 28, 29, 30] {
            #expect(try outcome(blewedge_SYS_clone, 1 << UInt32(bit) | 17) == Self.refused, "\(bit)")
        }
        #expect(try outcome(blewedge_SYS_clone3, Self.newUser) == UInt32(SECCOMP_RET_ERRNO) | UInt32(ENOSYS))
        // The argument is checked only for calls that create processes or threads.
        #expect(try outcome(UInt32(SYS_read), Self.newUser) == Self.allowed)
    }

    @Test(
        "Sockets are unix's and Bluetooth's; the internet's where a controller or a hook may need them, and no others"
    )
    func families() throws {
        let none = UInt32(SECCOMP_RET_ERRNO) | UInt32(EAFNOSUPPORT)
        for family in 0..<UInt32(64) {
            let isOurs = [AF_UNIX, AF_BLUETOOTH].contains(Int32(family))
            let isInternet = [AF_INET, AF_INET6].contains(Int32(family))
            #expect(try outcome(UInt32(SYS_socket), family) == (isOurs ? Self.allowed : none), "\(family)")
            let withInternet = try outcome(UInt32(SYS_socket), family, allowsInternet: true)
            #expect(withInternet == (isOurs || isInternet ? Self.allowed : none), "\(family)")
            // The argument is checked only for calls that create sockets.
            #expect(try outcome(UInt32(SYS_read), family) == Self.allowed)
        }
    }

    @Test("T31: a call by another architecture's or convention's numbers does not pass as what it is here")
    func conventions() throws {
        #expect(try outcome(UInt32(SYS_read), 0, 0x4000_0003) == 0x8000_0000)
        if blewedge_other_convention != 0 {
            #expect(try outcome(UInt32(SYS_read) | blewedge_other_convention) == Self.refused)
        }
    }

    @Test("T31: the kernel takes the filter: a thread behind it starts threads and programs, and chroot is refused")
    func kernel() throws {
        let found = Mutex<[String]>([])
        let thread = try SystemThread(name: "filtered") {
            @Sendable func note(_ text: String) { found.withLock { $0.append(text) } }
            do throws(Errno) {
                try ThreadPrivileges.refuseGains()
                note("installed: \(try SystemCallFilter.install(allowsInternet: false))")
                // This call changes nothing, even if it is allowed.
                note("chroot: \(chroot("/") == 0 ? "done" : "\(Errno(rawValue: errno))")")
                for family in [AF_NETLINK, AF_INET, AF_UNIX] {
                    let number = socket(family, Int32(SOCK_DGRAM.rawValue), 0)
                    note("\(family): \(number < 0 ? "\(Errno(rawValue: errno))" : "made")")
                    if number >= 0 { close(number) }
                }
                let another = try SystemThread(name: "another") { note("another thread") }
                another.join()
                let child = try ChildProcess("/bin/true", environment: [], replacing: "BLEWEDGE_")
                note("\(try child.waitForEnd())")
            } catch {
                note("\(error)")
            }
        }
        thread.join()
        #expect(
            found.withLock { $0 } == [
                "installed: true", "chroot: \(Errno.notPermitted)", "16: \(Errno.addressFamilyNotSupported)",
                "2: \(Errno.addressFamilyNotSupported)", "1: made", "another thread", "exited(0)",
            ]
        )
        #expect(chroot("/") == 0 || geteuid() != 0)
    }
}
