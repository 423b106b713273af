// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing
import Typing

@Suite("Checksums")
struct ChecksumTests {
    @Test("BT-8: the check values of Tests/Vectors/checksums.txt, every checksum among them")
    func vectors() throws {
        var seen: Set<Checksum> = []
        for line in try VectorFile.lines("checksums.txt") {
            let parts = line.text.split(separator: ":", maxSplits: 1)
            let sides = try #require(parts.last).split(separator: "=")
            let checksum = try #require(Checksum(rawValue: String(parts[0])))
            let bytes = try #require(VectorFile.bytes(sides[0]))
            let value = try #require(VectorFile.bytes(sides[1]))
            #expect(checksum.value(of: bytes) == value, "line \(line.number)")
            #expect(value.count == checksum.length, "line \(line.number)")
            seen.insert(checksum)
        }
        #expect(seen == Set(Checksum.allCases))
    }

    @Test("Every single-bit error in a frame is detected")
    func singleBits() {
        let bytes: [UInt8] = [0xA5, 0x01, 0x37, 0x00, 0xFF]
        for checksum in Checksum.allCases {
            let value = checksum.value(of: bytes)
            for index in bytes.indices {
                for bit in 0..<8 {
                    var wrong = bytes
                    wrong[index] ^= 1 << bit
                    #expect(checksum.value(of: wrong) != value, "\(checksum) byte \(index) bit \(bit)")
                }
            }
        }
    }
}
