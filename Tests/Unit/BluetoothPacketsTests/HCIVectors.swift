// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

/// Test vector of a text file: bytes and the expected contents.
struct HCIVector: Sendable, CustomTestStringConvertible {
    var name: String
    var bytes: [UInt8] = []
    var expected: [String] = []

    var testDescription: String { name }

    /// Returns the vectors of `Tests/Vectors/<file>`; empty if it cannot be read, which `HCIVectorsTests` reports.
    static func load(_ file: String) -> [HCIVector] {
        var vectors: [HCIVector] = []
        for (_, line) in (try? VectorFile.lines(file)) ?? [] {
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
}

@Suite struct HCIVectorsTests {
    @Test(
        "The vector files are found and hold what they should",
        arguments: [
            ("hci-events.txt", 13), ("hci-commands.txt", 38), ("advertisement-data.txt", 7), ("management.txt", 11),
            ("hci-connections.txt", 9), ("l2cap.txt", 13), ("security-manager.txt", 16),
        ]
    )
    func filesAreThere(_ file: String, _ minimum: Int) {
        let vectors = HCIVector.load(file)
        #expect(vectors.count >= minimum)
        #expect(vectors.allSatisfy { !$0.bytes.isEmpty })
    }
}
