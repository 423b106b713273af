// SPDX-License-Identifier: GPL-2.0-or-later

/// Field of an input report that can contain keys, prepared for decoding.
///
/// A report has all bits of its fields. hid_input_fetch_field, hid_input_var_field and hid_input_array_field in Linux.
final class KeyboardField: Sendable {
    private let layout: HIDField
    private let usages: UsageTable
    /// Number of values that an array can distinguish, 1 to 12,288.
    private let usageCount: Int
    /// Bytes of the report that contain bits of this field.
    private let bytes: Range<Int>
    /// True if every slot is a byte without sign.
    private let hasByteSlots: Bool
    /// True if a report with the same bits as the last one changes no key.
    private let ignoresEqual: Bool
    /// True if a variable field reports even values that are equal to the last ones.
    private let reportsAlways: Bool

    init(_ layout: HIDField) {
        self.layout = layout
        usages = UsageTable(layout.usages)
        usageCount = max(layout.usageCount, layout.count)
        let bits = layout.size * layout.count
        bytes = bits == 0 ? 0..<0 : layout.bitOffset / 8..<(layout.bitOffset + bits + 7) / 8
        hasByteSlots = layout.size == 8 && layout.bitOffset % 8 == 0 && layout.logicalMinimum >= 0
        reportsAlways = layout.isRelative || layout.isBufferedBytes
        if layout.isVariable {
            ignoresEqual = !reportsAlways && !layout.limitsValues
        } else {
            // The last report of an array never has a roll-over, unless the zeros before the first report mean one.
            let zero = -Int(layout.logicalMinimum)
            ignoresEqual = zero < 0 || layout.logicalMaximum < 0 || zero >= usageCount || usages[zero] != .errorRollOver
        }
    }

    /// Applies the changes between two reports to `keys`; returns false if this is an array with ErrorRollOver (07:01),
    /// which changes nothing.
    func apply(_ report: Span<UInt8>, since last: Span<UInt8>, to keys: inout PressOrder) -> Bool {
        if ignoresEqual, bytes.allSatisfy({ report[$0] == last[$0] }) { return true }
        guard layout.isVariable else { return applyArray(report, since: last, to: &keys) }
        applyVariable(report, since: last, to: &keys)
        return true
    }

    private func applyVariable(_ report: Span<UInt8>, since last: Span<UInt8>, to keys: inout PressOrder) {
        for slot in 0..<layout.count {
            if layout.size == 1, ignoresEqual {
                let place = layout.bitOffset + slot
                if (report[place >> 3] ^ last[place >> 3]) >> UInt8(place & 7) & 1 == 0 { continue }
            }
            let (new, old) = (value(at: slot, of: report), value(at: slot, of: last))
            if ignoresEqual, new == old { continue }
            guard let value = limited(new), reportsAlways || value != old, let key = usages.key(at: slot) else {
                continue
            }
            // Linux takes the value 2 as an autorepeat.
            guard value != 2 || layout.isRelative else { continue }
            if value != 0 { press(key, in: &keys) } else { keys.release(key) }
        }
    }

    private func applyArray(_ report: Span<UInt8>, since last: Span<UInt8>, to keys: inout PressOrder) -> Bool {
        var changed = layout.count..<layout.count
        for slot in 0..<layout.count {
            let value = value(at: slot, of: report)
            if value != self.value(at: slot, of: last) {
                changed = min(changed.lowerBound, slot)..<slot + 1
            } else if ignoresEqual {
                continue
            }
            if let index = usageIndex(of: value), usages[index] == .errorRollOver { return false }
        }
        if layout.count <= 16 {
            change(
                changed,
                report,
                since: last,
                &keys,
                had: { value, _ in hasSlot(value, last) },
                has: { value, _ in hasSlot(value, report) }
            )
        } else {
            // Searching so many slots for each slot would take too long.
            let (before, after) = (indices(in: last), indices(in: report))
            change(changed, report, since: last, &keys, had: { before.contains($1) }, has: { after.contains($1) })
        }
        return true
    }

    /// Releases and presses the keys of changed slots of an array.
    ///
    /// `had` and `has` return true if any slot of the last and of this report has a value, given with its usage index.
    @inline(__always)
    private func change(
        _ slots: Range<Int>,
        _ report: Span<UInt8>,
        since last: Span<UInt8>,
        _ keys: inout PressOrder,
        had: (Int32, Int) -> Bool,
        has: (Int32, Int) -> Bool
    ) {
        for slot in slots {
            let (new, old) = (value(at: slot, of: report), value(at: slot, of: last))
            if new == old { continue }
            if let index = usageIndex(of: old), let key = usages.key(at: index), !has(old, index) { keys.release(key) }
            if let index = usageIndex(of: new), let key = usages.key(at: index), !had(new, index) {
                press(key, in: &keys)
            }
        }
    }

    /// Returns the usage indices of an array's slots.
    private func indices(in report: Span<UInt8>) -> UsageSet {
        var indices = UsageSet(limit: usageCount)
        for slot in 0..<layout.count {
            if let index = usageIndex(of: value(at: slot, of: report)) { indices.insert(index) }
        }
        return indices
    }

    /// Returns true if a slot has a value.
    private func hasSlot(_ value: Int32, _ report: Span<UInt8>) -> Bool {
        for slot in 0..<layout.count where self.value(at: slot, of: report) == value { return true }
        return false
    }

    /// Presses a key; in a relative field, only for a moment.
    private func press(_ key: UInt16, in keys: inout PressOrder) {
        if layout.isRelative { keys.release(key) } else { keys.press(key) }
    }

    /// Returns the index of the usage that a value of an array means; nil if it means none.
    private func usageIndex(of value: Int32) -> Int? {
        guard value >= layout.logicalMinimum, value <= layout.logicalMaximum else { return nil }
        let index = Int(value) - Int(layout.logicalMinimum)
        return index < usageCount ? index : nil
    }

    /// Returns a value of a variable field, limited to the logical range; nil for the null state.
    ///
    /// hidinput_hid_event in Linux.
    private func limited(_ value: Int32) -> Int32? {
        let (minimum, maximum) = (layout.logicalMinimum, layout.logicalMaximum)
        guard minimum < maximum else { return value }
        let limited = min(max(value, minimum), maximum)
        return layout.hasNullState && limited != value ? nil : limited
    }

    /// Copies the bits of this field.
    func copy(from source: [UInt8], to target: inout [UInt8]) {
        for bit in layout.bitOffset..<(layout.bitOffset + layout.size * layout.count) {
            let mask = UInt8(1) << UInt8(bit % 8)
            target[bit / 8] = target[bit / 8] & ~mask | source[bit / 8] & mask
        }
    }

    /// Returns the value of a slot; of more than 32 bits, the first 32.
    private func value(at slot: Int, of report: Span<UInt8>) -> Int32 {
        hasByteSlots ? Int32(report[bytes.lowerBound + slot]) : bitValue(at: slot, of: report)
    }

    private func bitValue(at slot: Int, of report: Span<UInt8>) -> Int32 {
        let size = min(layout.size, 32)
        let bits = Self.bits(size, at: layout.bitOffset + slot * layout.size, of: report)
        guard layout.logicalMinimum < 0, size > 0 else { return Int32(bitPattern: bits) }
        let unused = UInt32(32 - size)
        return Int32(bitPattern: bits << unused) >> Int32(unused)
    }

    /// Reads 0 to 32 bits, the first one least significant.
    private static func bits(_ count: Int, at offset: Int, of bytes: Span<UInt8>) -> UInt32 {
        guard count > 0 else { return 0 }
        let first = offset >> 3
        if offset & 7 + count <= 8 { return UInt32(bytes[first]) >> UInt32(offset & 7) & (1 << UInt32(count) - 1) }
        var wide: UInt64 = 0
        for index in first...((offset + count - 1) / 8) {
            wide |= UInt64(bytes[index]) << UInt64(8 * (index - first))
        }
        return UInt32(truncatingIfNeeded: wide >> UInt64(offset % 8) & (1 << UInt64(count) - 1))
    }
}

extension HIDField {
    /// True if a slot of a variable field can have a value outside of the logical range.
    fileprivate var limitsValues: Bool {
        guard logicalMinimum < logicalMaximum else { return false }
        let bits = min(size, 32)
        guard bits > 0 else { return !(logicalMinimum...logicalMaximum).contains(0) }
        let isSigned = logicalMinimum < 0 || bits == 32
        let least = isSigned ? -1 << (bits - 1) : 0
        let greatest = isSigned ? 1 << (bits - 1) - 1 : 1 << bits - 1
        return least < Int(logicalMinimum) || greatest > Int(logicalMaximum)
    }
}
