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
    package var isEffective: Bool {
        let number: Int32 =
            switch self {
            case .networkAdministration: CAP_NET_ADMIN
            case .rawNetwork: CAP_NET_RAW
            }
        // Sound: the set is the library's own, freed here and nowhere else.
        guard let set = unsafe cap_get_proc() else { return false }
        defer { _ = unsafe cap_free(UnsafeMutableRawPointer(set)) }
        var value = CAP_CLEAR
        guard unsafe cap_get_flag(set, cap_value_t(number), CAP_EFFECTIVE, &value) == 0 else { return false }
        return value == CAP_SET
    }

    /// The capabilities that this process lacks.
    package static var missing: [Capability] { allCases.filter { !$0.isEffective } }
}
