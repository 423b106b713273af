// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

// Files that only trusted users can change.

extension FileSystem {
    /// A file or directory that another user can write to or replace.
    package struct Exposure: Equatable, Sendable {
        package var path: String
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

    /// Makes sure that a directory belongs to this process's user, and that nobody else may do anything in it; true where
    /// it had to be tightened.
    ///
    /// Throws `notPermitted` for another user's. Root takes the service's user for itself. The corresponding C functions
    /// are `open`, `fstat` and `fchmod`.
    package static func keepPrivate(directory: FilePath, service: String) throws(Errno) -> Bool {
        let opened = try Descriptor.open(directory.string, O_RDONLY | O_DIRECTORY)
        return try opened.keepPrivate(service: service)
    }

    /// The bytes of a private file, at most `limit`; and whether it had to be tightened.
    ///
    /// Throws `notPermitted` for another user's, `fileTooLarge` for a longer one, `tooManySymbolicLinkLevels` (ELOOP) for a
    /// symbolic link, `tooManyLinks` (EMLINK) for a file with a second name, `invalidArgument` for what is no regular file. The corresponding C functions are `open`, `fstat`, `fchmod` and `read`.
    package static func privateContents(
        of path: FilePath,
        limit: Int,
        service: String
    ) throws(Errno) -> (bytes: [UInt8], isTightened: Bool) {
        let file = try Descriptor.open(path.string, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        try file.checkRegular()
        let isTightened = try file.keepPrivate(service: service)
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case .done(let count) = try file.read(into: &buffer), count > 0 {
            guard contents.count + count <= limit else { throw .fileTooLarge }
            contents += buffer.prefix(count)
        }
        return (contents, isTightened)
    }

    /// The bytes of a regular file, at most `limit`, with its owner and the rights to it as chmod(1) has them, all of the
    /// same opened file.
    ///
    /// Throws `invalidArgument` for what is no regular file, `fileTooLarge` for a longer one. The corresponding C functions
    /// are `open`, `fstat` and `read`.
    package static func contentsAndRights(
        of path: FilePath,
        limit: Int
    ) throws(Errno) -> (bytes: [UInt8], owner: UInt32, mode: UInt32) {
        let file = try Descriptor.open(path.string, O_RDONLY | O_NONBLOCK)
        var status = stat()
        let number = file.number
        // Sound: the kernel fills the structure that the call is for.
        _ = try SystemCall.run { unsafe fstat(number, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .invalidArgument }
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case .done(let count) = try file.read(into: &buffer), count > 0 {
            guard contents.count + count <= limit else { throw .fileTooLarge }
            contents += buffer.prefix(count)
        }
        return (contents, status.st_uid, status.st_mode & 0o7777)
    }
}

// Files that nobody else may read.

extension Descriptor {
    /// Throws for what is no regular file, or has a second name, by which another directory's users reach it.
    fileprivate func checkRegular() throws(Errno) {
        var status = stat()
        let number = number
        // Sound: the kernel fills the structure that the call is for.
        _ = try SystemCall.run { unsafe fstat(number, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .invalidArgument }
        guard status.st_nlink == 1 else { throw .tooManyLinks }
    }

    /// Takes the permissions of group and others away, if they have any, from what this process's user owns.
    fileprivate func keepPrivate(service: String) throws(Errno) -> Bool {
        var status = stat()
        let number = number
        // Sound: the kernel fills the structure that the call is for.
        _ = try SystemCall.run { unsafe fstat(number, &status) }
        guard Self.isTrusted(status.st_uid, service: service) else { throw .notPermitted }
        guard status.st_mode & 0o077 != 0 else { return false }
        let mode = status.st_mode & 0o700
        _ = try SystemCall.run { fchmod(number, mode) }
        return true
    }

    private static func isTrusted(_ owner: UInt32, service: String) -> Bool {
        if owner == geteuid() { return true }
        return geteuid() == 0 && AccountFiles().user(named: service)?.number == owner
    }
}
