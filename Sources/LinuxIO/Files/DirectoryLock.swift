// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// A lock of a directory for as long as it lives, while a file in it is read and written anew: who else asks for it waits.
///
/// It ends with the process, however that ends, and leaves nothing behind.
package struct DirectoryLock: ~Copyable {
    private let directory: Descriptor

    /// Waits for the lock of the directory, which is there.
    ///
    /// The corresponding C function is `flock`.
    package init(_ path: FilePath) throws(Errno) {
        let opened = try Descriptor.open(path.string, O_RDONLY | O_DIRECTORY)
        let number = opened.number
        _ = try SystemCall.run(CallSite(.file, .flock)) { flock(number, LOCK_EX) }
        directory = opened
    }
}
