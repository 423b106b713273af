// SPDX-License-Identifier: GPL-2.0-or-later

package import SystemPackage

/// A small file in which something outlives the program: read whole within a limit, written whole or not at all.
///
/// `Fault` is the error of contents that cannot be parsed.
package struct KeptFile<Fault: Error & Equatable>: Sendable {
    /// A failure, after which the file is as it was before.
    package enum Failure: Error, Equatable, Sendable {
        case unreadable(FilePath, Errno)
        case garbled(FilePath, Fault)
        case unwritable(FilePath, Errno)
        /// Another process, 0 if unknown, holds the lock of the file's directory; a signal has ended the wait for it.
        case locked(FilePath, by: Int32, signal: Int32?)
        /// Another process holds the lock of the file itself.
        case inUse(FilePath)
    }

    package let path: FilePath
    private let limit: Int
    private let mode: UInt32

    /// The file at a path, which need not exist, of at most `limit` bytes and with these permissions.
    package init(_ path: FilePath, limit: Int, mode: UInt32 = 0o644) {
        self.path = path
        self.limit = limit
        self.mode = mode
    }

    /// Reads and parses the contents; nil without a file.
    package func read<Contents>(_ parse: ([UInt8]) throws(Fault) -> Contents) throws(Failure) -> Contents? {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try FileSystem.textContents(of: path.string, limit: limit)
        } catch {
            if error.recovery(of: .file) == .absent { return nil }
            throw .unreadable(path, error)
        }
        do throws(Fault) {
            return try parse(bytes)
        } catch {
            throw .garbled(path, error)
        }
    }

    /// True for a file that begins as a JSON object; nil without one that can be read.
    package var isJSON: Bool? {
        (try? FileSystem.textContents(of: path.string, limit: limit)).map { $0.first == UInt8(ascii: "{") }
    }

    /// Writes a text, which is on the disk when this returns.
    package func write(_ text: String) throws(Failure) {
        try change { directory throws(Errno) in
            try FileSystem.makeDirectory(directory, mode: 0o755)
            try FileSystem.replace(path, with: Array(text.utf8), mode: mode)
        }
    }

    /// Removes the file, which need not exist.
    package func remove() throws(Failure) { try change { _ throws(Errno) in try FileSystem.remove(path) } }

    /// Runs `body` while no other process that uses this method changes a file of the directory.
    package func withLock<Value, Refusal: Error>(
        refused: (Failure) -> Refusal,
        _ body: () throws(Refusal) -> Value
    ) throws(Refusal) -> Value {
        do throws(Failure) {
            try change { directory throws(Errno) in try FileSystem.makeDirectory(directory, mode: 0o755) }
        } catch {
            throw refused(error)
        }
        return try DirectoryLock.hold(path.removingLastComponent(), refused: { refused(failure($0)) }, body)
    }

    /// Runs `body` while no other process that uses this method does so for this file; throws `inUse` if one does.
    package func asOnlyUser<Value>(_ body: () throws -> Value) throws -> Value {
        let lock: LockFile
        do throws(Errno) {
            try FileSystem.makeDirectory(path.removingLastComponent(), mode: 0o755)
            lock = try LockFile(FilePath(path.string + ".lock"))
        } catch .wouldBlock {
            throw Failure.inUse(path)
        } catch {
            throw Failure.unwritable(path, error)
        }
        let result = Result { try body() }
        lock.remove()
        return try result.get()
    }

    private func change(_ body: (FilePath) throws(Errno) -> Void) throws(Failure) {
        do throws(Errno) { try body(path.removingLastComponent()) } catch { throw .unwritable(path, error) }
    }

    private func failure(_ failure: DirectoryLock.Failure) -> Failure {
        switch failure {
        case .held(let lock, let process): .locked(lock, by: process, signal: nil)
        case .interrupted(let lock, let process, let signal): .locked(lock, by: process, signal: signal)
        case .failed(let error): .unwritable(path, error)
        }
    }
}
