// SPDX-License-Identifier: GPL-2.0-or-later

/// Local items since the last main item.
///
/// HID 1.11, 6.2.2.8; hid_parser_local in Linux.
struct LocalState {
    /// Usages of one Usage item, or of one pair of Usage Minimum and Usage Maximum.
    private struct Run {
        /// First usage; of a run that is not extended, only the lower 16 bits count.
        var first: UInt32
        var count: Int
        /// Page for a run that is not extended.
        var page: UInt32
        /// True if the item had 4 bytes: then a usage contains its page.
        var isExtended: Bool
    }

    private var runs: [Run] = []
    /// Number of usages in `runs`, up to `ReportMap.mostUsages`.
    private(set) var usageCount = 0
    private var usageMinimum: UInt32 = 0
    private(set) var isDelimiterOpen = false
    /// Number of opened delimiters: usages after the second one are alternatives, which are ignored.
    private var delimiters = 0

    /// First usage; 0 if there is none.
    var firstUsage: HIDUsage {
        guard let run = runs.first else { return HIDUsage(rawValue: 0) }
        return run.isExtended
            ? HIDUsage(rawValue: run.first)
            : HIDUsage(page: UInt16(truncatingIfNeeded: run.page), id: UInt16(truncatingIfNeeded: run.first))
    }

    /// Usages in order.
    var ranges: [HIDUsageRange] {
        var ranges: [HIDUsageRange] = []
        for run in runs {
            let steps = UInt32(run.count - 1)
            if run.isExtended {
                ranges.append(HIDUsageRange(HIDUsage(rawValue: run.first), HIDUsage(rawValue: run.first &+ steps)))
                continue
            }
            let page = run.page << 16
            let first = run.first & 0xFFFF
            let last = first + steps
            ranges.append(HIDUsageRange(HIDUsage(rawValue: page | first), HIDUsage(rawValue: page | min(last, 0xFFFF))))
            // Ids continue at 0 after FFFF.
            if last > 0xFFFF {
                ranges.append(HIDUsageRange(HIDUsage(rawValue: page), HIDUsage(rawValue: page | last & 0xFFFF)))
            }
        }
        return ranges
    }

    mutating func apply(_ item: HIDItem, page: UInt32) throws(ReportMapError) {
        switch item.tag {
        case HIDItem.Local.delimiter: try delimit(item)
        case _ where delimiters > 1: break
        case HIDItem.Local.usage: try append(item.data, count: 1, item, page: page)
        case HIDItem.Local.usageMinimum: usageMinimum = item.data
        case HIDItem.Local.usageMaximum: try appendRange(to: item, page: page)
        default: break
        }
    }

    private mutating func delimit(_ item: HIDItem) throws(ReportMapError) {
        let opens = item.data != 0
        guard opens != isDelimiterOpen else {
            throw ReportMapError(offset: item.offset, reason: opens ? .nestedDelimiter : .closeWithoutDelimiter)
        }
        isDelimiterOpen = opens
        if opens { delimiters += 1 }
    }

    /// Appends the usages from Usage Minimum to Usage Maximum.
    ///
    /// Linux computes with 32 bits without sign, so that a maximum below the minimum adds as many usages as are left,
    /// or none if it is lower by at most the number of usages so far.
    private mutating func appendRange(to item: HIDItem, page: UInt32) throws(ReportMapError) {
        let room = UInt32(ReportMap.mostUsages - usageCount)
        var last = item.data
        if last &- usageMinimum &+ UInt32(usageCount) >= UInt32(ReportMap.mostUsages) {
            last = room &+ usageMinimum &- 1
            guard last > 0 else { throw ReportMapError(offset: item.offset, reason: .tooManyUsages) }
        }
        guard usageMinimum <= last else { return }
        // A loop up to FFFFFFFF has no end, except that the usages run out.
        guard last < .max, last - usageMinimum < room else {
            throw ReportMapError(offset: item.offset, reason: .tooManyUsages)
        }
        try append(usageMinimum, count: Int(last - usageMinimum) + 1, item, page: page)
    }

    private mutating func append(_ first: UInt32, count: Int, _ item: HIDItem, page: UInt32) throws(ReportMapError) {
        guard usageCount + count <= ReportMap.mostUsages else {
            throw ReportMapError(offset: item.offset, reason: .tooManyUsages)
        }
        usageCount += count
        runs.append(Run(first: first, count: count, page: page & 0xFFFF, isExtended: item.size > 2))
    }

    /// Applies the usage page of the main item to the usages after the last one that has this page already.
    ///
    /// hid_concatenate_last_usage_page in Linux.
    mutating func apply(lastPage page: UInt32) {
        for index in runs.indices.reversed() where !runs[index].isExtended {
            if runs[index].page == page { return }
            runs[index].page = page & 0xFFFF
        }
    }
}
