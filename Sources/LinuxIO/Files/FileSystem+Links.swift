// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
package import SystemPackage

extension FileSystem {
    /// Makes a symbolic link, and the directory that it is to lie in; one that is there stays as it is.
    ///
    /// The corresponding C function is `symlink`.
    package static func makeLink(_ path: FilePath, to target: String) throws(Errno) {
        try makeDirectory(path.removingLastComponent(), mode: 0o755)
        do {
            _ = try SystemCall.run { unsafe symlink(target, path.string) }
        } catch .fileExists where self.target(ofLink: path.string) == target {
            return
        }
    }

    /// Removes a directory and the files in it; without it nothing is done, and one that has directories stays.
    ///
    /// The corresponding C functions are `unlink` and `rmdir`.
    package static func removeDirectory(_ path: FilePath) throws(Errno) {
        for name in names(in: path.string) + names(in: path.string, hidden: true) where name != "." && name != ".." {
            _ = unsafe unlink(path.appending(name).string)
        }
        do {
            _ = try SystemCall.run { unsafe rmdir(path.string) }
        } catch .noSuchFileOrDirectory {
            return
        }
    }
}
