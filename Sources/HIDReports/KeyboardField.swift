// SPDX-License-Identifier: GPL-2.0-or-later

/// Field of an input report that can contain keys, prepared for decoding.
///
/// hid_input_fetch_field and hid_input_var_field in Linux.
struct KeyboardField: Sendable {
    let layout: HIDField
    /// Index of the first usage of each range of `layout.usages`.
    private let starts: [Int]

    init(_ layout: HIDField) {
        self.layout = layout
        var starts: [Int] = []
        var next = 0
        for range in layout.usages {
            starts.append(next)
            next += range.count
        }
        self.starts = starts
    }

    /// Number of values that an array can distinguish.
    var usageCount: Int { max(layout.usageCount, layout.count) }

    /// Usage id of page 07 at `index`, 0 up to `usageCount`; nil for another page, and for 0 to 3, which are no keys.
    func key(at index: Int) -> UInt16? {
        let usage = usage(at: index)
        return usage.page == HIDUsage.keyboardPage && usage.id > HIDUsage.lastKeyboardError ? usage.id : nil
    }

    func usage(at index: Int) -> HIDUsage {
        // The last range that starts at `index` or before.
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= index { low = middle } else { high = middle }
        }
        let range = layout.usages[low]
        return HIDUsage(rawValue: range.first.rawValue + UInt32(min(index - starts[low], range.count - 1)))
    }

    /// Returns the value of a slot; of more than 32 bits, the first 32.
    func value(at slot: Int, of report: [UInt8]) -> Int32 {
        let size = min(layout.size, 32)
        let bits = Self.bits(size, at: layout.bitOffset + slot * layout.size, of: report)
        guard layout.logicalMinimum < 0, size > 0 else { return Int32(bitPattern: bits) }
        let unused = UInt32(32 - size)
        return Int32(bitPattern: bits << unused) >> Int32(unused)
    }

    /// Returns the index of the usage that a value of an array means; nil if it means none.
    func usageIndex(of value: Int32) -> Int? {
        guard value >= layout.logicalMinimum, value <= layout.logicalMaximum else { return nil }
        let index = Int(value) - Int(layout.logicalMinimum)
        return index < usageCount ? index : nil
    }

    /// True if a slot of this array means ErrorRollOver (07:01).
    func isRollOver(in report: [UInt8]) -> Bool {
        (0..<layout.count).contains {
            usageIndex(of: value(at: $0, of: report)).map { usage(at: $0) } == HIDUsage.errorRollOver
        }
    }

    /// Returns the value of a slot of a variable field, limited to the logical range; nil for the null state.
    ///
    /// hidinput_hid_event in Linux.
    func limitedValue(at slot: Int, of report: [UInt8]) -> Int32? {
        let value = value(at: slot, of: report)
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

    /// Reads 0 to 32 bits, the first one least significant.
    static func bits(_ count: Int, at offset: Int, of bytes: [UInt8]) -> UInt32 {
        guard count > 0 else { return 0 }
        var wide: UInt64 = 0
        let first = offset / 8
        for index in first...((offset + count - 1) / 8) {
            wide |= UInt64(bytes[index]) << UInt64(8 * (index - first))
        }
        return UInt32(truncatingIfNeeded: wide >> UInt64(offset % 8) & (1 << UInt64(count) - 1))
    }
}
