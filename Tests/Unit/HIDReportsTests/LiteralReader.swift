// SPDX-License-Identifier: GPL-2.0-or-later

/// Model of the decoding of input reports that keeps the values of each field, as Linux does.
struct LiteralReader {
    private var reports: [Int: LiteralMap.Report]
    private let isNumbered: Bool
    /// Last values by report id and field.
    private var values: [[Int]: [Int32]] = [:]
    private(set) var held: Set<UInt16> = []

    init(_ map: LiteralMap) {
        reports = [:]
        for (key, report) in map.reports where key[0] == 1 { reports[key[1]] = report }
        isNumbered = reports.keys.contains { $0 != 0 }
    }

    mutating func read(_ payload: [UInt8], id: UInt8) {
        guard let report = reports[Int(id)], isNumbered || !payload.isEmpty else { return }
        for (index, field) in report.fields.enumerated() {
            let old = values[[Int(id), index]] ?? Array(repeating: 0, count: field.count)
            let new = (0..<field.count).map { Self.value($0, field, payload, report) }
            let isArray = field.flags & 2 == 0
            if isArray, new.contains(where: { Self.usage($0, field) == 0x7_0001 }) { continue }
            let (isOld, isNew) = (Set(old), Set(new))
            for slot in 0..<field.count {
                if isArray {
                    if let usage = Self.usage(old[slot], field), !isNew.contains(old[slot]) { event(usage, 0, field) }
                    if let usage = Self.usage(new[slot], field), !isOld.contains(new[slot]) { event(usage, 1, field) }
                } else {
                    variable(field, Self.usage(at: slot, field), new[slot], old: old[slot])
                }
            }
            values[[Int(id), index]] = new
        }
    }

    private mutating func variable(_ field: LiteralMap.Field, _ usage: UInt32, _ value: Int32, old: Int32) {
        var value = value
        if field.minimum < field.maximum {
            if field.flags & 0x40 != 0, !(field.minimum...field.maximum).contains(value) { return }
            value = max(field.minimum, min(field.maximum, value))
        }
        if field.flags & 0x104 == 0, value == old { return }
        event(usage, value, field)
    }

    private mutating func event(_ usage: UInt32, _ value: Int32, _ field: LiteralMap.Field) {
        guard field.flags & 1 == 0, usage >> 16 == 7, usage & 0xFFFF > 3 else { return }
        let key = UInt16(truncatingIfNeeded: usage)
        if value != 2 {
            if value != 0 { held.insert(key) } else { held.remove(key) }
        }
        if field.flags & 4 != 0, value != 0 { held.remove(key) }
    }

    private static func usage(at index: Int, _ field: LiteralMap.Field) -> UInt32 {
        field.usages[min(index, field.usages.count - 1)]
    }

    private static func usage(_ value: Int32, _ field: LiteralMap.Field) -> UInt32? {
        guard value >= field.minimum, value <= field.maximum else { return nil }
        let index = Int(value) - Int(field.minimum)
        return index < max(field.count, field.usages.count) ? usage(at: index, field) : nil
    }

    /// Reads a slot bit by bit.
    private static func value(
        _ slot: Int,
        _ field: LiteralMap.Field,
        _ payload: [UInt8],
        _ report: LiteralMap.Report
    ) -> Int32 {
        let size = min(field.size, 32)
        var value: UInt32 = 0
        for bit in 0..<size {
            let place = field.offset + slot * field.size + bit
            guard place / 8 < payload.count else { break }
            value |= UInt32(payload[place / 8] >> UInt8(place % 8) & 1) << UInt32(bit)
        }
        if field.minimum < 0, size > 0, size < 32, value >> UInt32(size - 1) == 1 { value |= ~0 << UInt32(size) }
        return Int32(bitPattern: value)
    }
}
