// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// A private file to which whole records are appended, through a buffer, up to a limit.
///
/// Only its owner may read it. Its contents end with a whole record, whatever fails, and hold as many as there was room
/// for.
package struct RecordFile: ~Copyable {
    private let file: Descriptor
    private let limit: Int
    /// The bytes of the file that are whole records.
    private var size: Int
    private var buffer: [UInt8]
    /// Where each record in the buffer ends; the header is the first of a new file.
    private var ends: [Int]

    /// The most bytes that wait before they are written.
    private static let bufferCapacity = 1 << 16

    /// Makes the file with `header` at its beginning, or goes on with one that has it there.
    ///
    /// Throws `fileExists` for a file that begins otherwise and for what is no regular file, `notPermitted` for another
    /// user's,
    /// `tooManySymbolicLinkLevels` (ELOOP) for a symbolic link. The corresponding C functions are `open`, `fstat` and
    /// `fchmod`.
    package init(_ path: String, header: [UInt8], limit: Int) throws(Errno) {
        let flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK
        let opened = try Descriptor.open(path, flags, mode: 0o600)
        let number = opened.number
        var status = stat()
        // Sound: the kernel fills the structure that the call is for.
        _ = try SystemCall.run { unsafe fstat(number, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .fileExists }
        // Another's could be read by its owner, whatever its mode.
        guard status.st_uid == geteuid() else { throw .notPermitted }
        if status.st_size > 0 {
            var beginning = [UInt8](repeating: 0, count: header.count)
            guard try opened.read(into: &beginning) == .done(header.count), beginning == header else {
                throw .fileExists
            }
        }
        _ = try SystemCall.run { fchmod(number, 0o600) }
        // After all that can throw: Swift 6.2 destroys twice what is set before it.
        size = Int(status.st_size)
        buffer = size == 0 ? header : []
        ends = size == 0 ? [header.count] : []
        self.limit = limit
        file = opened
    }

    package var isWaiting: Bool { !buffer.isEmpty }

    /// Takes a record; writes when enough of them wait.
    ///
    /// Throws `fileTooLarge` for one that would pass the limit.
    package mutating func append(_ record: [UInt8]) throws(Errno) {
        guard size &+ buffer.count &+ record.count <= limit else { throw .fileTooLarge }
        if buffer.count &+ record.count > Self.bufferCapacity { try flush() }
        buffer += record
        ends.append(buffer.count)
    }

    /// Writes the waiting bytes; where that fails, the file is cut back to the last record that was written whole, and
    /// the rest is gone (C: `write` and `ftruncate`).
    package mutating func flush() throws(Errno) {
        defer {
            buffer.removeAll(keepingCapacity: true)
            ends.removeAll(keepingCapacity: true)
        }
        var written = 0
        do throws(Errno) {
            while written < buffer.count {
                guard case .done(let count) = try unsafe file.write(buffer.span.extracting(written...).bytes), count > 0
                else { throw .ioError }
                written += count
            }
            size += written
        } catch {
            size += ends.last { $0 <= written } ?? 0
            if written > 0 { _ = ftruncate(file.number, off_t(size)) }
            throw error
        }
    }
}
