// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

// Checks that only trusted users can change a file.

extension FileSystem {
    /// A file or directory that another user can write to or replace.
    package struct Exposure: Equatable, Sendable {
        package var path: String
        package var owner: UInt32
        /// Permissions, as in chmod(1).
        package var mode: UInt32
        /// True if the file is exposed because of its owner, false if because of its permissions.
        package var isForeign: Bool
    }

    /// Returns the first part of a path that another user can write to or replace; nil if there is none.
    ///
    /// The parts are an existing file and the directories above it. The path is checked both as given and with links
    /// resolved. Root and `trusted` do not count as other users. A group may have write permission if the owner is its
    /// only member, as in sshd(8) on Debian. All users may have write permission in a directory with the sticky bit,
    /// unless it is the last component of `path`. The corresponding C functions are `realpath` and `stat`.
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
        // Sound: the kernel fills a structure of this type, which outlives the call.
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

    /// Returns the path with all symbolic links resolved; nil if the file does not exist.
    private static func realPath(_ path: String) -> String? {
        // Sound: the text that the C library allocates is copied, and only this function frees it.
        guard let text = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }

    /// Removes other users' permissions from a directory that belongs to this process's user.
    ///
    /// Returns true if other users had any. Throws `notPermitted` if the directory belongs to another user. If this
    /// process is root, the directory may also belong to the service's user. The corresponding C functions are `open`,
    /// `fstat` and `fchmod`.
    package static func keepPrivate(directory: FilePath, service: String) throws(Errno) -> Bool {
        let opened = try Descriptor.open(directory.string, O_RDONLY | O_DIRECTORY)
        return try opened.keepPrivate(service: service)
    }

    /// Returns the bytes of a private file, after removing other users' permissions.
    ///
    /// The second value is true if other users had any permissions. Throws `notPermitted` if the file belongs to
    /// another user, `fileTooLarge` if it is longer than `limit`, `tooManySymbolicLinkLevels` (ELOOP) for a symbolic
    /// link, `tooManyLinks` (EMLINK) for a file with more than one hard link, `invalidArgument` for anything but a
    /// regular file. The corresponding C functions are `open`, `fstat`, `fchmod` and `read`.
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

    /// Returns the contents, the owner and the permissions (as in chmod(1)) of a regular file, which is opened only
    /// once.
    ///
    /// Throws `invalidArgument` for anything but a regular file, `fileTooLarge` if it is longer than `limit`. The
    /// corresponding C functions are `open`, `fstat` and `read`.
    package static func contentsAndRights(
        of path: FilePath,
        limit: Int
    ) throws(Errno) -> (bytes: [UInt8], owner: UInt32, mode: UInt32) {
        let file = try Descriptor.open(path.string, O_RDONLY | O_NONBLOCK)
        var status = stat()
        let number = file.number
        // Sound: the kernel fills a structure of this type, which outlives the call.
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

// Checks and permissions of files that no other user may read.

extension Descriptor {
    /// Throws unless the file is a regular file with a single hard link.
    ///
    /// Another hard link might make the file accessible in a directory of other users.
    fileprivate func checkRegular() throws(Errno) {
        var status = stat()
        let number = number
        // Sound: the kernel fills a structure of this type, which outlives the call.
        _ = try SystemCall.run { unsafe fstat(number, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .invalidArgument }
        guard status.st_nlink == 1 else { throw .tooManyLinks }
    }

    /// Removes the permissions of the group and of all others from a file that belongs to this process's user.
    ///
    /// Returns true if they had any permissions.
    fileprivate func keepPrivate(service: String) throws(Errno) -> Bool {
        var status = stat()
        let number = number
        // Sound: the kernel fills a structure of this type, which outlives the call.
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
