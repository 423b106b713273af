// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// Files of the repository from which the tests were built, by their paths relative to its root directory.
public enum RepositoryFiles {
    /// The error of a file or folder that cannot be read.
    public struct Failure: Error {
        /// The path relative to the root directory.
        public var path: String
        /// The cause, as a value of `errno`.
        public var code: Int32
    }

    /// Returns the absolute path of a file or directory.
    ///
    /// This file is three directories below the root.
    public static func path(_ path: String) -> String { place(path) }

    private static func place(_ path: String) -> String {
        "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/" + path
    }

    /// Reads the bytes of a file.
    public static func bytes(_ path: String) throws(Failure) -> [UInt8] {
        // The stream is closed when the function returns, and no reference to it remains.
        guard let stream = fopen(place(path), "r") else { throw Failure(path: path, code: errno) }
        defer { _ = fclose(stream) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&part, 1, part.count, stream)
            guard count > 0 else { break }
            bytes += part.prefix(count)
        }
        guard ferror(stream) == 0 else { throw Failure(path: path, code: errno) }
        return bytes
    }

    /// Reads the text of a file.
    public static func text(_ path: String) throws(Failure) -> String {
        String(decoding: try bytes(path), as: UTF8.self)
    }

    /// Returns the sorted names in a directory, except those that start with a period.
    public static func names(in folder: String) throws(Failure) -> [String] {
        guard let stream = opendir(place(folder)) else { throw Failure(path: folder, code: errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns the paths of all files below a directory, except files and directories whose names start with a period.
    public static func files(below folder: String) throws(Failure) -> [String] {
        var files: [String] = []
        for name in try names(in: folder) {
            let path = folder + "/" + name
            var status = stat()
            guard lstat(place(path), &status) == 0 else { throw Failure(path: path, code: errno) }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: files += try Self.files(below: path)
            case S_IFREG: files.append(path)
            default: break
            }
        }
        return files
    }
}
