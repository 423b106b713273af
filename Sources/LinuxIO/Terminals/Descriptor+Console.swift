// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import SystemPackage

extension Descriptor {
    /// Opens a virtual terminal to be asked about itself, not to be read.
    ///
    /// Asking needs no right to read what is typed there: members of the group tty may open a terminal for writing only.
    static func terminal(_ path: String) throws(Errno) -> Descriptor {
        do {
            return try open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
        } catch .permissionDenied {
            return try open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK)
        }
    }
}
