// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
package import SystemPackage

extension Process {
    /// Opens /dev/null in the place of each standard stream that is closed, or that is not open in its direction.
    ///
    /// To be called before anything else is opened: another descriptor would get the stream's number, and what is written for
    /// people would go there. Programs that are run later inherit it. Throws where there is no /dev/null. The corresponding C
    /// functions are `fcntl(F_GETFL)`, `open` and `dup2`.
    package static func openStandardStreams() throws(Errno) {
        for (number, unusable) in [(Int32(0), O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)] {
            let flags = blewedge_status_flags(number)
            guard flags == -1 || flags & O_ACCMODE == unusable else { continue }
            // The lowest number that is free: the stream's own where that was closed.
            let opened = try SystemCall.run { unsafe blewedge_open("/dev/null", O_RDWR, 0) }
            guard opened != number else { continue }
            _ = try SystemCall.run { dup2(opened, number) }
            _ = close(opened)
        }
    }
}
