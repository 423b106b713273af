// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

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

    /// The lock file of a directory.
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

    /// Sleeps for a pause; returns the signal that ended it or is pending, nil for none.
    ///
    /// The corresponding C function is `sigpending`.
    private static func sleep() -> Int32? {
        // Without signalfd a handler runs (EventLoop).
        guard SystemThread.sleep(milliseconds: pause) else { return SIGINT }
        var pending = sigset_t()
        // Sound: the set is a local that outlives each call.
        guard unsafe sigpending(&pending) == 0 else { return nil }
        return [SIGINT, SIGTERM].first { unsafe sigismember(&pending, $0) == 1 }
    }
}
