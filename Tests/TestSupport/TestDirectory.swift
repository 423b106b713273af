// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// A directory of a test's own, which goes with all that is in it when nothing holds it any more.
public final class TestDirectory {
    /// Something in it cannot be made.
    public struct Failure: Error {
        /// What it is.
        public var path: String
        /// Why, as `errno` says it.
        public var code: Int32
    }

    /// Where it is.
    public let path: String

    /// A new one, empty and its owner's alone.
    public init() throws(Failure) {
        let template = "/tmp/blewedge-test.XXXXXX"
        var name = Array(template.utf8CString)
        guard mkdtemp(&name) != nil else { throw Failure(path: template, code: errno) }
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    /// The path of something in it, there or not.
    public func callAsFunction(_ name: String) -> String { path + "/" + name }

    /// Writes a file in it, and makes the folders in between.
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

    /// Removes a file, or a folder with all that is in it; links are removed, not followed.
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
