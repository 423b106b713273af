// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// A lock that at most one process holds, until it removes the lock or ends: a locked file, and a file beside it with
/// the process's number.
///
/// The kernel releases the lock when the process ends for any reason; without the lock the files have no meaning.
/// Only the owner may open the locked file, so that no other user can lock it; every user may read the file beside
/// it.
package struct LockFile: ~Copyable {
    private let file: Descriptor
    private let path: FilePath
    /// True if the previous owner ended without calling `remove`, and for an inherited lock.
    package let isAbandoned: Bool

    /// Locks the file, after creating it if it does not exist.
    ///
    /// Throws `wouldBlock` if another process holds the lock, `notPermitted` if the file belongs to another user or
    /// has a second name. Root gives the file to the directory's owner, who can then open it if root's process is
    /// killed. The corresponding C functions are `flock`, `fstat`, `fchmod` and `fchown`.
    package init(_ path: FilePath) throws(Errno) {
        let directory = path.removingLastComponent()
        let folder = try Descriptor.open(directory.isEmpty ? "." : directory.string, O_RDONLY | O_DIRECTORY)
        while true {
            let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK
            let opened = try Descriptor.open(path.string, flags, mode: Self.mode)
            try Self.lock(opened)
            // The previous owner may have removed the file meanwhile; the locked file then is no longer the one at
            // the path.
            guard Self.isFile(opened, at: path) else { continue }
            guard try opened.isUnshared(in: folder) else { throw .notPermitted }
            let number = opened.number
            // Earlier versions created the file with permissions that let every user lock it.
            _ = try SystemCall.run { fchmod(number, Self.mode) }
            try opened.giveToOwner(of: folder)
            self.init(locked: opened, path)
            return
        }
    }

    /// Takes over a lock that `keepOpen` has left open across exec; nil if there is none (C: `readlink` of
    /// /proc/self/fd, and `flock`).
    package init?(inherited number: Int32) {
        guard let target = FileSystem.target(ofLink: "/proc/self/fd/\(number)"), number > 2 else { return nil }
        let path = FilePath(target)
        let inherited = Descriptor(owning: number)
        guard Self.isFile(inherited, at: path), blewedge_set_inherited(number, 0) == 0 else { return nil }
        guard (try? Self.lock(inherited)) != nil else { return nil }
        self.init(locked: inherited, path)
    }

    private init(locked file: consuming Descriptor, _ path: FilePath) {
        self.file = file
        self.path = path
        isAbandoned = Self.named(path) != nil
        // Best effort: the lock works without it, but its owner cannot be reported.
        let text = Array("\(ProcessFacts.number)\n".utf8)
        try? FileSystem.replace(Self.note(path), with: text, mode: 0o644, isDurable: false)
    }

    /// Releases the lock and removes its files.
    package consuming func remove() {
        // While the file is still locked: a process that has opened it and waits for the lock detects the removal.
        _ = unsafe unlink(Self.note(path).string)
        if Self.isFile(file, at: path) { _ = unsafe unlink(path.string) }
    }

    /// Keeps the lock open for the program that replaces this one by exec; returns its number for `init(inherited:)`
    /// (C: `fcntl(F_SETFD)`).
    package borrowing func keepOpen() -> Int32 {
        _ = blewedge_set_inherited(file.number, 1)
        return file.number
    }

    package borrowing func isLock(at path: FilePath) -> Bool { Self.isFile(file, at: path) }

    /// Returns the process that holds the lock; nil if there is none, and 0 if its number is unknown.
    ///
    /// A file that this process may not open counts as locked while the process named beside it is alive, or if none
    /// is named there. The corresponding C functions are `flock` and `kill`.
    package static func holder(_ path: FilePath) -> Int32? {
        do throws(Errno) {
            let file = try Descriptor.open(path.string, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            let number = file.number
            // A shared lock, released at once because the file is closed.
            _ = try SystemCall.run(CallSite(.file, .flock)) { flock(number, LOCK_SH | LOCK_NB) }
            return nil
        } catch .wouldBlock {
            return named(path) ?? 0
        } catch .permissionDenied {
            guard let process = named(path) else { return 0 }
            return isAlive(process) ? process : nil
        } catch {
            return nil
        }
    }

    /// Permissions of the locked file: for its owner only.
    private static let mode: UInt32 = 0o600

    /// Returns the path of the file beside the lock, which has the process's number.
    private static func note(_ path: FilePath) -> FilePath { FilePath(path.string + ".pid") }

    private static func named(_ path: FilePath) -> Int32? {
        FileSystem.line(of: note(path).string).flatMap { Int32($0) }.flatMap { $0 > 0 ? $0 : nil }
    }

    private static func lock(_ file: borrowing Descriptor) throws(Errno) {
        let number = file.number
        _ = try SystemCall.run(CallSite(.file, .flock)) { flock(number, LOCK_EX | LOCK_NB) }
    }

    private static func isFile(_ file: borrowing Descriptor, at path: FilePath) -> Bool {
        var (opened, found) = (stat(), stat())
        // Sound: the kernel fills the structures that the calls are for.
        guard unsafe fstat(file.number, &opened) == 0, unsafe lstat(path.string, &found) == 0 else { return false }
        return opened.st_dev == found.st_dev && opened.st_ino == found.st_ino
    }

    /// Returns true if the process exists, whichever user it belongs to.
    static func isAlive(_ process: Int32) -> Bool {
        do throws(Errno) {
            _ = try SystemCall.run { kill(process, 0) }
            return true
        } catch {
            return error != .noSuchProcess
        }
    }
}

extension Descriptor {
    /// Returns true for a regular file with one name that belongs to this process's user or to the directory's owner
    /// (C: `fstat`).
    fileprivate func isUnshared(in directory: borrowing Descriptor) throws(Errno) -> Bool {
        var (file, folder) = (stat(), stat())
        let (number, folderNumber) = (number, directory.number)
        // Sound: the kernel fills the structures that the calls are for.
        _ = try SystemCall.run { unsafe fstat(number, &file) }
        _ = try SystemCall.run { unsafe fstat(folderNumber, &folder) }
        return file.st_mode & S_IFMT == S_IFREG && file.st_nlink == 1
            && (file.st_uid == geteuid() || file.st_uid == folder.st_uid)
    }
}

/// Exclusive access to a directory while a file in it is read and rewritten: another process waits, up to a time limit.
///
/// The lock is a `LockFile` in the directory, which no other user can open; every user who may read the directory
/// could lock the directory itself.
package enum DirectoryLock {
    /// The reason why the lock was not obtained.
    package enum Failure: Error, Equatable, Sendable {
        /// Another process, 0 if unknown, held the lock until the time limit.
        case held(FilePath, by: Int32)
        /// SIGINT or SIGTERM came while another process, 0 if unknown, held the lock.
        case interrupted(FilePath, by: Int32, signal: Int32)
        /// The lock file cannot be made or opened.
        case failed(Errno)
    }

    /// Pause between two attempts, in milliseconds.
    private static let pause = 10
    /// Attempts before the lock is given up: 5 s.
    private static let attempts = 500

    package static func file(in directory: FilePath) -> FilePath { directory.appending(".lock") }

    /// Runs `body` while holding the lock of an existing directory; `refused` maps the error if the lock is not
    /// obtained.
    ///
    /// SIGINT and SIGTERM end the wait, even if they are blocked; then they stay pending.
    package static func hold<Value, Refusal: Error>(
        _ directory: FilePath,
        refused: (Failure) -> Refusal,
        _ body: () throws(Refusal) -> Value
    ) throws(Refusal) -> Value {
        let lock: LockFile
        do throws(Failure) {
            lock = try obtain(file(in: directory))
        } catch {
            throw refused(error)
        }
        let result = Result { () throws(Refusal) in try body() }
        lock.remove()
        return try result.get()
    }

    private static func obtain(_ path: FilePath) throws(Failure) -> LockFile {
        for _ in 0..<attempts {
            do throws(Errno) {
                return try LockFile(path)
            } catch .wouldBlock {
                if let signal = sleep() {
                    throw .interrupted(path, by: LockFile.holder(path) ?? 0, signal: signal)
                }
            } catch {
                throw .failed(error)
            }
        }
        throw .held(path, by: LockFile.holder(path) ?? 0)
    }

    /// Sleeps for a pause; returns the signal that ended it or is pending, nil for none (C: `sigpending`).
    private static func sleep() -> Int32? {
        // Without signalfd the signals are not blocked, and a handler runs (EventLoop).
        guard SystemThread.sleep(milliseconds: pause) else { return SIGINT }
        var pending = sigset_t()
        // Sound: the set is a local that outlives each call.
        guard unsafe sigpending(&pending) == 0 else { return nil }
        return [SIGINT, SIGTERM].first { unsafe sigismember(&pending, $0) == 1 }
    }
}
