// SPDX-License-Identifier: GPL-2.0-or-later

import HIDReports
import TestSupport
import Testing

/// Vector of Tests/Vectors/hid-*.txt: a report descriptor and the lines that belong to it.
struct MapVector: CustomTestStringConvertible {
    struct WrongLine: Error {
        var number: Int
    }

    var name: String
    var map: [UInt8] = []
    var lines: [String] = []

    var testDescription: String { name }

    static func all(_ file: String) throws -> [MapVector] {
        var vectors: [MapVector] = []
        for (number, text) in try VectorFile.lines(file) {
            if text.hasPrefix("== ") {
                vectors.append(MapVector(name: String(text.dropFirst(3))))
            } else if text.hasPrefix("map"), let bytes = VectorFile.bytes(text.dropFirst(3)), !vectors.isEmpty {
                vectors[vectors.count - 1].map = bytes
            } else if !vectors.isEmpty {
                vectors[vectors.count - 1].lines.append(text)
            } else {
                throw WrongLine(number: number)
            }
        }
        return vectors
    }

    /// Describes a map as the file does.
    static func lines(of bytes: [UInt8]) -> [String] {
        do throws(ReportMapError) {
            let map = try ReportMap(bytes)
            return map.collections.map { "collection \(depth(of: $0, in: map)) \($0.type) \(hexadecimal($0.usage))" }
                + map.reports.flatMap { report in
                    ["\(report.kind) \(report.id) \(report.bits)"] + report.fields.map(line)
                }
        } catch {
            return ["refused \(error.offset) \(error.reason)"]
        }
    }

    private static func depth(of collection: HIDCollection, in map: ReportMap) -> Int {
        collection.parent.map { depth(of: map.collections[$0], in: map) + 1 } ?? 0
    }

    private static func line(_ field: HIDField) -> String {
        let flags = String(field.flags, radix: 16, uppercase: true)
        let range = "\(field.logicalMinimum)...\(field.logicalMaximum)"
        var usages: [HIDUsageRange] = []
        for next in field.usages {
            if let last = usages.last?.last, next.first.rawValue == last.rawValue + 1 {
                usages[usages.count - 1].last = next.last
            } else {
                usages.append(next)
            }
        }
        let texts = usages.map {
            $0.first == $0.last ? hexadecimal($0.first) : hexadecimal($0.first) + "-" + hexadecimal($0.last)
        }
        return "field \(field.bitOffset) \(field.count)x\(field.size) \(flags) \(range) "
            + texts.joined(separator: " ")
    }

    private static func hexadecimal(_ usage: HIDUsage) -> String {
        let digits = String(usage.rawValue, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
