// SPDX-License-Identifier: GPL-2.0-or-later

/// Items of a report descriptor as lines of text, indented by collection.
public struct ReportMapTree: Equatable, Sendable {
    public struct Line: Equatable, Sendable {
        /// Position of the item in bytes.
        public var offset: Int
        /// Number of collections around the item, up to `greatestDepth`.
        public var depth: Int
        /// Name of the item, and its data in parentheses.
        public var text: String
    }

    /// Indentation is limited, so that the text of 4,096 nested collections stays small.
    public static let greatestDepth = 16

    public private(set) var lines: [Line] = []

    private var page: UInt32 = 0
    private var pages: [UInt32] = []
    private var hasNegativeMinimum = false
    private var hasNegativePhysicalMinimum = false
    /// Usages since the last main item whose page follows from Usage Page.
    private var usages: [(line: Int, item: HIDItem, page: UInt32)] = []

    public static func == (left: ReportMapTree, right: ReportMapTree) -> Bool { left.lines == right.lines }

    /// Describes the first `ReportMap.mostBytes` bytes, up to the first item that is incomplete or long; other items that Linux refuses are included.
    public init(_ bytes: [UInt8]) {
        let bytes = Array(bytes.prefix(ReportMap.mostBytes))
        var offset = 0
        var depth = 0
        while let item = try? HIDItem.parse(bytes, at: offset) {
            if item.kind == .main, item.tag == HIDItem.Main.endCollection { depth = max(0, depth - 1) }
            lines.append(Line(offset: offset, depth: min(depth, Self.greatestDepth), text: ""))
            lines[lines.count - 1].text = text(of: item)
            if item.kind == .main, item.tag == HIDItem.Main.collection { depth += 1 }
            offset += 1 + item.size
        }
        usages = []
    }

    private mutating func text(of item: HIDItem) -> String {
        switch item.kind {
        case .main: main(item)
        case .global: global(item)
        case .local: local(item)
        case .reserved: "Reserved \(HIDNames.hexadecimal(UInt32(item.tag), digits: 1)) (\(Self.data(item)))"
        }
    }

    private mutating func main(_ item: HIDItem) -> String {
        resolvePages()
        switch item.tag {
        case HIDItem.Main.input: return "Input (\(Self.flags(item.data)))"
        case HIDItem.Main.output: return "Output (\(Self.flags(item.data)))"
        case HIDItem.Main.feature: return "Feature (\(Self.flags(item.data)))"
        case HIDItem.Main.collection:
            return "Collection (\(HIDNames.collection(UInt8(truncatingIfNeeded: item.data))))"
        case HIDItem.Main.endCollection: return "End Collection"
        default: return "Main \(HIDNames.hexadecimal(UInt32(item.tag), digits: 1)) (\(Self.data(item)))"
        }
    }

    private mutating func global(_ item: HIDItem) -> String {
        switch item.tag {
        case HIDItem.Global.usagePage:
            page = item.data
            return "Usage Page (\(HIDNames.page(UInt16(truncatingIfNeeded: item.data))))"
        case HIDItem.Global.logicalMinimum:
            hasNegativeMinimum = item.signedData < 0
            return "Logical Minimum (\(item.signedData))"
        case HIDItem.Global.logicalMaximum:
            return "Logical Maximum (\(Self.maximum(item, isSigned: hasNegativeMinimum)))"
        case HIDItem.Global.physicalMinimum:
            hasNegativePhysicalMinimum = item.signedData < 0
            return "Physical Minimum (\(item.signedData))"
        case HIDItem.Global.physicalMaximum:
            return "Physical Maximum (\(Self.maximum(item, isSigned: hasNegativePhysicalMinimum)))"
        case HIDItem.Global.unitExponent: return "Unit Exponent (\(item.signedData))"
        case HIDItem.Global.unit: return "Unit (\(HIDNames.hexadecimal(item.data, digits: 2)))"
        case HIDItem.Global.reportSize: return "Report Size (\(item.data))"
        case HIDItem.Global.reportID: return "Report ID (\(item.data))"
        case HIDItem.Global.reportCount: return "Report Count (\(item.data))"
        case HIDItem.Global.push:
            if pages.count < ReportMap.mostPushes { pages.append(page) }
            return "Push"
        case HIDItem.Global.pop:
            page = pages.popLast() ?? page
            return "Pop"
        default: return "Global \(HIDNames.hexadecimal(UInt32(item.tag), digits: 1)) (\(Self.data(item)))"
        }
    }

    private mutating func local(_ item: HIDItem) -> String {
        switch item.tag {
        case HIDItem.Local.usage, HIDItem.Local.usageMinimum, HIDItem.Local.usageMaximum:
            if item.size < 4 { usages.append((lines.count - 1, item, page)) }
            return Self.usage(item, page: page)
        case HIDItem.Local.delimiter: return item.data == 0 ? "Delimiter (Close)" : "Delimiter (Open)"
        default: return "Local \(HIDNames.hexadecimal(UInt32(item.tag), digits: 1)) (\(Self.data(item)))"
        }
    }

    /// Corrects usages that precede their Usage Page.
    private mutating func resolvePages() {
        for usage in usages.reversed() {
            guard usage.page != page else { break }
            lines[usage.line].text = Self.usage(usage.item, page: page)
        }
        usages.removeAll()
    }

    private static func usage(_ item: HIDItem, page: UInt32) -> String {
        let name =
            switch item.tag {
            case HIDItem.Local.usage: "Usage"
            case HIDItem.Local.usageMinimum: "Usage Minimum"
            default: "Usage Maximum"
            }
        guard item.size > 2 else {
            let usage = HIDUsage(
                page: UInt16(truncatingIfNeeded: page),
                id: UInt16(truncatingIfNeeded: item.data)
            )
            return "\(name) (\(HIDNames.usage(usage)))"
        }
        let usage = HIDUsage(rawValue: item.data)
        return "\(name) (\(HIDNames.page(usage.page)): \(HIDNames.usage(usage)))"
    }

    private static func maximum(_ item: HIDItem, isSigned: Bool) -> String {
        isSigned ? String(item.signedData) : String(item.data)
    }

    private static func data(_ item: HIDItem) -> String {
        item.size == 0 ? "" : HIDNames.hexadecimal(item.data, digits: 2 * item.size)
    }

    private static func flags(_ data: UInt32) -> String {
        var names = [
            data & 1 == 0 ? "Data" : "Constant", data & 2 == 0 ? "Array" : "Variable",
            data & 4 == 0 ? "Absolute" : "Relative",
        ]
        let others = [
            (3, "Wrap"), (4, "Nonlinear"), (5, "No Preferred State"), (6, "Null State"), (7, "Volatile"),
            (8, "Buffered Bytes"),
        ]
        for (bit, name) in others where data >> bit & 1 != 0 { names.append(name) }
        return names.joined(separator: ", ")
    }
}
