// SPDX-License-Identifier: GPL-2.0-or-later

import CCapability
import CLinux
import Glibc
import Synchronization
package import SystemPackage

/// The capabilities that the product needs of the kernel.
package enum Capability: String, Sendable, CaseIterable {
    /// Powers adapters and changes their settings.
    case networkAdministration = "CAP_NET_ADMIN"
    /// Sends HCI commands and sees all events.
    case rawNetwork = "CAP_NET_RAW"

    /// True where this process has it in its effective set (C: `cap_get_proc` and `cap_get_flag`).
    package var isEffective: Bool { unsafe isSet(CAP_EFFECTIVE, in: cap_get_proc()) }

    /// True where this process has it, be it held back (C: `cap_get_proc` and `cap_get_flag`).
    package var isPermitted: Bool { unsafe isSet(CAP_PERMITTED, in: cap_get_proc()) }

    /// True where the program's file grants it to whoever starts the program (C: `cap_get_file` and `cap_get_flag`).
    package var isGrantedByFile: Bool { unsafe isSet(CAP_PERMITTED, in: cap_get_file("/proc/self/exe")) }

    /// Its number in <linux/capability.h>.
    package var number: Int32 {
        switch self {
        case .networkAdministration: CAP_NET_ADMIN
        case .rawNetwork: CAP_NET_RAW
        }
    }

    /// True where a set has it; the set is freed.
    private func isSet(_ flag: cap_flag_t, in set: cap_t?) -> Bool {
        // Sound: the set is the library's own, freed here and nowhere else.
        guard let set = unsafe set else { return false }
        defer { _ = unsafe cap_free(UnsafeMutableRawPointer(set)) }
        var value = CAP_CLEAR
        guard unsafe cap_get_flag(set, cap_value_t(number), flag, &value) == 0 else { return false }
        return value == CAP_SET
    }

    package static var missing: [Capability] {
        allCases.filter { isHeldBack.load(ordering: .relaxed) ? !$0.isPermitted : !$0.isEffective }
    }

    // Calls that need them.

    /// Whether `holdBack` was called: else no call is worth two more.
    private static let isHeldBack = Atomic(false)

    /// Takes every capability out of the effective set of the calling thread, and so of the threads that it starts
    /// from now on; `raised` puts the product's own back for a call.
    ///
    /// Throws `notPermitted` where a filter of system calls refuses it; all is as before then. The corresponding C function
    /// is `cap_set_proc`.
    package static func holdBack() throws(Errno) {
        try setEffective([])
        isHeldBack.store(true, ordering: .relaxed)
    }

    /// Makes a call with those of the capabilities effective that are permitted, in the calling thread alone (C:
    /// `cap_set_proc`).
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
        // Sound: the set is the library's own, and freed here and nowhere else; the numbers outlive the call.
        guard let set = unsafe cap_get_proc() else { throw .noMemory }
        defer { _ = unsafe cap_free(UnsafeMutableRawPointer(set)) }
        _ = unsafe cap_clear_flag(set, CAP_EFFECTIVE)
        let numbers = capabilities.map { cap_value_t($0.number) }
        _ = unsafe cap_set_flag(set, CAP_EFFECTIVE, Int32(numbers.count), numbers, CAP_SET)
        _ = try SystemCall.run { unsafe cap_set_proc(set) }
    }
}

/// The privileges of the calling thread, and of the threads and programs that it starts afterwards.
package enum ThreadPrivileges {
    /// Gives up every capability, those that a program which is started would inherit among them, for good: no program
    /// that the thread starts gets any back, not even as root.
    ///
    /// The corresponding C functions are `prctl` (PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT_CLEAR_ALL) and `cap_set_proc`.
    static func giveUp() throws(Errno) {
        // First, so that nothing that follows is undone by a program's file or by its user.
        try refuseGains()
        _ = try SystemCall.run {
            blewedge_prctl(PR_CAP_AMBIENT, UInt(PR_CAP_AMBIENT_CLEAR_ALL), 0)
        }
        // Sound: the set is the library's own, empty as it is made, and freed here and nowhere else.
        guard let none = unsafe cap_init() else { throw .noMemory }
        defer { _ = unsafe cap_free(UnsafeMutableRawPointer(none)) }
        do throws(Errno) {
            _ = try SystemCall.run { unsafe cap_set_proc(none) }
        } catch {
            // A filter of system calls may refuse it, as the service's does. A program of a user who is not root then has
            // the inheritable set left, and of that no capability: its file may give it none.
            guard error == .notPermitted, geteuid() != 0 else { throw error }
        }
    }

    /// Lets no program that the thread starts have more privileges than the thread, whatever the program's file says.
    ///
    /// The corresponding C function is `prctl` (PR_SET_NO_NEW_PRIVS).
    package static func refuseGains() throws(Errno) {
        _ = try SystemCall.run { blewedge_prctl(PR_SET_NO_NEW_PRIVS, 1, 0) }
    }
}
