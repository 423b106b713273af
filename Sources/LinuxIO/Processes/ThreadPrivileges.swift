// SPDX-License-Identifier: GPL-2.0-or-later

import CCapability
import CLinux
import Glibc
package import SystemPackage

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
