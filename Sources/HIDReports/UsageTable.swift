// SPDX-License-Identifier: GPL-2.0-or-later

/// Usages of a field by index; the last one repeats without end.
struct UsageTable: Sendable {
    private let ranges: [HIDUsageRange]
    /// Index of the first usage of each range.
    private let starts: [Int]

    /// Creates the table of at least one range.
    init(_ ranges: [HIDUsageRange]) {
        self.ranges = ranges
        var starts: [Int] = []
        var next = 0
        for range in ranges {
            starts.append(next)
            next += range.count
        }
        self.starts = starts
    }

    subscript(index: Int) -> HIDUsage {
        // The last range that starts at `index` or before.
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= index { low = middle } else { high = middle }
        }
        let range = ranges[low]
        return HIDUsage(rawValue: range.first.rawValue + UInt32(min(index - starts[low], range.count - 1)))
    }

    /// Returns the usage id of page 07 at an index; nil for another page, and for 0 to 3, which are no keys.
    func key(at index: Int) -> UInt16? {
        let usage = self[index]
        return usage.page == HIDUsage.keyboardPage && usage.id > HIDUsage.lastKeyboardError ? usage.id : nil
    }
}
