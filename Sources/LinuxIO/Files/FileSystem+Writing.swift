// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

extension FileSystem {
    /// Makes a directory and those above it, where they are not there yet; `mode` is for the last one.
    ///
    /// The corresponding C function is `mkdir`.
    package static func makeDirectory(_ path: FilePath, mode: UInt32) throws(Errno) {
        if isDirectory(path.string) { return }
        let above = path.removingLastComponent()
        if above != path, !above.isEmpty { try makeDirectory(above, mode: 0o755) }
        do {
            _ = try SystemCall.run(CallSite(.file, .mkdir)) { unsafe mkdir(path.string, mode) }
        } catch .fileExists where isDirectory(path.string) {
            // Another process has made it in between.
        }
    }

    /// True where the path leads to a directory.
    ///
    /// The corresponding C function is `stat`.
    package static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        // Sound: the kernel fills the structure that the call is for.
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Puts a file with these bytes in the place of whatever was there: a reader finds the old bytes or the new, whole.
    ///
    /// The file belongs to the directory's owner. When this returns, the new bytes are on the disk, unless they need not be
    /// durable; when it throws, the old file is as it was. The corresponding C functions are `open`, `write`, `fsync` and
    /// `rename`.
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
        // Files that killed processes have left behind, one with this number among them.
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
            // The full mode, whatever the process's mask.
            _ = try SystemCall.run { fchmod(number, mode) }
            if isDurable { _ = try SystemCall.run(CallSite(.file, .fsync)) { fsync(number) } }
            _ = try SystemCall.run(CallSite(.file, .rename)) { unsafe rename(temporary, path.string) }
        } catch {
            _ = unsafe unlink(temporary)
            throw error
        }
        if isDurable { try folder.synchronizeDirectory() }
    }

    /// Removes a file, and the removal is on the disk when this returns; without a file nothing is done.
    ///
    /// The corresponding C functions are `unlink` and `fsync`.
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
    /// Writes all of the bytes to a file.
    fileprivate func writeWhole(_ bytes: [UInt8]) throws(Errno) {
        var written = 0
        while written < bytes.count {
            guard case .done(let count) = try unsafe write(bytes.span.extracting(written...).bytes), count > 0 else {
                throw .ioError
            }
            written += count
        }
    }

    /// Gives the file to the directory's owner, where this process may.
    func giveToOwner(of directory: borrowing Descriptor) throws(Errno) {
        var status = stat()
        let (file, folder) = (number, directory.number)
        // Sound: the kernel fills the structure that the call is for.
        _ = try SystemCall.run { unsafe fstat(folder, &status) }
        guard geteuid() == 0, status.st_uid != 0 else { return }
        let (user, group) = (status.st_uid, status.st_gid)
        _ = try SystemCall.run { fchown(file, user, group) }
    }

    /// Puts the directory's entries on the disk; a file system that has no such thing needs none.
    fileprivate func synchronizeDirectory() throws(Errno) {
        let number = number
        do {
            _ = try SystemCall.run(CallSite(.file, .fsync)) { fsync(number) }
        } catch .invalidArgument {
            return
        }
    }
}
