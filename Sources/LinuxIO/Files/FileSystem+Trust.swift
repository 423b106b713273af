// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

// Files that only trusted users can change.

extension FileSystem {
    /// A file or directory that another user can write to or replace.
    package struct Exposure: Equatable, Sendable {
        /// The path.
        package var path: String
        /// The owner.
        package var owner: UInt32
        /// The permissions, as chmod(1) has them.
        package var mode: UInt32
        /// True where the owner is the other user, and not the permissions the reason.
        package var isForeign: Bool
    }

    /// The first of an existing file and the directories above it, links resolved or not, that another user can write to or
    /// replace; nil if there is none.
    ///
    /// Root and `trusted` are no other users. A group that has no member but the owner may write, as sshd(8) on Debian has it;
    /// a directory with the sticky bit may be anybody's to write, but not the last one of `path`. The corresponding C functions are
    /// `realpath` and `stat`.
    package static func exposure(of path: FilePath, trusted: Set<UInt32>) -> Exposure? {
        guard let real = realPath(path.string) else { return nil }
        let accounts = AccountFiles()
        for leaf in [path, FilePath(real)] {
            if let exposure = exposure(at: leaf.string, trusted, accounts, isLeaf: true) { return exposure }
            var directory = leaf.removingLastComponent()
            while !directory.isEmpty {
                if let exposure = exposure(at: directory.string, trusted, accounts, isLeaf: false) { return exposure }
                let above = directory.removingLastComponent()
                guard above != directory else { break }
                directory = above
            }
        }
        return nil
    }

    private static func exposure(
        at path: String,
        _ trusted: Set<UInt32>,
        _ accounts: AccountFiles,
        isLeaf: Bool
    ) -> Exposure? {
        var status = stat()
        // Sound: the kernel fills the structure that the call is for.
        guard unsafe stat(path, &status) == 0 else { return nil }
        let (owner, mode) = (status.st_uid, status.st_mode & 0o7777)
        guard owner == 0 || trusted.contains(owner) else {
            return Exposure(path: path, owner: owner, mode: mode, isForeign: true)
        }
        let isSticky = !isLeaf && mode & 0o1000 != 0
        let isGroups = mode & 0o020 != 0 && !accounts.isPrivate(group: status.st_gid, of: owner)
        guard !isSticky, isGroups || mode & 0o002 != 0 else { return nil }
        return Exposure(path: path, owner: owner, mode: mode, isForeign: false)
    }

    /// The path without links; nil where there is no such file.
    private static func realPath(_ path: String) -> String? {
        // Sound: the C library's text is copied, and freed here and nowhere else.
        guard let text = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }
}
