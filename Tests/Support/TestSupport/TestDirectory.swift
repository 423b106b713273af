// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// Temporary directory of a test, which is deleted with its contents when the object is released.
public final class TestDirectory {
    /// The error if a file or directory cannot be created.
    public struct Failure: Error {
        /// The path of the file or directory.
        public var path: String
        /// The cause, as a value of `errno`.
        public var code: Int32
    }

    /// The path of the directory.
    public let path: String

    /// Creates an empty directory that only its owner can access.
    public init() throws(Failure) {
        let template = "/tmp/blewedge-test.XXXXXX"
        var name = Array(template.utf8CString)
        guard mkdtemp(&name) != nil else { throw Failure(path: template, code: errno) }
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    /// Returns the path of a file in the directory, which need not exist.
    public func callAsFunction(_ name: String) -> String { path + "/" + name }

    /// Writes a file in the directory, and creates its parent directories.
    public func write(_ text: String, to name: String) throws(Failure) {
        var folder = path
        for part in name.split(separator: "/").dropLast() {
            folder += "/" + part
            guard mkdir(folder, 0o755) == 0 || errno == EEXIST else { throw Failure(path: folder, code: errno) }
        }
        let file = self(name)
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Failure(path: file, code: errno) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw Failure(path: file, code: errno)
        }
    }

    /// Writes a program into the directory, and returns when it can be executed.
    public func writeProgram(_ text: String, to name: String) throws(Failure) {
        let file = self(name)
        let folder = name.lastIndex(of: "/").map { self(String(name[..<$0])) } ?? path
        let watch = inotify_init1(Int32(IN_CLOEXEC))
        defer { close(watch) }
        guard inotify_add_watch(watch, folder, UInt32(IN_CLOSE_WRITE)) >= 0 else {
            throw Failure(path: folder, code: errno)
        }
        try write(text, to: name)
        guard chmod(file, 0o755) == 0 else { throw Failure(path: file, code: errno) }
        // A process that another test forked while the file was written has it open until its own exec. The event comes
        // when the last process has closed it.
        var events = [UInt8](repeating: 0, count: 4096)
        guard read(watch, &events, events.count) > 0 else { throw Failure(path: file, code: errno) }
    }

    /// Deletes a file, or a directory with its contents.
    ///
    /// A symbolic link is deleted, not followed.
    private static func remove(_ path: String) {
        guard Glibc.remove(path) != 0, let stream = opendir(path) else { return }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
            )
        }
        closedir(stream)
        for name in names where name != "." && name != ".." { remove(path + "/" + name) }
        _ = Glibc.remove(path)
    }
}
