// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// Files of the product: small ones, read and written whole, within a bound.
package enum FileSystem {
    /// The names in a directory, sorted: those that do not begin with a dot, or, `hidden`, those that do; none where it
    /// cannot be read.
    ///
    /// The corresponding C functions are `opendir` and `readdir`.
    package static func names(in directory: String, hidden: Bool = false) -> [String] {
        // Sound: the stream is closed before the function returns, and each entry is copied before the next is read.
        guard let stream = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix(".") == hidden { names.append(name) }
        }
        return names.sorted()
    }

    /// The bytes of a file, at most `limit`; a longer one throws `fileTooLarge`.
    ///
    /// The corresponding C functions are `open` and `read`.
    package static func contents(of path: String, limit: Int) throws(Errno) -> [UInt8] {
        let file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case .done(let count) = try file.read(into: &buffer), count > 0 {
            guard contents.count + count <= limit else { throw .fileTooLarge }
            contents += buffer.prefix(count)
        }
        return contents
    }

    /// The bytes of a text that people edit, at most `limit`, without the byte order mark that editors on Windows put
    /// before it; a longer one throws `fileTooLarge`.
    package static func textContents(of path: String, limit: Int) throws(Errno) -> [UInt8] {
        let text = withoutByteOrderMark(try contents(of: path, limit: limit + byteOrderMark.count))
        guard text.count <= limit else { throw .fileTooLarge }
        return text
    }

    /// The bytes of a text without the byte order mark before it.
    package static func withoutByteOrderMark(_ bytes: [UInt8]) -> [UInt8] {
        bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(byteOrderMark.count)) : bytes
    }

    /// U+FEFF in UTF-8.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The first line of a small file such as those of sysfs, without white space at its ends; nil if unreadable.
    package static func line(of path: String) -> String? {
        guard let bytes = try? contents(of: path, limit: 4096) else { return nil }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }.drop { $0 == UInt8(ascii: " ") }
        return String(decoding: line, as: UTF8.self)
    }

    /// True where there is a file of any kind at the path.
    ///
    /// The corresponding C function is `access`.
    package static func exists(_ path: String) -> Bool {
        unsafe access(path, F_OK) == 0
    }

    /// True where this process may run the file at the path.
    ///
    /// The corresponding C function is `access`.
    package static func isExecutable(_ path: String) -> Bool {
        unsafe access(path, X_OK) == 0
    }

    /// True where this process may read and write the file at the path.
    ///
    /// The corresponding C function is `access`.
    package static func isReadableAndWritable(_ path: String) -> Bool {
        unsafe access(path, R_OK | W_OK) == 0
    }
}
