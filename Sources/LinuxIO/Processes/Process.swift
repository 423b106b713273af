// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// Settings of the whole process.
package enum Process {
    /// Makes writes to a closed pipe fail with EPIPE instead of ending the process.
    ///
    /// The corresponding C function is `signal`.
    package static func ignoreBrokenPipes() {
        blewedge_ignore_signal(SIGPIPE)
    }

    /// Leaves the owner of a new file or directory its permissions, whatever mask the process was started with: a directory
    /// that was made under 0177 could not be entered.
    ///
    /// To be called before anything is made. The corresponding C function is `umask`.
    package static func keepOwnersPermissions() { _ = umask(umask(0o077) & 0o077) }

    /// Refuses core dumps, and keeps this process's memory from other processes of its user: no ptrace(2), no /proc/PID/mem.
    ///
    /// A program that takes this one's place has to ask again. The corresponding C function is `prctl` (PR_SET_DUMPABLE).
    package static func refuseInspection() throws(Errno) {
        _ = try SystemCall.run { blewedge_prctl(PR_SET_DUMPABLE, 0, 0) }
    }

    /// Runs this program anew in this process, with the same arguments and these variables in its environment.
    ///
    /// The corresponding C functions are `setenv` and `execv`.
    package static func replaceBySelf(telling variables: [(name: String, value: String)]) throws(Errno) {
        let arguments = CommandLine.arguments
        // Sound: no other thread reads the environment any more, and the copies live until the program is another.
        for variable in variables { _ = unsafe setenv(variable.name, variable.value, 1) }
        var pointers = unsafe arguments.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer { unsafe pointers.forEach { unsafe free($0) } }
        _ = try SystemCall.run { unsafe execv("/proc/self/exe", &pointers) }
    }

    /// Lets the kernel take back the pages of the program's file that only its beginning has needed, most of it all.
    ///
    /// They stay in the page cache; what is touched again is mapped again. The corresponding C functions are
    /// `dl_iterate_phdr` and `madvise` (MADV_DONTNEED).
    package static func giveBackStartupPages() { blewedge_give_back_startup_pages() }

    /// Ends the process at once.
    package static func exit(_ code: Int32) -> Never {
        CLinux._exit(code)
    }
}
