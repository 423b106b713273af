// SPDX-License-Identifier: GPL-2.0-or-later

import CCapability
package import CLinux
import Glibc
import Synchronization
package import SystemPackage

package enum Capability: String, Sendable, CaseIterable {
    /// Allows powering adapters and changing their settings.
    case networkAdministration = "CAP_NET_ADMIN"
    /// Allows sending HCI commands and receiving all HCI events.
    case rawNetwork = "CAP_NET_RAW"

    /// True if the capability is in this process's effective set (C: `cap_get_proc` and `cap_get_flag`).
    package var isEffective: Bool { unsafe isSet(CAP_EFFECTIVE, in: cap_get_proc()) }

    /// True if the capability is in this process's permitted set, even if `holdBack` has made it ineffective (C:
    /// `cap_get_proc` and `cap_get_flag`).
    package var isPermitted: Bool { unsafe isSet(CAP_PERMITTED, in: cap_get_proc()) }

    /// True if the program's file grants the capability to every process that runs it (C: `cap_get_file` and
    /// `cap_get_flag`).
    package var isGrantedByFile: Bool { unsafe isSet(CAP_PERMITTED, in: cap_get_file("/proc/self/exe")) }

    /// Number of the capability in <linux/capability.h>.
    package var number: Int32 {
        switch self {
        case .networkAdministration: CAP_NET_ADMIN
        case .rawNetwork: CAP_NET_RAW
        }
    }

    /// Returns true if `set` has the capability; frees the set.
    private func isSet(_ flag: cap_flag_t, in set: cap_t?) -> Bool {
        // Sound: the library allocates the set, and only this function frees it.
        guard let set = unsafe set else { return false }
        defer { _ = unsafe cap_free(UnsafeMutableRawPointer(set)) }
        var value = CAP_CLEAR
        guard unsafe cap_get_flag(set, cap_value_t(number), flag, &value) == 0 else { return false }
        return value == CAP_SET
    }

    package static var missing: [Capability] {
        allCases.filter { isHeldBack.load(ordering: .relaxed) ? !$0.isPermitted : !$0.isEffective }
    }

    // Functions for calls that need capabilities.

    /// True once `holdBack` was called; until then, `raised` makes no additional system calls.
    private static let isHeldBack = Atomic(false)

    /// Clears the effective set of the calling thread, and thereby of the threads that it starts later.
    ///
    /// `raised` restores the product's own capabilities for one call.
    ///
    /// Throws `notPermitted`, without any change, if a system call filter refuses the call. The corresponding C
    /// function is `cap_set_proc`.
    package static func holdBack() throws(Errno) {
        try setEffective([])
        isHeldBack.store(true, ordering: .relaxed)
    }

    /// Runs `call` with the permitted capabilities effective, in the calling thread only (C: `cap_set_proc`).
    static func raised<Value: ~Copyable>(_ call: () throws(Errno) -> Value) throws(Errno) -> Value {
        guard isHeldBack.load(ordering: .relaxed) else { return try call() }
        try setEffective(allCases.filter(\.isPermitted))
        let value: Value
        do {
            value = try call()
        } catch {
            try setEffective([])
            throw error
        }
        try setEffective([])
        return value
    }

    private static func setEffective(_ capabilities: [Capability]) throws(Errno) {
        // Sound: the library allocates the set, and only this function frees it; the numbers outlive the call.
        guard let set = unsafe cap_get_proc() else { throw .noMemory }
        defer { _ = unsafe cap_free(UnsafeMutableRawPointer(set)) }
        _ = unsafe cap_clear_flag(set, CAP_EFFECTIVE)
        let numbers = capabilities.map { cap_value_t($0.number) }
        _ = unsafe cap_set_flag(set, CAP_EFFECTIVE, Int32(numbers.count), numbers, CAP_SET)
        _ = try SystemCall.run { unsafe cap_set_proc(set) }
    }
}

/// Reduces the privileges of the calling thread, and of the threads and programs that it starts afterwards.
package enum ThreadPrivileges {
    /// Gives up every capability permanently; no program that the thread starts can regain one, not even as root.
    ///
    /// The corresponding C functions are `prctl` (PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT_CLEAR_ALL) and `cap_set_proc`.
    static func giveUp() throws(Errno) {
        // Do this first, so that neither a program's file nor its user can undo the following steps.
        try refuseGains()
        _ = try SystemCall.run {
            blewedge_prctl(PR_CAP_AMBIENT, UInt(PR_CAP_AMBIENT_CLEAR_ALL), 0)
        }
        // Sound: the library allocates this empty set, and only this function frees it.
        guard let none = unsafe cap_init() else { throw .noMemory }
        defer { _ = unsafe cap_free(UnsafeMutableRawPointer(none)) }
        do throws(Errno) {
            _ = try SystemCall.run { unsafe cap_set_proc(none) }
        } catch {
            // A system call filter, such as that of the service, may refuse the call. In that case, a program whose
            // user is not root keeps the inheritable set, but gets no capability from it, because its file cannot grant
            // any.
            guard error == .notPermitted, geteuid() != 0 else { throw error }
        }
    }

    /// Prevents programs that the thread starts from gaining privileges, whatever their files grant.
    ///
    /// The corresponding C function is `prctl` (PR_SET_NO_NEW_PRIVS).
    package static func refuseGains() throws(Errno) {
        _ = try SystemCall.run { blewedge_prctl(PR_SET_NO_NEW_PRIVS, 1, 0) }
    }
}

/// The system call filter of a keyboard process and of the programs that it starts.
///
/// It refuses the calls listed in RefusedCalls.c, new processes with namespaces, calls that use another calling
/// convention of the machine, and sockets of families other than unix and Bluetooth.
///
/// A refused call fails with EPERM, and a refused socket with EAFNOSUPPORT; a call for another architecture kills the
/// process. `clone3`, whose flags a filter cannot read, fails with ENOSYS, as on a kernel without `clone3`, so that the
/// C library calls `clone`.
package enum SystemCallFilter {
    /// Installs the filter permanently for the calling thread, and for the threads and programs that it starts later.
    ///
    /// `allowsInternet` is for a controller that is reached over TCP, and for a user's program that may connect to a
    /// server. Returns false if there is no filter for this machine, or the kernel does not support filters. Throws
    /// `permissionDenied` if the thread could still gain privileges (`ThreadPrivileges.refuseGains`). The corresponding
    /// C function is `prctl` (PR_SET_SECCOMP).
    package static func install(allowsInternet: Bool) throws(Errno) -> Bool {
        guard let steps = steps(allowsInternet: allowsInternet) else { return false }
        return try install(steps)
    }

    private static func install(_ steps: [sock_filter]) throws(Errno) -> Bool {
        var steps = steps
        let result: Result<Void, Errno> = unsafe steps.withUnsafeMutableBufferPointer { steps in
            // Sound: the kernel copies the program, and its steps and header outlive the call.
            var program = unsafe sock_fprog(len: UInt16(steps.count), filter: steps.baseAddress)
            return unsafe withUnsafePointer(to: &program) { program in
                Result { () throws(Errno) in
                    _ = try SystemCall.run(CallSite(.file, .prctl)) {
                        blewedge_prctl(PR_SET_SECCOMP, UInt(SECCOMP_MODE_FILTER), UInt(bitPattern: program))
                    }
                }
            }
        }
        do throws(Errno) {
            try result.get()
            return true
        } catch .invalidArgument, .noFunction {
            return false
        }
    }

    /// Returns the filter program, which the kernel runs at each system call; nil if the filter does not support this
    /// machine.
    ///
    /// Offsets in struct seccomp_data: the call number at 0, the architecture at 4, the first argument's low half at
    /// 16.
    package static func steps(allowsInternet: Bool) -> [sock_filter]? {
        guard blewedge_audit_architecture != 0 else { return nil }
        var numbers: [UInt32] = []
        while let number = UInt32(exactly: blewedge_refused_call(Int32(numbers.count))) { numbers.append(number) }
        let refuse = UInt32(SECCOMP_RET_ERRNO) | UInt32(EPERM)
        let allow = sock_filter(.returns, UInt32(SECCOMP_RET_ALLOW))
        var steps = [
            sock_filter(.loads, 4),
            sock_filter(.isEqual, blewedge_audit_architecture, then: 1),
            sock_filter(.returns, UInt32(bitPattern: Int32(truncatingIfNeeded: SECCOMP_RET_KILL_PROCESS))),
            sock_filter(.loads, 0),
        ]
        if blewedge_other_convention != 0 {
            steps += [sock_filter(.hasBit, blewedge_other_convention, otherwise: 1), sock_filter(.returns, refuse)]
        }
        steps += [
            sock_filter(.isEqual, blewedge_SYS_clone3, otherwise: 1),
            sock_filter(.returns, UInt32(SECCOMP_RET_ERRNO) | UInt32(ENOSYS)),
            sock_filter(.isEqual, blewedge_SYS_clone, otherwise: 4),
            sock_filter(.loads, 16),
            sock_filter(.hasBit, namespaces, otherwise: 1),
            sock_filter(.returns, refuse),
            allow,
        ]
        let families = [AF_UNIX, AF_BLUETOOTH] + (allowsInternet ? [AF_INET, AF_INET6] : [])
        steps += [
            sock_filter(.isEqual, blewedge_SYS_socket, otherwise: UInt8(families.count + 3)),
            sock_filter(.loads, 16),
        ]
        for (index, family) in families.enumerated() {
            steps.append(sock_filter(.isEqual, UInt32(family), then: UInt8(families.count - index)))
        }
        steps += [sock_filter(.returns, UInt32(SECCOMP_RET_ERRNO) | UInt32(EAFNOSUPPORT)), allow]
        while let number = numbers.popLast() {
            steps.append(sock_filter(.isEqual, number, then: UInt8(numbers.count + 1)))
        }
        return steps + [allow, sock_filter(.returns, refuse)]
    }

    /// Flags of clone(2) that create namespaces, CLONE_NEWNS to CLONE_NEWNET.
    private static let namespaces: UInt32 = 0x7E02_0000
}

/// Operation codes of the filter's steps, such as BPF_LD | BPF_W | BPF_ABS.
private enum FilterStep: UInt16 {
    case loads = 0x20
    case isEqual = 0x15
    case hasBit = 0x45
    case returns = 0x06
}

extension sock_filter {
    /// Creates a step with its operand, and the number of steps to skip if its condition is true and if it is false.
    fileprivate init(_ step: FilterStep, _ operand: UInt32, then: UInt8 = 0, otherwise: UInt8 = 0) {
        self.init(code: step.rawValue, jt: then, jf: otherwise, k: operand)
    }
}
