// SPDX-License-Identifier: GPL-2.0-or-later

import HIDReports
import TestSupport
import Testing

@Suite("Input reports")
struct ReportReaderTests {
    @Test("The vectors' reports have the vectors' keys", arguments: try MapVector.all("hid-input-reports.txt"))
    func vectors(_ vector: MapVector) throws {
        var reader = ReportReader(try ReportMap(vector.map))
        #expect(!vector.lines.isEmpty)
        for line in vector.lines {
            let parts = line.split(separator: "/", omittingEmptySubsequences: false)
            try #require(parts.count == 3, "\(line)")
            let id = try #require(UInt8(parts[0].prefix(2), radix: 16))
            let payload = try #require(VectorFile.bytes(parts[0].dropFirst(3)))
            let reading = reader.read(payload.span, id: id)
            #expect(Self.text(reading) == parts[1].split(separator: " ").joined(separator: " "), "\(line)")
            let held = reader.held.usages.map { Self.hexadecimal($0) }
            #expect(held == parts[2].split(separator: " ").map(String.init), "\(line)")
            if case .keys(let keys) = reading.content { #expect(keys == reader.held) }
        }
    }

    private static func text(_ reading: ReportReading) -> String {
        let content =
            switch reading.content {
            case .keys: "keys"
            case .rollOver: "roll-over"
            case .noKeys: "no keys"
            case .unknownReport: "unknown"
            }
        return switch reading.length {
        case .asDeclared: content
        case .shorter: content + " short"
        case .longer: content + " long"
        }
    }

    private static func hexadecimal(_ usage: UInt16) -> String {
        let digits = String(usage, radix: 16, uppercase: true)
        return String(repeating: "0", count: digits.count % 2) + digits
    }

    @Test("After a reset, no key is held, and the next report is compared with zeros")
    func reset() throws {
        // An array of two slots and a bitmap of the same keys.
        let map = try #require(
            VectorFile.bytes("0507 1500 2565 7508 9502 1900 2965 8100 2501 7501 9508 1904 290B 8102")
        )
        var reader = ReportReader(try ReportMap(map))
        _ = reader.read([0x04, 0x05, 0x10].span, id: 0)
        #expect(reader.held == HeldKeys([0x04, 0x05, 0x08]))
        reader.reset()
        #expect(reader.held == HeldKeys())
        #expect(reader.read([0x00, 0x05, 0x00].span, id: 0).content == .keys(HeldKeys([0x05])))
        reader.reset()
        #expect(reader.read([0x00, 0x00, 0x10].span, id: 0).content == .keys(HeldKeys([0x08])))
        #expect(reader.read([0x00, 0x00, 0x10].span, id: 0).content == .keys(HeldKeys([0x08])))
        #expect(reader.read([0x00, 0x00, 0x00].span, id: 0).content == .keys(HeldKeys()))
    }

    @Test("The greatest usage of page 07 can be held")
    func greatestUsage() throws {
        for first in [0xFFC0, 0x0040, 0x003F] as [UInt16] {
            let low = UInt8(truncatingIfNeeded: first)
            let high = UInt8(truncatingIfNeeded: first >> 8)
            let map: [UInt8] = [0x05, 0x07, 0x25, 0x01, 0x75, 0x01, 0x95, 0x08, 0x0A, low, high, 0x81, 0x02]
            var reader = ReportReader(try ReportMap(map))
            #expect(reader.read([1].span, id: 0).content == .keys(HeldKeys([first])))
            #expect(reader.read([0].span, id: 0).content == .keys(HeldKeys()))
        }
        // From the last usages of page 07 on into page 08.
        let bytes = "25017501 9508 1BFCFF0700 2B03000800 8102"
        var reader = ReportReader(try ReportMap(try #require(VectorFile.bytes(bytes))))
        #expect(reader.read([0xFF].span, id: 0).content == .keys(HeldKeys([0xFFFC, 0xFFFD, 0xFFFE, 0xFFFF])))
    }
}
