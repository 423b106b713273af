// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// A private file to which complete records are appended, up to a size limit; writes are buffered.
///
/// Only its owner may read it. After a failure, the file still ends with a complete record, and contains as many
/// records as fit.
package struct RecordFile: ~Copyable {
    private let file: Descriptor
    private let limit: Int
    /// Number of bytes in the file that belong to complete records.
    private var size: Int
    private var buffer: [UInt8]
    /// End offsets of the records in the buffer; in a new file, the header counts as the first record.
    private var ends: [Int]

    /// Maximum number of bytes that are buffered before a write.
    private static let bufferCapacity = 1 << 16

    /// Creates the file with `header` at the beginning, or opens a file that begins with `header` for appending.
    ///
    /// Throws `fileExists` for a file that begins with other bytes or is not regular, `notPermitted` for a file of
    /// another user, `tooManySymbolicLinkLevels` (ELOOP) for a symbolic link. The corresponding C functions are `open`,
    /// `fstat` and `fchmod`.
    package init(_ path: String, header: [UInt8], limit: Int) throws(Errno) {
        let flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK
        let opened = try Descriptor.open(path, flags, mode: 0o600)
        let number = opened.number
        var status = stat()
        // Sound: the kernel fills a structure of this type, which outlives the call.
        _ = try SystemCall.run { unsafe fstat(number, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .fileExists }
        // A file that belongs to another user can be read by that user, whatever its mode.
        guard status.st_uid == geteuid() else { throw .notPermitted }
        if status.st_size > 0 {
            var beginning = [UInt8](repeating: 0, count: header.count)
            guard try opened.read(into: &beginning) == .done(header.count), beginning == header else {
                throw .fileExists
            }
        }
        _ = try SystemCall.run { fchmod(number, 0o600) }
        // Set this after all throwing calls: if the initialiser throws, Swift 6.2 destroys a field twice that is
        // already set.
        size = Int(status.st_size)
        buffer = size == 0 ? header : []
        ends = size == 0 ? [header.count] : []
        self.limit = limit
        file = opened
    }

    package var isWaiting: Bool { !buffer.isEmpty }

    /// Appends a record; writes the buffer first if the record does not fit.
    ///
    /// Throws `fileTooLarge` if the record would make the file exceed the limit.
    package mutating func append(_ record: [UInt8]) throws(Errno) {
        guard size &+ buffer.count &+ record.count <= limit else { throw .fileTooLarge }
        if buffer.count &+ record.count > Self.bufferCapacity { try flush() }
        buffer += record
        ends.append(buffer.count)
    }

    /// Writes the buffered bytes (C: `write` and `ftruncate`).
    ///
    /// If that fails, truncates the file after the last complete record, and discards the rest.
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
