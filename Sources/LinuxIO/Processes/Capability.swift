// SPDX-License-Identifier: GPL-2.0-or-later

import CCapability
import CLinux

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

    /// True where the program's file grants it to whoever starts the program.
    ///
    /// The corresponding C functions are `cap_get_file` and `cap_get_flag`.
    package var isGrantedByFile: Bool { unsafe isSet(CAP_PERMITTED, in: cap_get_file("/proc/self/exe")) }

    /// True where a set has it; the set is freed.
    private func isSet(_ flag: cap_flag_t, in set: cap_t?) -> Bool {
        let number: Int32 =
            switch self {
            case .networkAdministration: CAP_NET_ADMIN
            case .rawNetwork: CAP_NET_RAW
            }
        // Sound: the set is the library's own, freed here and nowhere else.
        guard let set = unsafe set else { return false }
        defer { _ = unsafe cap_free(UnsafeMutableRawPointer(set)) }
        var value = CAP_CLEAR
        guard unsafe cap_get_flag(set, cap_value_t(number), flag, &value) == 0 else { return false }
        return value == CAP_SET
    }

    /// The capabilities that this process lacks.
    package static var missing: [Capability] { allCases.filter { !$0.isEffective } }
}
