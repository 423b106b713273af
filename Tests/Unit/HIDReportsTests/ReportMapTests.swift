// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@testable import HIDReports

@Suite("Report descriptors")
struct ReportMapTests {
    @Test(
        "Each map of the vectors has its reports, or is refused for its reason",
        arguments: try MapVector.all("hid-report-maps.txt")
    )
    func vectors(_ vector: MapVector) {
        #expect(MapVector.lines(of: vector.map) == vector.lines)
    }

    private static let field: [UInt8] = [0x09, 0x04, 0x81, 0x02]

    private func refusal(_ bytes: [UInt8]) -> ReportMapError? {
        do throws(ReportMapError) {
            _ = try ReportMap(bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test("A map has at most 4,096 bytes")
    func longest() {
        #expect(ReportMap.mostBytes == 4096)
        let map = [UInt8](repeating: 0x04, count: 4096)
        #expect(refusal(map) == nil)
        #expect(refusal(map + [0x04]) == ReportMapError(offset: 4096, reason: .tooLong))
        #expect(refusal(map.dropLast() + [0x05]) == ReportMapError(offset: 4095, reason: .truncatedItem))
    }

    @Test("A report has at most 4,095 bytes, of any kind and id")
    func longestReport() throws {
        // 4,095 and 4,096 slots of a byte.
        let size: [UInt8] = [0x75, 0x08, 0x25, 0x01]
        let most: [UInt8] = size + [0x96, 0xFF, 0x0F]
        let more: [UInt8] = size + [0x96, 0x00, 0x10]
        for item: UInt8 in [0x81, 0x91, 0xB1] {
            #expect(refusal(most + [item, 0x02]) == nil)
            #expect(refusal(more + [item, 0x02]) == ReportMapError(offset: 7, reason: .reportTooLong(bits: 32_768)))
        }
        let full = try ReportMap(most + [0x81, 0x01, 0x91, 0x01, 0x85, 0x01, 0x81, 0x01])
        #expect(
            full.reports.map(\.bits) == [32_760, 32_760, 32_760] && full.reports.map(\.bytes) == [4095, 4095, 4095]
        )
        // One more bit.
        #expect(
            refusal(most + [0x81, 0x01, 0x75, 0x01, 0x95, 0x01] + Self.field)
                == ReportMapError(offset: 15, reason: .reportTooLong(bits: 32_761))
        )
    }

    @Test("A report has at most 256 fields; the others are padding")
    func mostFields() throws {
        let settings: [UInt8] = [0x05, 0x07, 0x25, 0x01, 0x75, 0x01, 0x95, 0x01]
        let fields = Array(repeatElement(Self.field, count: 257).joined())
        let report = try #require(try ReportMap(settings + fields).reports.first)
        #expect(report.fields.count == 256 && report.bits == 257 && report.fields.last?.bitOffset == 255)
        let exact = try #require(try ReportMap(settings + fields.dropLast(4)).reports.first)
        #expect(exact.fields.count == 256 && exact.bits == 256)
    }

    @Test("Collections can be nested without a limit")
    func deepest() throws {
        let map = [UInt8](repeating: 0xA0, count: 2048) + [UInt8](repeating: 0xC0, count: 2048)
        let collections = try ReportMap(map).collections
        #expect(collections.count == 2048 && collections.first?.parent == nil && collections.last?.parent == 2046)
        #expect(refusal(map.dropLast()) == ReportMapError(offset: 4095, reason: .openCollection))
    }

    @Test("Bytes of a report: rounded up")
    func bytes() {
        for (bits, bytes) in [(0, 0), (1, 1), (7, 1), (8, 1), (9, 2)] {
            let report = HIDReport(kind: .input, id: 0, fields: [], bits: bits)
            #expect(report.bytes == bytes)
        }
    }

    @Test("Numbered are maps with an input report that has an id")
    func numbered() throws {
        let input: [UInt8] = [0x75, 0x08, 0x95, 0x01, 0x81, 0x01]
        #expect(try !ReportMap(input).isNumbered)
        #expect(try ReportMap([0x85, 0x01] + input).isNumbered)
        #expect(try ReportMap(input + [0x85, 0x01, 0x81, 0x01]).isNumbered)
        #expect(try !ReportMap(input + [0x85, 0x01, 0x91, 0x01, 0xB1, 0x01]).isNumbered)
        #expect(try !ReportMap([0x85, 0x01]).isNumbered)
    }

    @Test("Keyboard input is an input field with a usage of page 07 that is not constant")
    func keyboardInput() throws {
        func has(_ usages: [UInt8], _ main: [UInt8]) throws -> Bool {
            try ReportMap([0x25, 0x01, 0x75, 0x08, 0x95, 0x01] + usages + main).hasKeyboardInput
        }
        let key: [UInt8] = [0x05, 0x07, 0x09, 0x04]
        #expect(try has(key, [0x81, 0x00]) && has(key, [0x81, 0x02]))
        #expect(try !has(key, [0x81, 0x01]) && !has(key, [0x91, 0x02]) && !has(key, [0xB1, 0x02]))
        #expect(try !has([0x05, 0x07], [0x81, 0x02]))
        #expect(try !has([0x05, 0x06, 0x09, 0x04], [0x81, 0x02]) && !has([0x05, 0x08, 0x09, 0x04], [0x81, 0x02]))
        #expect(try has([0x05, 0x0C, 0x09, 0xE2, 0x0B, 0x04, 0x00, 0x07, 0x00], [0x81, 0x02]))
        // From the last usage of page 06 to the first of page 07, and from the last of page 07 to the first of page 08.
        #expect(try has([0x1B, 0xFF, 0xFF, 0x06, 0x00, 0x2B, 0x00, 0x00, 0x07, 0x00], [0x81, 0x02]))
        #expect(try has([0x1B, 0xFF, 0xFF, 0x07, 0x00, 0x2B, 0x00, 0x00, 0x08, 0x00], [0x81, 0x02]))
    }

    @Test("Usages are ordered by page, then by id")
    func usages() {
        let usage = HIDUsage(page: 0x8C, id: 0xFE)
        #expect(usage.rawValue == 0x8C_00FE && !(usage < usage) && usage.page == 0x8C && usage.id == 0xFE)
        #expect(
            HIDUsage(page: 7, id: 0xFFFF) < HIDUsage(page: 8, id: 0)
                && HIDUsage(page: 7, id: 1) < HIDUsage(page: 7, id: 2)
        )
    }

    @Test("The map keeps its bytes")
    func keepsBytes() throws {
        let map: [UInt8] = [0x05, 0x07]
        #expect(try ReportMap(map).bytes == map)
    }
}
