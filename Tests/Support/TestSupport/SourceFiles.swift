// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// Swift files in the package's Sources directory, for tests of the source code.
public enum SourceFiles {
    /// Swift source file.
    public struct File: Sendable {
        /// The path relative to Sources, such as `Wedge/Daemon/Tables/StateNameText.swift`.
        public let path: String
        /// The text of the file.
        public let text: String

        /// The last component of the path.
        public var name: String { path.split(separator: "/").last.map(String.init) ?? path }

        /// True if the file is in a directory of texts.
        public var isTable: Bool { path.split(separator: "/").dropLast().last == "Tables" }
    }

    /// The error of a file or folder that cannot be read.
    public struct Unreadable: Error {
        /// The path of the file or folder.
        public var path: String
    }

    /// Returns the files of a module, sorted by path.
    ///
    /// Throws an error if the module has no files.
    public static func files(of module: String, from file: String = #filePath) throws(Unreadable) -> [File] {
        let root = "/" + file.split(separator: "/").dropLast(4).joined(separator: "/") + "/Sources/"
        let files = try paths(below: root + module).map { path throws(Unreadable) in
            File(path: String(path.dropFirst(root.count)), text: try text(of: path))
        }
        guard !files.isEmpty else { throw Unreadable(path: root + module) }
        return files
    }

    /// Returns the text of a UTF-8 file.
    static func text(of path: String) throws(Unreadable) -> String {
        // The stream is closed when the function returns, and no reference to it remains.
        guard let stream = fopen(path, "r") else { throw Unreadable(path: path) }
        defer { _ = fclose(stream) }
        var bytes: [UInt8] = []
        while true {
            // Next byte of the open stream; negative at the end.
            let byte = fgetc(stream)
            guard byte >= 0 else { break }
            bytes.append(UInt8(truncatingIfNeeded: byte))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func paths(below folder: String) throws(Unreadable) -> [String] {
        guard let stream = opendir(folder) else { throw Unreadable(path: folder) }
        defer { closedir(stream) }
        var paths: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".swift") {
                paths.append("\(folder)/\(name)")
            } else if !name.contains(".") {
                paths += try Self.paths(below: "\(folder)/\(name)")
            }
        }
        return paths.sorted()
    }
}
