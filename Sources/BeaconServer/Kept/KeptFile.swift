// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage

/// A file in which something of the server's side outlives the program: whole or not at all.
package struct KeptFile: Sendable {
    /// Why it could not be read or kept; what was there before is there still.
    package enum Failure: Error, Equatable, Sendable {
        /// The file is there, and cannot be read.
        case unreadable(FilePath, Errno)
        /// The file does not say what it is for.
        case garbled(FilePath, ServerAnswerFault)
        /// The file cannot be written.
        case unwritable(FilePath, Errno)
        /// Another process sends what waits there.
        case inUse(FilePath)
        /// Another process holds the lock of the file's directory.
        case locked(FilePath, by: Int32, signal: Int32?)
    }

    /// The file.
    package let path: FilePath
    /// The longest that is read, in bytes.
    private static let limit = 32 << 20

    /// The file at a path, which need not be there.
    package init(_ path: FilePath) { self.path = path }

    /// The bytes; nil where there is no file.
    func read() throws(Failure) -> [UInt8]? {
        do throws(Errno) {
            return try FileSystem.contents(of: path.string, limit: Self.limit)
        } catch {
            if error.recovery(of: .file) == .absent { return nil }
            throw .unreadable(path, error)
        }
    }

    /// Puts a text in its place: on the disk when this returns, and the earlier one untouched when it throws.
    func write(_ text: String, mode: UInt32) throws(Failure) {
        do throws(Errno) {
            try FileSystem.makeDirectory(path.removingLastComponent(), mode: 0o755)
            try FileSystem.replace(path, with: Array(text.utf8), mode: mode)
        } catch {
            throw .unwritable(path, error)
        }
    }

    /// Removes the file, which need not be there, while no other process changes it.
    func remove() throws(Failure) {
        guard FileSystem.exists(path.string) else { return }
        try withLock { () throws(Failure) in
            do throws(Errno) {
                try FileSystem.remove(path)
            } catch {
                throw Failure.unwritable(path, error)
            }
        }
    }

    /// Does something while no other process that does it this way reads or writes a file in its directory.
    func withLock<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let directory = path.removingLastComponent()
        do throws(Errno) {
            try FileSystem.makeDirectory(directory, mode: 0o755)
        } catch {
            throw .unwritable(path, error)
        }
        return try DirectoryLock.hold(directory, refused: refusal, body)
    }

    private func refusal(_ failure: DirectoryLock.Failure) -> Failure {
        switch failure {
        case .held(let lock, let process): .locked(lock, by: process, signal: nil)
        case .interrupted(let lock, let process, let signal): .locked(lock, by: process, signal: signal)
        case .failed(let error): .unwritable(path, error)
        }
    }
}

/// The file of the managed regions.
package struct RegionStore: Sendable {
    private let file: KeptFile

    /// The regions kept in a file, which need not be there.
    package init(_ path: FilePath) { file = KeptFile(path) }

    /// The regions; without a file there are none.
    package func read() throws(KeptFile.Failure) -> KeptRegions {
        guard let bytes = try file.read() else { return KeptRegions() }
        do throws(ServerAnswerFault) {
            return try KeptRegions(parsing: bytes)
        } catch {
            throw .garbled(file.path, error)
        }
    }

    /// Removes the regions.
    package func remove() throws(KeptFile.Failure) { try file.remove() }

    /// Changes what is kept while no other process does: on the disk when this returns, and as it was when it throws.
    package func update(_ body: (inout KeptRegions) -> Void) throws(KeptFile.Failure) -> KeptRegions {
        try file.withLock { () throws(KeptFile.Failure) in
            var regions = try read()
            body(&regions)
            try file.write(regions.text, mode: 0o644)
            return regions
        }
    }
}
