// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// A lock that only one process can hold, until it removes the lock or ends.
///
/// The lock consists of a locked file, and a file next to it that contains the process's number. The kernel releases
/// the lock when the process ends for any reason; if the file is not locked, the two files have no meaning. Only the
/// owner may open the locked file, so that no other user can lock it; every user may read the file next to it.
package struct LockFile: ~Copyable {
    private let file: Descriptor
    private let path: FilePath
    /// True if the previous owner ended without calling `remove`; always true for an inherited lock.
    package let isAbandoned: Bool

    /// Locks the file, after creating it if it does not exist.
    ///
    /// Throws `wouldBlock` if another process holds the lock, `notPermitted` if the file belongs to another user or has
    /// more than one hard link. If this process is root, the file is given to the directory's owner, who can then open
    /// it if this process is killed. The corresponding C functions are `flock`, `fstat`, `fchmod` and `fchown`.
    package init(_ path: FilePath) throws(Errno) {
        let directory = path.removingLastComponent()
        let folder = try Descriptor.open(directory.isEmpty ? "." : directory.string, O_RDONLY | O_DIRECTORY)
        while true {
            let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK
            let opened = try Descriptor.open(path.string, flags, mode: Self.mode)
            try Self.lock(opened)
            // Try again if the previous owner has removed the file in the meantime, because then the locked file is no
            // longer at the path.
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

    /// Takes over a lock that `keepOpen` has kept open across exec; returns nil if there is no such lock.
    ///
    /// The corresponding C functions are `readlink` of /proc/self/fd, and `flock`.
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
        // Remove the files while the lock is held: a process that has already opened the file and waits for the lock
        // detects the removal.
        _ = unsafe unlink(Self.note(path).string)
        if Self.isFile(file, at: path) { _ = unsafe unlink(path.string) }
    }

    /// Keeps the lock open for the program that replaces this one by exec (C: `fcntl(F_SETFD)`).
    ///
    /// Returns the descriptor's number, which that program passes to `init(inherited:)`.
    package borrowing func keepOpen() -> Int32 {
        _ = blewedge_set_inherited(file.number, 1)
        return file.number
    }

    package borrowing func isLock(at path: FilePath) -> Bool { Self.isFile(file, at: path) }

    /// Returns the number of the process that holds the lock; nil if the lock is free, 0 if the number is unknown.
    ///
    /// If this process may not open the file, it counts as locked while the process named in the file next to it is
    /// alive, or if no process is named there. The corresponding C functions are `flock` and `kill`.
    package static func holder(_ path: FilePath) -> Int32? {
        do throws(Errno) {
            let file = try Descriptor.open(path.string, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            let number = file.number
            // Try a shared lock, which is released immediately because the file is closed.
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

    /// Permissions of the locked file: access only for its owner.
    private static let mode: UInt32 = 0o600

    /// Returns the path of the file next to the lock, which contains the process's number.
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
        // Sound: the kernel fills structures of these types, which outlive the calls.
        guard unsafe fstat(file.number, &opened) == 0, unsafe lstat(path.string, &found) == 0 else { return false }
        return opened.st_dev == found.st_dev && opened.st_ino == found.st_ino
    }

    /// Returns true if the process exists, regardless of its user.
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
    /// Returns true for a regular file with one hard link that belongs to this process's user or to the directory's
    /// owner (C: `fstat`).
    fileprivate func isUnshared(in directory: borrowing Descriptor) throws(Errno) -> Bool {
        var (file, folder) = (stat(), stat())
        let (number, folderNumber) = (number, directory.number)
        // Sound: the kernel fills structures of these types, which outlive the calls.
        _ = try SystemCall.run { unsafe fstat(number, &file) }
        _ = try SystemCall.run { unsafe fstat(folderNumber, &folder) }
        return file.st_mode & S_IFMT == S_IFREG && file.st_nlink == 1
            && (file.st_uid == geteuid() || file.st_uid == folder.st_uid)
    }
}

/// Exclusive access to a directory while a file in it is read and rewritten; other processes wait, up to a time limit.
///
/// The lock is a `LockFile` in the directory, which no other user can open. The directory itself is not locked, because
/// every user who may read it could lock it.
package enum DirectoryLock {
    /// The reason why the lock was not obtained.
    package enum Failure: Error, Equatable, Sendable {
        /// Another process (number 0 if unknown) held the lock until the time limit.
        case held(FilePath, by: Int32)
        /// SIGINT or SIGTERM arrived while another process (number 0 if unknown) held the lock.
        case interrupted(FilePath, by: Int32, signal: Int32)
        /// The lock file cannot be created or opened.
        case failed(Errno)
    }

    /// Pause between two attempts, in milliseconds.
    private static let pause = 10
    /// Number of attempts to get the lock, which last 5 s in total.
    private static let attempts = 500

    package static func file(in directory: FilePath) -> FilePath { directory.appending(".lock") }

    /// Runs `body` while holding the lock of an existing directory.
    ///
    /// If the lock is not obtained, `refused` converts the failure to the error that is thrown. SIGINT and SIGTERM end
    /// the wait, even if they are blocked; in that case they stay pending.
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

    /// Sleeps for `pause`; returns the signal that ended the sleep or is pending, or nil (C: `sigpending`).
    private static func sleep() -> Int32? {
        // On a kernel without signalfd, the signals are not blocked, and a handler interrupts the sleep (`EventLoop`).
        guard SystemThread.sleep(milliseconds: pause) else { return SIGINT }
        var pending = sigset_t()
        // Sound: the set is a local variable that outlives each call.
        guard unsafe sigpending(&pending) == 0 else { return nil }
        return [SIGINT, SIGTERM].first { unsafe sigismember(&pending, $0) == 1 }
    }
}
