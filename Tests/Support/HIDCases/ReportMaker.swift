// SPDX-License-Identifier: GPL-2.0-or-later

import HIDReports

/// Makes random input reports for a descriptor, mostly those of a person who types.
struct ReportMaker {
    private let isNumbered: Bool
    /// Input reports with fields of keys.
    private let reports: [HIDReport]
    /// Last report of each id, without the id byte.
    private var last: [UInt8: [UInt8]] = [:]
    private var random: SplitMix

    init(_ map: ReportMap, seed: UInt64) {
        isNumbered = map.isNumbered
        reports = map.reports.filter { $0.kind == .input && $0.fields.contains(where: \.isKeyboardField) }
        random = SplitMix(seed: seed)
    }

    /// Returns a report, with its id first if the reports are numbered.
    mutating func next() -> [UInt8] {
        guard let report = reports.randomElement(using: &random) else { return [] }
        var id = report.id
        var payload = content(of: report)
        last[id] = payload
        switch Int.random(in: 0..<40, using: &random) {
        case 0: payload.removeLast(Int.random(in: 0...payload.count, using: &random))
        case 1, 2: payload += bytes(.random(in: 1...9, using: &random))
        case 3: id = .random(in: 0...255, using: &random)
        default: break
        }
        return isNumbered ? [id] + payload : payload
    }

    private mutating func content(of report: HIDReport) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: report.bytes)
        var payload = last[report.id] ?? zeros
        let fields = report.fields.filter(\.isKeyboardField)
        switch Int.random(in: 0..<16, using: &random) {
        case 0, 1: payload = zeros
        case 2: payload = bytes(report.bytes)
        case 3: payload = [UInt8](repeating: 0xFF, count: report.bytes)
        case 4, 5:
            // Roll-over: each array gets the value of 07:01.
            for field in fields where !field.isVariable {
                let value = Self.value(of: HIDUsage.errorRollOver, in: field) ?? 1
                let slots = Bool.random(using: &random) ? Array(0..<field.count) : [randomSlot(of: field)]
                for slot in slots { Self.set(&payload, field, slot, value) }
            }
        case 6, 7:
            // Keys that move to other slots.
            for field in fields where !field.isVariable && field.count > 0 {
                let values = (0..<field.count).map { Self.get(payload, field, $0) }.shuffled(using: &random)
                for (slot, value) in values.enumerated() { Self.set(&payload, field, slot, value) }
            }
        case 8...10:
            payload = zeros
            press(fields, in: &payload)
        default: press(fields, in: &payload)
        }
        return payload
    }

    /// Changes up to three slots of each field.
    private mutating func press(_ fields: [HIDField], in payload: inout [UInt8]) {
        for field in fields where field.count > 0 {
            for _ in 0..<Int.random(in: 0..<4, using: &random) { press(field, in: &payload) }
        }
    }

    /// Changes one slot of a field.
    private mutating func press(_ field: HIDField, in payload: inout [UInt8]) {
        let slot = randomSlot(of: field)
        guard !field.isVariable else {
            let value = Self.get(payload, field, slot) == 0 ? UInt32.random(in: 1...3, using: &random) : 0
            return Self.set(&payload, field, slot, value)
        }
        let count = UInt32(max(field.usageCount, field.count))
        let minimum = UInt32(bitPattern: field.logicalMinimum)
        let index: UInt32
        switch Int.random(in: 0..<8, using: &random) {
        case 0: index = count &- 1
        case 1: index = count
        case 2: index = UInt32(bitPattern: field.logicalMaximum) &- minimum &+ .random(in: 0...1, using: &random)
        case 3: index = UInt32.max
        case 4: index = .random(in: 0..<4, using: &random)
        default: index = .random(in: 0..<max(count, 1), using: &random)
        }
        Self.set(&payload, field, slot, minimum &+ index)
    }

    private mutating func randomSlot(of field: HIDField) -> Int {
        field.count > 0 ? Int.random(in: 0..<field.count, using: &random) : 0
    }

    private mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in .random(in: 0...255, using: &random) }
    }

    /// Returns the value by which an array reports a usage.
    static func value(of usage: HIDUsage, in field: HIDField) -> UInt32? {
        var index: UInt32 = 0
        for range in field.usages {
            if range.first <= usage && usage <= range.last {
                return UInt32(bitPattern: field.logicalMinimum) &+ index &+ (usage.rawValue - range.first.rawValue)
            }
            index &+= range.last.rawValue &- range.first.rawValue &+ 1
        }
        return nil
    }

    /// Returns the lowest 32 bits of a slot.
    static func get(_ payload: [UInt8], _ field: HIDField, _ slot: Int) -> UInt32 {
        var value: UInt32 = 0
        for bit in 0..<min(field.size, 32) {
            let place = field.bitOffset + slot * field.size + bit
            if place / 8 < payload.count, payload[place / 8] >> UInt8(place % 8) & 1 != 0 { value |= 1 << UInt32(bit) }
        }
        return value
    }

    /// Sets the lowest 32 bits of a slot.
    static func set(_ payload: inout [UInt8], _ field: HIDField, _ slot: Int, _ value: UInt32) {
        guard slot < field.count else { return }
        for bit in 0..<min(field.size, 32) {
            let place = field.bitOffset + slot * field.size + bit
            guard place / 8 < payload.count else { return }
            let mask = UInt8(1) << UInt8(place % 8)
            payload[place / 8] = payload[place / 8] & ~mask | (value >> UInt32(bit) & 1 != 0 ? mask : 0)
        }
    }
}
