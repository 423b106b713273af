// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
package import SystemPackage

/// A lock that one process has at a time, for as long as it lives: a locked file with the process's number in it.
///
/// The lock ends with the process, however that ends; the file stays, and means nothing without the lock.
package struct LockFile: ~Copyable {
    private let file: Descriptor

    /// Locks the file, which is made where it is not there.
    ///
    /// Throws `wouldBlock` where another process has it. The corresponding C function is `flock`.
    package init(_ path: FilePath) throws(Errno) {
        let opened = try Descriptor.open(path.string, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: 0o644)
        let number = opened.number
        _ = try SystemCall.run { flock(number, LOCK_EX | LOCK_NB) }
        _ = try SystemCall.run { ftruncate(number, 0) }
        let text = Array("\(ProcessFacts.number)\n".utf8)
        _ = try unsafe opened.write(text.span.bytes)
        file = opened
    }

    /// The process that has the file locked; nil where none has, and 0 where it does not say who it is.
    package static func holder(_ path: FilePath) -> Int32? {
        guard let file = try? Descriptor.open(path.string, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return nil }
        let number = file.number
        do throws(Errno) {
            // A lock for readers, given back as the file is closed at once.
            _ = try SystemCall.run { flock(number, LOCK_SH | LOCK_NB) }
            return nil
        } catch {
            guard error == .wouldBlock else { return nil }
            return FileSystem.line(of: path.string).flatMap { Int32($0) } ?? 0
        }
    }
}
