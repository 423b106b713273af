// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

extension FileSystem {
    /// The user that owns the file at the path; nil where there is none.
    ///
    /// The corresponding C function is `stat`.
    package static func owner(of path: String) -> UInt32? {
        var status = stat()
        // Sound: the kernel fills the structure that the call is for.
        return unsafe stat(path, &status) == 0 ? status.st_uid : nil
    }

    /// What changes with every change of a file: which file it is, its length, and when it was changed.
    package struct Mark: Equatable, Sendable {
        var device: UInt64
        var number: UInt64
        var length: Int64
        var seconds: Int64
        var nanoseconds: Int64
    }

    /// The mark of the file at the path; nil where there is none.
    ///
    /// The corresponding C function is `stat`.
    package static func mark(of path: String) -> Mark? {
        var status = stat()
        // Sound: the kernel fills the structure that the call is for.
        guard unsafe stat(path, &status) == 0 else { return nil }
        return Mark(
            device: UInt64(status.st_dev),
            number: UInt64(status.st_ino),
            length: Int64(status.st_size),
            seconds: Int64(status.st_ctim.tv_sec),
            nanoseconds: Int64(status.st_ctim.tv_nsec)
        )
    }

    /// Gives the file at the path to a user and to that user's group; throws `noSuchFileOrDirectory` for an unknown
    /// user.
    ///
    /// The corresponding C function is `chown`.
    package static func give(_ path: FilePath, toUserNamed name: String) throws(Errno) {
        guard let user = AccountFiles().user(named: name) else { throw .noSuchFileOrDirectory }
        // Sound: the path outlives the call.
        _ = try SystemCall.run { unsafe chown(path.string, user.number, user.group) }
    }

    /// The user that owns the file at the path, and the rights to it as chmod(1) has them; nil where there is none.
    ///
    /// The corresponding C function is `stat`.
    package static func ownerAndMode(of path: String) -> (owner: UInt32, mode: UInt32)? {
        var status = stat()
        // Sound: the kernel fills the structure that the call is for.
        return unsafe stat(path, &status) == 0 ? (status.st_uid, status.st_mode & 0o7777) : nil
    }

    /// Gives the file at the path to root alone, as the kernel makes devices.
    ///
    /// The corresponding C functions are `chown` and `chmod`.
    package static func giveToRoot(_ path: FilePath) throws(Errno) {
        // Sound: both paths outlive their calls.
        _ = try SystemCall.run { unsafe chown(path.string, 0, 0) }
        _ = try SystemCall.run { unsafe chmod(path.string, 0o600) }
    }

    /// The target of a symbolic link; nil for anything else.
    ///
    /// The corresponding C function is `readlink`.
    package static func target(ofLink path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        // Sound: the kernel writes at most the buffer's length, and says how much.
        let count = unsafe readlink(path, &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
