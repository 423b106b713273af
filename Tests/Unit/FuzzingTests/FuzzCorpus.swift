// SPDX-License-Identifier: GPL-2.0-or-later

import Fuzzing
import TestSupport

/// Inputs of a fuzz target, one per line of a text file: hexadecimal bytes, or text after a quotation mark with the
/// escapes `\n`, `\\` and `\xHH`.
enum FuzzCorpus {
    struct WrongLine: Error {
        var line: String
    }

    static func inputs(of target: FuzzTarget) throws -> [[UInt8]] {
        try RepositoryFiles.text("Tests/Fuzzing/corpus/\(target).txt").split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
            .map { line in
                guard let bytes = input(line) else { throw WrongLine(line: String(line)) }
                return bytes
            }
    }

    static func input(_ line: some StringProtocol) -> [UInt8]? {
        guard line.hasPrefix("\"") else { return VectorFile.bytes(line) }
        var rest = Array(line.utf8.dropFirst())[...]
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "n"): bytes.append(UInt8(ascii: "\n"))
            case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "x"):
                guard let byte = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
                bytes.append(byte)
                rest = rest.dropFirst(2)
            default: return nil
            }
        }
        return bytes
    }

    /// Returns the line for an input, as text if most of it is printable.
    static func written(_ input: [UInt8]) -> String {
        let isText = input.count { (0x20..<0x7F).contains($0) || $0 == 0x0A } * 4 > input.count * 3
        guard isText else { return input.map { hexadecimal($0) }.joined() }
        return input.reduce(into: "\"") { line, byte in
            switch byte {
            case UInt8(ascii: "\n"): line += #"\n"#
            case UInt8(ascii: "\\"): line += #"\\"#
            case 0x20..<0x7F: line += String(UnicodeScalar(byte))
            default: line += #"\x"# + hexadecimal(byte)
            }
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
}
