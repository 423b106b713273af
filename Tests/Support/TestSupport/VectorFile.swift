// SPDX-License-Identifier: GPL-2.0-or-later

/// Text file of Tests/Vectors, without comments and empty lines.
public enum VectorFile {
    /// Returns the lines, each with its line number in the file.
    public static func lines(
        _ name: String,
        from file: String = #filePath
    ) throws(SourceFiles.Unreadable) -> [(number: Int, text: String)] {
        let folders = file.split(separator: "/").dropLast(3).joined(separator: "/")
        let path = "/" + folders + "/Vectors/" + name
        return try SourceFiles.text(of: path)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
            .map { (number: $0.offset + 1, text: String($0.element)) }
            .filter { !$0.text.hasPrefix("#") && !$0.text.allSatisfy { $0 == " " } }
    }

    /// Parses pairs of hexadecimal digits, with or without spaces; returns nil for any other text.
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
