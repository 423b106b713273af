// SPDX-License-Identifier: GPL-2.0-or-later

/// Parser of report descriptors that accepts what Linux accepts.
///
/// hid_open_report in Linux 6.12.
struct ReportMapParser {
    private(set) var collections: [HIDCollection] = []
    private(set) var reports: [HIDReport] = []

    private var globals = GlobalState()
    private var pushed: [GlobalState] = []
    private var locals = LocalState()
    /// Indices of the open collections, the innermost last.
    private var open: [Int] = []
    /// Index into `reports` by kind and id.
    private var reportIndices: [Key: Int] = [:]

    private struct Key: Hashable {
        var kind: ReportKind
        var id: UInt8
    }

    mutating func parse(_ bytes: [UInt8]) throws(ReportMapError) {
        guard !bytes.isEmpty else { throw ReportMapError(offset: 0, reason: .empty) }
        guard bytes.count <= ReportMap.mostBytes else {
            throw ReportMapError(offset: ReportMap.mostBytes, reason: .tooLong)
        }
        var offset = 0
        while let item = try HIDItem.parse(bytes, at: offset) {
            switch item.kind {
            case .main: try main(item)
            case .global: try global(item)
            case .local: try locals.apply(item, page: globals.usagePage)
            case .reserved: break
            }
            offset += 1 + item.size
        }
        guard open.isEmpty else { throw ReportMapError(offset: offset, reason: .openCollection) }
        guard !locals.isDelimiterOpen else { throw ReportMapError(offset: offset, reason: .openDelimiter) }
    }

    private mutating func main(_ item: HIDItem) throws(ReportMapError) {
        locals.apply(lastPage: globals.usagePage)
        switch item.tag {
        case HIDItem.Main.collection:
            let type = UInt8(truncatingIfNeeded: item.data)
            collections.append(HIDCollection(type: type, usage: locals.firstUsage, parent: open.last))
            open.append(collections.count - 1)
        case HIDItem.Main.endCollection:
            guard open.popLast() != nil else {
                throw ReportMapError(offset: item.offset, reason: .endWithoutCollection)
            }
        case HIDItem.Main.input: try addField(.input, item)
        case HIDItem.Main.output: try addField(.output, item)
        case HIDItem.Main.feature: try addField(.feature, item)
        default: break
        }
        locals = LocalState()
    }

    private mutating func global(_ item: HIDItem) throws(ReportMapError) {
        switch item.tag {
        case HIDItem.Global.push:
            guard pushed.count < ReportMap.mostPushes else {
                throw ReportMapError(offset: item.offset, reason: .pushOverflow)
            }
            pushed.append(globals)
        case HIDItem.Global.pop:
            guard let state = pushed.popLast() else {
                throw ReportMapError(offset: item.offset, reason: .popWithoutPush)
            }
            globals = state
        default: try globals.apply(item)
        }
    }

    /// hid_add_field in Linux.
    private mutating func addField(_ kind: ReportKind, _ item: HIDItem) throws(ReportMapError) {
        let key = Key(kind: kind, id: globals.reportID)
        let index = reportIndices[key] ?? reports.count
        if index == reports.count {
            reportIndices[key] = index
            reports.append(HIDReport(kind: kind, id: globals.reportID, fields: [], bits: 0))
        }
        guard !globals.isRangeInverted else {
            throw ReportMapError(
                offset: item.offset,
                reason: .logicalRange(minimum: globals.logicalMinimum, maximum: globals.logicalMaximum)
            )
        }
        let start = reports[index].bits
        // At most 256 * 12,288 more than a report may have.
        reports[index].bits += globals.reportSize * globals.reportCount
        guard reports[index].bits <= ReportMap.mostBitsInReport else {
            throw ReportMapError(offset: item.offset, reason: .reportTooLong(bits: reports[index].bits))
        }
        // A field without usages is padding, and so is one too many.
        guard locals.usageCount > 0, reports[index].fields.count < ReportMap.mostFields else { return }
        reports[index].fields.append(
            HIDField(
                flags: item.data,
                usages: locals.ranges,
                usageCount: locals.usageCount,
                bitOffset: start,
                size: globals.reportSize,
                count: globals.reportCount,
                logicalMinimum: globals.logicalMinimum,
                logicalMaximum: globals.logicalMaximum
            )
        )
    }
}
