// SPDX-License-Identifier: GPL-2.0-or-later

import HIDReports

/// The input is a report descriptor after its length, then input reports: each an id, a length and a payload.
enum ReportsEntry {
    static func fault(in bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let descriptor = input.take(Int(input.word()))
        let lines = ReportMapTree(descriptor).lines
        guard lines.count <= descriptor.count else { return "\(lines.count) lines" }
        do throws(ReportMapError) {
            let map = try ReportMap(descriptor)
            return fault(of: map) ?? fault(of: map, &input)
        } catch {
            // The refused item is the last line, or the first one that cannot be read.
            return error.offset <= descriptor.count ? nil : "refused at \(error.offset)"
        }
    }

    private static func fault(of map: ReportMap) -> String? {
        var ranges = 0
        for report in map.reports {
            guard report.bits <= ReportMap.mostBitsInReport, report.fields.count <= ReportMap.mostFields else {
                return "a report of \(report.bits) bits and \(report.fields.count) fields"
            }
            for field in report.fields {
                ranges += field.usages.count
                let end = field.bitOffset + field.size * field.count
                guard end <= report.bits, (1...ReportMap.mostUsages).contains(field.usageCount) else {
                    return "a field up to \(end) of \(field.usageCount) usages"
                }
            }
        }
        return ranges <= 2 * map.bytes.count ? nil : "\(ranges) ranges"
    }

    private static func fault(of map: ReportMap, _ input: inout FuzzInput) -> String? {
        var reader = ReportReader(map)
        var decoder = KeyDecoder()
        var text: [UInt8] = []
        var reports: UInt64 = 0
        while !input.isAtEnd {
            let id = input.byte()
            let reading = reader.read(input.bytes(64).span, id: id)
            _ = decoder.decode(reading, into: &text)
            reports += 1
            let held = reader.held.usages
            guard Set(held).count == held.count, !held.contains(where: { $0 <= 3 }) else { return "held: \(held)" }
            if case .keys(let keys) = reading.content, keys != reader.held { return "\(keys) read, \(held) held" }
        }
        guard decoder.account.sum == reports, decoder.account.bytes == text.count else { return "a wrong account" }
        reader.reset()
        return reader.held.usages.isEmpty ? nil : "keys held after a reset"
    }
}
