// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import SystemPackage

extension Descriptor {
    /// Opens a virtual terminal for questions about its state, not for reading.
    ///
    /// Such questions need no right to read keys: members of the group tty may open a terminal for writing only.
    static func terminal(_ path: String) throws(Errno) -> Descriptor {
        do {
            return try open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
        } catch .permissionDenied {
            return try open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK)
        }
    }
}
