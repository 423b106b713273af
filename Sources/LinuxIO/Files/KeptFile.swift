// SPDX-License-Identifier: GPL-2.0-or-later

package import SystemPackage

/// A small file that stores state between runs of the program.
///
/// It is read as a whole, up to a size limit, and written as a whole or not at all. `Fault` is the error for contents
/// that cannot be parsed.
package struct KeptFile<Fault: Error & Equatable>: Sendable {
    /// A failure that has left the file unchanged.
    package enum Failure: Error, Equatable, Sendable {
        case unreadable(FilePath, Errno)
        case garbled(FilePath, Fault)
        case unwritable(FilePath, Errno)
        /// Another process (number 0 if unknown) holds the lock of the file's directory.
        ///
        /// `signal` is the signal that ended the wait; nil if the time limit was reached.
        case locked(FilePath, by: Int32, signal: Int32?)
        /// Another process holds the lock of the file itself.
        case inUse(FilePath)
        /// A private file, or its directory, belongs to another user.
        case foreign(FilePath)
        /// A private file is not regular, or has more than one hard link.
        case irregular(FilePath)
    }

    package let path: FilePath
    private let limit: Int
    private let mode: UInt32
    /// User to whom a private file may belong when this process is root.
    private let service: String?

    /// Creates a description of the file at a path; the file need not exist.
    ///
    /// `limit` is its maximum size in bytes, and `mode` its permissions.
    package init(_ path: FilePath, limit: Int, mode: UInt32 = 0o644) {
        self.path = path
        self.limit = limit
        self.mode = mode
        service = nil
    }

    /// Creates a description of a file (0600) in a directory (0700), both of which only their owner may access.
    ///
    /// Reading the file restricts the permissions of the file and the directory to these values.
    package init(private path: FilePath, limit: Int, service: String) {
        self.path = path
        self.limit = limit
        mode = 0o600
        self.service = service
    }

    private var directory: FilePath { path.removingLastComponent() }
    private var directoryMode: UInt32 { service == nil ? 0o755 : 0o700 }

    /// Reads and parses the contents; returns nil if the file does not exist.
    ///
    /// `onTightened` is called with each path whose permissions for other users this call has removed.
    package func read<Contents>(
        onTightened: (FilePath) -> Void = { _ in },
        _ parse: ([UInt8]) throws(Fault) -> Contents
    ) throws(Failure) -> Contents? {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try contents(onTightened: onTightened)
        } catch {
            if error.recovery(of: .file) == .absent { return nil }
            throw failure(error, .unreadable(path, error))
        }
        do throws(Fault) {
            return try parse(bytes)
        } catch {
            throw .garbled(path, error)
        }
    }

    private func contents(onTightened: (FilePath) -> Void) throws(Errno) -> [UInt8] {
        guard let service else { return try FileSystem.textContents(of: path.string, limit: limit) }
        // If the file does not exist, its directory is not changed.
        if FileSystem.exists(path.string), try FileSystem.keepPrivate(directory: directory, service: service) {
            onTightened(directory)
        }
        let read = try FileSystem.privateContents(of: path, limit: limit, service: service)
        if read.isTightened { onTightened(path) }
        return read.bytes
    }

    /// True if the file begins like a JSON object; nil if it cannot be read.
    package var isJSON: Bool? {
        (try? FileSystem.textContents(of: path.string, limit: limit)).map { $0.first == UInt8(ascii: "{") }
    }

    /// Writes a text, and returns when the text is on the disk.
    package func write(_ text: String) throws(Failure) {
        try change { () throws(Errno) in
            try FileSystem.makeDirectory(directory, mode: directoryMode)
            try FileSystem.replace(path, with: Array(text.utf8), mode: mode)
        }
    }

    /// Removes the file, which need not exist.
    package func remove() throws(Failure) { try change { () throws(Errno) in try FileSystem.remove(path) } }

    /// Runs `body` while no other process that uses this method can change a file in the same directory.
    package func withLock<Value, Refusal: Error>(
        refused: (Failure) -> Refusal,
        _ body: () throws(Refusal) -> Value
    ) throws(Refusal) -> Value {
        do throws(Failure) {
            try change { () throws(Errno) in
                try FileSystem.makeDirectory(directory, mode: directoryMode)
                if let service { _ = try FileSystem.keepPrivate(directory: directory, service: service) }
            }
        } catch {
            throw refused(error)
        }
        return try DirectoryLock.hold(directory, refused: { refused(failure($0)) }, body)
    }

    /// Runs `body`; throws `inUse` if another process is running this method for the same file.
    package func asOnlyUser<Value>(_ body: () throws -> Value) throws -> Value {
        let lock: LockFile
        do throws(Errno) {
            try FileSystem.makeDirectory(directory, mode: directoryMode)
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

    private func change(_ body: () throws(Errno) -> Void) throws(Failure) {
        do throws(Errno) { try body() } catch { throw failure(error, .unwritable(path, error)) }
    }

    /// Returns the failure for a private file that belongs to another user, is not regular or has several hard links;
    /// otherwise returns `otherwise`.
    private func failure(_ error: Errno, _ otherwise: Failure) -> Failure {
        switch error {
        case .notPermitted where service != nil: .foreign(path)
        case .invalidArgument where service != nil, .tooManyLinks where service != nil: .irregular(path)
        default: otherwise
        }
    }

    private func failure(_ failure: DirectoryLock.Failure) -> Failure {
        switch failure {
        case .held(let lock, let process): .locked(lock, by: process, signal: nil)
        case .interrupted(let lock, let process, let signal): .locked(lock, by: process, signal: signal)
        case .failed(let error): self.failure(error, .unwritable(path, error))
        }
    }
}
