// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// A text file of Tests/Vectors, without its comments and empty lines.
public enum VectorFile {
    /// There is no such file.
    public struct Missing: Error {
        /// Where it was looked for.
        public var path: String
    }

    /// The lines, each with its number.
    public static func lines(_ name: String, from file: String = #filePath) throws -> [(number: Int, text: String)] {
        let folders = file.split(separator: "/").dropLast(2).joined(separator: "/")
        let path = "/" + folders + "/Vectors/" + name
        // The stream is closed on the way out and nothing keeps it.
        guard let stream = fopen(path, "r") else { throw Missing(path: path) }
        defer { _ = fclose(stream) }
        var bytes: [UInt8] = []
        while true {
            // Reads one byte of the open stream; negative at its end.
            let byte = fgetc(stream)
            guard byte >= 0 else { break }
            bytes.append(UInt8(truncatingIfNeeded: byte))
        }
        return String(decoding: bytes, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
            .map { (number: $0.offset + 1, text: String($0.element)) }
            .filter { !$0.text.hasPrefix("#") && !$0.text.allSatisfy { $0 == " " } }
    }

    /// Bytes from pairs of hexadecimal digits, with or without spaces; nil for anything else.
    public static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8.filter { $0 != UInt8(ascii: " ") })
        guard digits.count % 2 == 0 else { return nil }
        var result: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index...(index + 1)], as: UTF8.self), radix: 16) else {
                return nil
            }
            result.append(byte)
        }
        return result
    }
}
