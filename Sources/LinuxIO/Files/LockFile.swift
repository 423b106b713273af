// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// A lock that one process has at a time, for as long as it lives: a locked file, and a file beside it with the process's
/// number.
///
/// The lock ends with the process, however that ends; the files mean nothing without it. Only its owner may open the locked
/// file, so that nobody else can lock it; everybody may read the one beside it.
package struct LockFile: ~Copyable {
    private let file: Descriptor
    private let path: FilePath
    /// Whether the one that had the lock before had it till its end, and did not `remove` it; of one that was inherited, true.
    package let isAbandoned: Bool

    /// Locks the file, which is made where it is not there.
    ///
    /// Throws `wouldBlock` where another process has it, `notPermitted` where another user has put a file there, or a link to
    /// one. Root gives it to the directory's owner, who can open it then if root's process is killed. The corresponding C
    /// functions are `flock`, `fstat`, `fchmod` and `fchown`.
    package init(_ path: FilePath) throws(Errno) {
        let directory = path.removingLastComponent()
        let folder = try Descriptor.open(directory.isEmpty ? "." : directory.string, O_RDONLY | O_DIRECTORY)
        while true {
            let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK
            let opened = try Descriptor.open(path.string, flags, mode: Self.mode)
            try Self.lock(opened)
            // Whoever had it may have removed it meanwhile: what is locked then is no longer the file of that name.
            guard Self.isFile(opened, at: path) else { continue }
            guard try opened.isUnshared(in: folder) else { throw .notPermitted }
            let number = opened.number
            // One that an earlier version has made is everybody's to lock.
            _ = try SystemCall.run { fchmod(number, Self.mode) }
            try opened.giveToOwner(of: folder)
            self.init(locked: opened, path)
            return
        }
    }

    /// Takes over a lock that `keepOpen` has left open for the program that took this one's place; nil where there is
    /// none (C: `readlink` of /proc/self/fd, and `flock`).
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
        // Without it the lock holds all the same; only nobody learns whose it is.
        let text = Array("\(ProcessFacts.number)\n".utf8)
        try? FileSystem.replace(Self.note(path), with: text, mode: 0o644, isDurable: false)
    }

    /// Gives the lock back, and removes its files.
    package consuming func remove() {
        // While it is still locked: whoever has opened the file and waits for it sees that it is gone.
        _ = unsafe unlink(Self.note(path).string)
        if Self.isFile(file, at: path) { _ = unsafe unlink(path.string) }
    }

    /// Leaves the lock to the program that takes this one's place (exec); its number for `init(inherited:)` (C:
    /// `fcntl(F_SETFD)`).
    package borrowing func keepOpen() -> Int32 {
        _ = blewedge_set_inherited(file.number, 1)
        return file.number
    }

    package borrowing func isLock(at path: FilePath) -> Bool { Self.isFile(file, at: path) }

    /// The process that has the file locked; nil where none has, and 0 where it does not say who it is.
    ///
    /// A file that may not be opened is locked while the process lives that is named beside it, or where none is. The
    /// corresponding C functions are `flock` and `kill`.
    package static func holder(_ path: FilePath) -> Int32? {
        do throws(Errno) {
            let file = try Descriptor.open(path.string, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            let number = file.number
            // A lock for readers, given back as the file is closed at once.
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

    /// Its owner's alone.
    private static let mode: UInt32 = 0o600

    /// The file beside the lock.
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

    /// Whether there is such a process, whoever's it is.
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
    /// True for a regular file with one name that belongs to this process's user or to the directory's owner (C:
    /// `fstat`).
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
/// The lock is a `LockFile` in the directory, which no other user can open: a directory itself can be locked by whoever may
/// read it.
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

    /// Runs `body` while holding the lock of an existing directory; `refused` maps the error if the lock is not obtained.
    ///
    /// SIGINT and SIGTERM end the wait, blocked ones too, which stay pending.
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
        // Without signalfd a handler runs (EventLoop).
        guard SystemThread.sleep(milliseconds: pause) else { return SIGINT }
        var pending = sigset_t()
        // Sound: the set is a local that outlives each call.
        guard unsafe sigpending(&pending) == 0 else { return nil }
        return [SIGINT, SIGTERM].first { unsafe sigismember(&pending, $0) == 1 }
    }
}
