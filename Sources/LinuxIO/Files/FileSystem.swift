// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// Functions for the product's files, which are small, and are read and written as a whole, up to a size limit.
package enum FileSystem {
    /// Returns the sorted names in a directory, or an empty array if the directory cannot be read.
    ///
    /// If `hidden` is false, names that begin with a dot are omitted; if it is true, only such names are returned. The
    /// corresponding C functions are `opendir` and `readdir`.
    package static func names(in directory: String, hidden: Bool = false) -> [String] {
        // Sound: the stream is closed before the function returns, and each entry is copied before the next is read.
        guard let stream = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix(".") == hidden { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns the bytes of a file; throws `fileTooLarge` if it is longer than `limit` (C: `open` and `read`).
    package static func contents(of path: String, limit: Int) throws(Errno) -> [UInt8] {
        let file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case .done(let count) = try file.read(into: &buffer), count > 0 {
            guard contents.count + count <= limit else { throw .fileTooLarge }
            contents += buffer.prefix(count)
        }
        return contents
    }

    /// Returns the bytes of a text file without the byte order mark that Windows editors add; throws `fileTooLarge` if
    /// it is longer than `limit`.
    package static func textContents(of path: String, limit: Int) throws(Errno) -> [UInt8] {
        let text = withoutByteOrderMark(try contents(of: path, limit: limit + byteOrderMark.count))
        guard text.count <= limit else { throw .fileTooLarge }
        return text
    }

    /// Returns the bytes of a text without the byte order mark with which it may begin.
    package static func withoutByteOrderMark(_ bytes: [UInt8]) -> [UInt8] {
        bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(byteOrderMark.count)) : bytes
    }

    /// U+FEFF in UTF-8.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the first line of a small file, such as a file in sysfs, without leading spaces; nil if the file cannot
    /// be read.
    package static func line(of path: String) -> String? {
        guard let bytes = try? contents(of: path, limit: 4096) else { return nil }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }.drop { $0 == UInt8(ascii: " ") }
        return String(decoding: line, as: UTF8.self)
    }

    /// Returns true if there is a file of any kind at the path (C: `access`).
    package static func exists(_ path: String) -> Bool {
        unsafe access(path, F_OK) == 0
    }

    /// Returns true if this process may execute the file at the path (C: `access`).
    package static func isExecutable(_ path: String) -> Bool {
        unsafe access(path, X_OK) == 0
    }

    /// Creates a symbolic link, and its directory if necessary; does nothing if the same link exists (C: `symlink`).
    package static func makeLink(_ path: FilePath, to target: String) throws(Errno) {
        try makeDirectory(path.removingLastComponent(), mode: 0o755)
        do {
            _ = try SystemCall.run { unsafe symlink(target, path.string) }
        } catch .fileExists where self.target(ofLink: path.string) == target {
            return
        }
    }

    /// Removes a directory and the files in it; does nothing if it does not exist, and throws if it contains
    /// directories (C: `unlink` and `rmdir`).
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

    /// Returns the user that owns the file at the path; nil if the file does not exist (C: `stat`).
    package static func owner(of path: String) -> UInt32? {
        var status = stat()
        // Sound: the kernel fills a structure of this type, which outlives the call.
        return unsafe stat(path, &status) == 0 ? status.st_uid : nil
    }

    /// Values that identify a version of a file: at least one of them differs after any change.
    ///
    /// They are the device and inode numbers, the length, and the time of the last change.
    package struct Mark: Equatable, Sendable {
        var device: UInt64
        var number: UInt64
        var length: Int64
        var seconds: Int64
        var nanoseconds: Int64
    }

    /// Returns the mark of the file at the path; nil if the file does not exist (C: `stat`).
    package static func mark(of path: String) -> Mark? {
        var status = stat()
        // Sound: the kernel fills a structure of this type, which outlives the call.
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
    /// user (C: `chown`).
    package static func give(_ path: FilePath, toUserNamed name: String) throws(Errno) {
        guard let user = AccountFiles().user(named: name) else { throw .noSuchFileOrDirectory }
        // Sound: the path outlives the call.
        _ = try SystemCall.run { unsafe chown(path.string, user.number, user.group) }
    }

    /// Returns the owner of the file at the path, and its permissions as in chmod(1); nil if the file does not exist
    /// (C: `stat`).
    package static func ownerAndMode(of path: String) -> (owner: UInt32, mode: UInt32)? {
        var status = stat()
        // Sound: the kernel fills a structure of this type, which outlives the call.
        return unsafe stat(path, &status) == 0 ? (status.st_uid, status.st_mode & 0o7777) : nil
    }

    /// Makes the file at the path accessible only to root, like a device that the kernel creates (C: `chown` and
    /// `chmod`).
    package static func giveToRoot(_ path: FilePath) throws(Errno) {
        // Sound: both paths outlive their calls.
        _ = try SystemCall.run { unsafe chown(path.string, 0, 0) }
        _ = try SystemCall.run { unsafe chmod(path.string, 0o600) }
    }

    /// Returns the target of a symbolic link; nil for anything else (C: `readlink`).
    package static func target(ofLink path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        // Sound: the kernel writes at most the buffer's length, and returns the number of bytes written.
        let count = unsafe readlink(path, &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Creates a directory and its missing parents; `mode` applies only to the directory itself (C: `mkdir`).
    package static func makeDirectory(_ path: FilePath, mode: UInt32) throws(Errno) {
        if isDirectory(path.string) { return }
        let above = path.removingLastComponent()
        if above != path, !above.isEmpty { try makeDirectory(above, mode: 0o755) }
        do {
            _ = try SystemCall.run(CallSite(.file, .mkdir)) { unsafe mkdir(path.string, mode) }
        } catch .fileExists where isDirectory(path.string) {
            // Another process has created it in the meantime.
        }
    }

    /// Returns true if the path leads to a directory (C: `stat`).
    package static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        // Sound: the kernel fills a structure of this type, which outlives the call.
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Replaces or creates the file at the path atomically: other processes read either the old bytes or the new bytes.
    ///
    /// If this process is root, the new file belongs to the directory's owner. When the method returns, the new bytes
    /// are on the disk, unless `isDurable` is false. If it throws, the old file is unchanged, unless only the final
    /// `fsync` of the directory failed. The corresponding C functions are `open`, `write`, `fsync` and `rename`.
    package static func replace(
        _ path: FilePath,
        with bytes: [UInt8],
        mode: UInt32,
        isDurable: Bool = true
    ) throws(Errno) {
        guard let name = path.lastComponent else { throw .invalidArgument }
        let directory = path.removingLastComponent()
        let folder = try Descriptor.open(directory.isEmpty ? "." : directory.string, O_RDONLY | O_DIRECTORY)
        let prefix = ".\(name.string)."
        let temporary = directory.appending("\(prefix)\(getpid())").string
        // Remove temporary files left behind by killed processes, or by an earlier process with the same process
        // number.
        for left in names(in: directory.string, hidden: true) where left.hasPrefix(prefix) {
            guard let process = Int32(left.dropFirst(prefix.count)), process == getpid() || !LockFile.isAlive(process)
            else { continue }
            _ = unsafe unlink(directory.appending(left).string)
        }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        let file = try Descriptor.open(temporary, flags, mode: mode)
        do throws(Errno) {
            try file.writeWhole(bytes)
            try file.giveToOwner(of: folder)
            let number = file.number
            // Set the full mode, regardless of the process's umask.
            _ = try SystemCall.run { fchmod(number, mode) }
            if isDurable { _ = try SystemCall.run(CallSite(.file, .fsync)) { fsync(number) } }
            _ = try SystemCall.run(CallSite(.file, .rename)) { unsafe rename(temporary, path.string) }
        } catch {
            _ = unsafe unlink(temporary)
            throw error
        }
        if isDurable { try folder.synchronizeDirectory() }
    }

    /// Removes a file, and returns when the removal is on the disk; does nothing if the file does not exist (C:
    /// `unlink` and `fsync`).
    package static func remove(_ path: FilePath) throws(Errno) {
        do {
            _ = try SystemCall.run { unsafe unlink(path.string) }
        } catch .noSuchFileOrDirectory {
            return
        }
        let directory = path.removingLastComponent()
        let folder = try Descriptor.open(directory.isEmpty ? "." : directory.string, O_RDONLY | O_DIRECTORY)
        try folder.synchronizeDirectory()
    }
}

extension Descriptor {
    fileprivate func writeWhole(_ bytes: [UInt8]) throws(Errno) {
        var written = 0
        while written < bytes.count {
            guard case .done(let count) = try unsafe write(bytes.span.extracting(written...).bytes), count > 0 else {
                throw .ioError
            }
            written += count
        }
    }

    /// Gives the file to the directory's owner if this process runs as root and the directory does not belong to root.
    func giveToOwner(of directory: borrowing Descriptor) throws(Errno) {
        var status = stat()
        let (file, folder) = (number, directory.number)
        // Sound: the kernel fills a structure of this type, which outlives the call.
        _ = try SystemCall.run { unsafe fstat(folder, &status) }
        guard geteuid() == 0, status.st_uid != 0 else { return }
        let (user, group) = (status.st_uid, status.st_gid)
        _ = try SystemCall.run { fchown(file, user, group) }
    }

    /// Flushes the directory's entries to the disk; does nothing on a file system that does not support this.
    fileprivate func synchronizeDirectory() throws(Errno) {
        let number = number
        do {
            _ = try SystemCall.run(CallSite(.file, .fsync)) { fsync(number) }
        } catch .invalidArgument {
            return
        }
    }
}
