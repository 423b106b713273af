// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc

/// The identity of this process, and its environment.
package enum ProcessFacts {
    /// The value of an environment variable; nil where it is not set, or empty.
    ///
    /// The corresponding C function is `getenv`.
    package static func environment(_ name: String) -> String? {
        // Sound: the text is copied at once, and the product never changes its environment.
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// The effective user.
    ///
    /// The corresponding C function is `geteuid`.
    package static var user: UInt32 { geteuid() }

    /// This process's number.
    ///
    /// The corresponding C function is `getpid`.
    package static var number: Int32 { getpid() }
}
