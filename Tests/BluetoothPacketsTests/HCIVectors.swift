// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import Testing

/// One vector of a text file: bytes and what must be read from them.
struct HCIVector: Sendable, CustomTestStringConvertible {
    var name: String
    var bytes: [UInt8] = []
    var expected: [String] = []

    var testDescription: String { name }

    /// The vectors of `Tests/Vectors/<file>`; none when it cannot be read, which `HCIVectorsTests` reports.
    static func load(_ file: String) -> [HCIVector] {
        var vectors: [HCIVector] = []
        for line in lines(file) {
            if line.isEmpty || line.hasPrefix("#") { continue }
            if line.hasPrefix("vector ") {
                vectors.append(HCIVector(name: String(line.dropFirst("vector ".count))))
            } else if line.hasPrefix("= "), !vectors.isEmpty {
                vectors[vectors.count - 1].expected.append(String(line.dropFirst(2)))
            } else if !vectors.isEmpty {
                let hex = line.prefix { $0 != "|" }
                for digits in hex.split(separator: " ") {
                    guard digits.utf8.count == 2, let byte = UInt8(digits, radix: 16) else {
                        Issue.record("\(file): not a byte: \(digits) in \(line)")
                        continue
                    }
                    vectors[vectors.count - 1].bytes.append(byte)
                }
            }
        }
        return vectors
    }

    private static func lines(_ file: String, here: String = #filePath) -> [String] {
        let folder = here.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
        // Sound: the stream is checked, closed once at the end, and used nowhere else.
        guard let stream = unsafe fopen("\(folder)/Vectors/\(file)", "r") else { return [] }
        defer { unsafe fclose(stream) }
        var bytes: [UInt8] = []
        while case let byte = unsafe getc(stream), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

@Suite struct HCIVectorsTests {
    @Test(
        "The vector files are found and hold what they should",
        arguments: [
            ("hci-events.txt", 13), ("hci-commands.txt", 12), ("advertisement-data.txt", 7), ("management.txt", 11),
        ]
    )
    func filesAreThere(_ file: String, _ minimum: Int) {
        let vectors = HCIVector.load(file)
        #expect(vectors.count >= minimum)
        #expect(vectors.allSatisfy { !$0.bytes.isEmpty })
    }
}

/// A generator whose numbers are the same in every run (SplitMix64).
struct HCISeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value &>> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value &>> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value &>> 31
    }
}
