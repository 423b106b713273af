// SPDX-License-Identifier: GPL-2.0-or-later

/// Decodes the input reports of a map, and tracks the held keys as Linux does.
///
/// A key is pressed and released by changes between two reports of the same id. So the last report decides on a key
/// that is in two fields, and a key that moves between the slots of an array stays pressed. hid_report_raw_event,
/// hid_input_array_field and hidinput_hid_event in Linux 6.12.
public struct ReportReader: Sendable {
    private struct InputReport {
        var bytes: Int
        var fields: [KeyboardField]
        /// Last report, padded, with the bits that an ignored array had before; empty if there are no keys.
        var last: [UInt8]
    }

    private var reports: [InputReport] = []
    /// Index into `reports` by id; -1 if there is none.
    private var indices = [Int16](repeating: -1, count: 256)
    private let isNumbered: Bool
    private var keys: KeySet
    /// Usage indices in an array before and after a report.
    private var before = BitSet(limit: ReportMap.mostUsages)
    private var after = BitSet(limit: ReportMap.mostUsages)

    public init(_ map: ReportMap) {
        isNumbered = map.isNumbered
        var greatest: UInt16 = 0
        for report in map.reports where report.kind == .input {
            let fields = report.fields.filter(\.isKeyboardField).map(KeyboardField.init)
            for range in fields.lazy.flatMap(\.layout.usages) { greatest = max(greatest, range.lastKey) }
            let last = [UInt8](repeating: 0, count: fields.isEmpty ? 0 : report.bytes)
            indices[Int(report.id)] = Int16(reports.count)
            reports.append(InputReport(bytes: report.bytes, fields: fields, last: last))
        }
        keys = KeySet(greatest: greatest)
    }

    /// Keys held after the last report, also after one with a roll-over.
    public var held: HeldKeys { HeldKeys(keys.usages) }

    /// Releases all keys and forgets the last reports, for example after a disconnection.
    public mutating func reset() {
        keys.removeAll()
        for index in reports.indices {
            for byte in reports[index].last.indices { reports[index].last[byte] = 0 }
        }
    }

    /// Decodes a report; `id` is 0 for an unnumbered one, and `payload` is without the id byte.
    ///
    /// A shorter payload is padded with zeros, of a longer one the rest is ignored. An empty one without an id byte is
    /// ignored.
    public mutating func read(_ payload: [UInt8], id: UInt8) -> ReportReading {
        let index = Int(indices[Int(id)])
        guard index >= 0 else { return ReportReading(content: .unknownReport, length: .asDeclared) }
        let declared = reports[index].bytes
        let length: ReportReading.Length =
            payload.count == declared ? .asDeclared : payload.count < declared ? .shorter : .longer
        guard !reports[index].fields.isEmpty, isNumbered || !payload.isEmpty else {
            return ReportReading(content: .noKeys, length: length)
        }
        var report = Array(payload.prefix(declared))
        if length == .shorter { report.append(contentsOf: repeatElement(0, count: declared - payload.count)) }
        let isRollOver = apply(&report, at: index)
        keys.removeReleased()
        reports[index].last = report
        return ReportReading(content: isRollOver ? .rollOver : .keys(held), length: length)
    }

    /// Applies the fields of a report; returns true if an array is ignored because of a roll-over.
    ///
    /// The bits of an ignored array are replaced by those of the last report.
    private mutating func apply(_ report: inout [UInt8], at index: Int) -> Bool {
        var isRollOver = false
        for field in reports[index].fields {
            if field.layout.isVariable {
                applyVariable(field, report, since: reports[index].last)
            } else if field.isRollOver(in: report) {
                isRollOver = true
                field.copy(from: reports[index].last, to: &report)
            } else {
                applyArray(field, report, since: reports[index].last)
            }
        }
        return isRollOver
    }

    private mutating func applyVariable(_ field: KeyboardField, _ report: [UInt8], since last: [UInt8]) {
        let reportsAlways = field.layout.isRelative || field.layout.isBufferedBytes
        for slot in 0..<field.layout.count {
            guard let key = field.key(at: slot), let value = field.limitedValue(at: slot, of: report) else { continue }
            guard reportsAlways || value != field.value(at: slot, of: last) else { continue }
            press(key, value, field)
        }
    }

    private mutating func applyArray(_ field: KeyboardField, _ report: [UInt8], since last: [UInt8]) {
        before.removeAll()
        after.removeAll()
        for slot in 0..<field.layout.count {
            if let old = field.usageIndex(of: field.value(at: slot, of: last)) { before[old] = true }
            if let new = field.usageIndex(of: field.value(at: slot, of: report)) { after[new] = true }
        }
        for slot in 0..<field.layout.count {
            let old = field.usageIndex(of: field.value(at: slot, of: last))
            if let old, !after[old], let key = field.key(at: old) { press(key, 0, field) }
            let new = field.usageIndex(of: field.value(at: slot, of: report))
            if let new, !before[new], let key = field.key(at: new) { press(key, 1, field) }
        }
    }

    /// Applies a changed value: 0 releases a key, 2 is an autorepeat in Linux, and all others press it.
    ///
    /// A relative field presses a key only for a moment.
    private mutating func press(_ key: UInt16, _ value: Int32, _ field: KeyboardField) {
        guard value != 2 || field.layout.isRelative else { return }
        keys.set(key, isPressed: value != 0 && !field.layout.isRelative)
    }
}
