// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@testable import HIDReports

@Suite("Random report descriptors")
struct RandomMapTests {
    private static let count = RunCount.from("BLEWEDGE_HID_MAPS", usual: 10_000)

    @Test("10,000 random and mutated maps: parsed and decoded like the model", arguments: 0..<4)
    func likeModel(part: Int) throws {
        var random = SeededGenerator(seed: 37 + UInt64(part))
        let source = try RandomMaps()
        var accepted = 0
        var keyboards = 0
        for _ in 0..<(Self.count / 4) {
            let bytes = source.next(&random)
            let model = LiteralMap(bytes)
            let map: ReportMap
            do throws(ReportMapError) {
                map = try ReportMap(bytes)
            } catch {
                try #require(error.offset == model.refusedAt, "\(Self.text(bytes)): \(error)")
                continue
            }
            try #require(model.refusedAt == nil, "\(Self.text(bytes))")
            try compare(map, model)
            accepted += 1
            guard map.hasKeyboardInput else { continue }
            keyboards += 1
            try decode(map, model, &random)
        }
        #expect(accepted > Self.count / 20 && accepted < Self.count / 4 && keyboards > Self.count / 40)
    }

    private func compare(_ map: ReportMap, _ model: LiteralMap) throws {
        try #require(map.reports.count == model.reports.count)
        // Memory: no more ranges than items.
        #expect(map.reports.reduce(0) { $0 + $1.fields.reduce(0) { $0 + $1.usages.count } } <= 2 * map.bytes.count)
        for report in map.reports {
            let other = try #require(model.reports[[Int(report.kind.rawValue), Int(report.id)]])
            try #require(report.bits == other.bits && report.fields.count == other.fields.count)
            for (field, other) in zip(report.fields, other.fields) {
                let usages = field.usages.flatMap { Array($0.first.rawValue...$0.last.rawValue) }
                try #require(usages == other.usages && field.usageCount == usages.count, "\(Self.text(map.bytes))")
                try #require(
                    field.flags == other.flags && field.bitOffset == other.offset && field.size == other.size
                        && field.count == other.count && field.logicalMinimum == other.minimum
                        && field.logicalMaximum == other.maximum
                )
            }
        }
    }

    private func decode(_ map: ReportMap, _ model: LiteralMap, _ random: inout SeededGenerator) throws {
        var reader = ReportReader(map)
        var literal = LiteralReader(model)
        let inputs = map.reports.filter { $0.kind == .input }
        var last: [UInt8: [UInt8]] = [:]
        for _ in 0..<8 {
            guard let report = inputs.randomElement(using: &random) else { return }
            let payload = Self.payload(of: report, last[report.id], &random)
            last[report.id] = payload
            let id = Int.random(in: 0..<50, using: &random) == 0 ? UInt8.random(in: 0...255, using: &random) : report.id
            let reading = reader.read(payload.span, id: id)
            literal.read(payload, id: id)
            let held = reader.held.usages
            try #require(
                Set(held) == literal.held && held.count == literal.held.count,
                "\(Self.text(map.bytes)), report \(id): \(Self.text(payload))"
            )
            if case .keys(let keys) = reading.content { #expect(keys.usages == held) }
        }
    }

    /// Returns a random payload, or the last one with at most one other byte.
    private static func payload(
        of report: HIDReport,
        _ last: [UInt8]?,
        _ random: inout SeededGenerator
    ) -> [UInt8] {
        let most: UInt8 = Bool.random(using: &random) ? 255 : 8
        if var payload = last, Bool.random(using: &random) {
            if Bool.random(using: &random), let place = payload.indices.randomElement(using: &random) {
                payload[place] = UInt8.random(in: 0...most, using: &random)
            }
            return payload
        }
        let extra = Int.random(in: 0..<8, using: &random) == 0 ? Int.random(in: -2...2, using: &random) : 0
        return (0..<max(0, report.bytes + extra)).map { _ in UInt8.random(in: 0...most, using: &random) }
    }

    @Test("A map that declares as much as it can is parsed and decoded with little memory and time")
    func greediest() throws {
        // 255 reports of one array: 12,288 slots of 2 bits, with 12,288 usages.
        var bytes: [UInt8] = [0x05, 0x07, 0x25, 0x03, 0x75, 0x02, 0x96, 0x00, 0x30]
        for id: UInt8 in 1...255 { bytes += [0x85, id, 0x2A, 0xFF, 0x2F, 0x81, 0x00] }
        var reader = ReportReader(try ReportMap(bytes))
        let start = ContinuousClock.now
        for id: UInt8 in 1...255 {
            let reading = reader.read([UInt8](repeating: 0b1110_0100, count: 3072).span, id: id)
            #expect(reading.content == .rollOver)
        }
        for id: UInt8 in 1...255 {
            let reading = reader.read([UInt8](repeating: 0b1111_1111, count: 3072).span, id: id)
            #expect(reading.content == .keys(HeldKeys()))
        }
        #expect(start.duration(to: .now) < .seconds(60))
        // As many ranges as a map has room for, and a slot for each.
        let wide: [UInt8] = [0x05, 0x07, 0x26, 0xFF, 0x7F, 0x75, 0x08, 0x96, 0xF8, 0x07]
        let usages = Array(repeatElement([0x09, 0x05] as [UInt8], count: 2040).joined())
        reader = ReportReader(try ReportMap(wide + usages + [0x81, 0x00]))
        #expect(reader.read([UInt8](repeating: 1, count: 2040).span, id: 0).content == .keys(HeldKeys([5])))
    }

    private static func text(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }
}
