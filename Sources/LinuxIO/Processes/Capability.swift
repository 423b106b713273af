// SPDX-License-Identifier: GPL-2.0-or-later

import CCapability
import CLinux
import Synchronization
package import SystemPackage

/// The capabilities that the product needs of the kernel.
package enum Capability: String, Sendable, CaseIterable {
    /// Powers adapters and changes their settings.
    case networkAdministration = "CAP_NET_ADMIN"
    /// Sends HCI commands and sees all events.
    case rawNetwork = "CAP_NET_RAW"

    /// True where this process has it in its effective set.
    ///
    /// The corresponding C functions are `cap_get_proc` and `cap_get_flag`.
    package var isEffective: Bool { unsafe isSet(CAP_EFFECTIVE, in: cap_get_proc()) }

    /// True where this process has it, be it held back.
    ///
    /// The corresponding C functions are `cap_get_proc` and `cap_get_flag`.
    package var isPermitted: Bool { unsafe isSet(CAP_PERMITTED, in: cap_get_proc()) }

    /// True where the program's file grants it to whoever starts the program.
    ///
    /// The corresponding C functions are `cap_get_file` and `cap_get_flag`.
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

    /// The capabilities that this process lacks.
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

    /// Makes a call with those of the capabilities effective that are permitted, in the calling thread alone.
    ///
    /// The corresponding C function is `cap_set_proc`.
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
