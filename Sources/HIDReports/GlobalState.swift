// SPDX-License-Identifier: GPL-2.0-or-later

/// Global items in effect.
///
/// HID 1.11, 6.2.2.7; hid_parser_global in Linux.
struct GlobalState {
    /// Usage page of the last item; the upper 16 bits have no meaning.
    var usagePage: UInt32 = 0
    var logicalMinimum: Int32 = 0
    /// Bits of a signed number if `logicalMinimum` was negative when it was declared, else of an unsigned one.
    var logicalMaximum: Int32 = 0
    var reportSize = 0
    var reportCount = 0
    /// 0 before the first Report ID.
    var reportID: UInt8 = 0

    /// True if the logical maximum is below the minimum; both count as unsigned unless the minimum is negative.
    var isRangeInverted: Bool {
        logicalMinimum < 0
            ? logicalMaximum < logicalMinimum
            : UInt32(bitPattern: logicalMaximum) < UInt32(bitPattern: logicalMinimum)
    }

    /// Applies an item other than Push and Pop.
    mutating func apply(_ item: HIDItem) throws(ReportMapError) {
        func refuse(_ reason: ReportMapError.Reason) -> ReportMapError {
            ReportMapError(offset: item.offset, reason: reason)
        }
        switch item.tag {
        case HIDItem.Global.usagePage: usagePage = item.data
        case HIDItem.Global.logicalMinimum: logicalMinimum = item.signedData
        case HIDItem.Global.logicalMaximum:
            logicalMaximum = logicalMinimum < 0 ? item.signedData : Int32(bitPattern: item.data)
        // The physical range and the unit concern no key.
        case HIDItem.Global.physicalMinimum, HIDItem.Global.physicalMaximum, HIDItem.Global.unitExponent,
            HIDItem.Global.unit:
            break
        case HIDItem.Global.reportSize:
            guard item.data <= ReportMap.mostBitsInSlot else { throw refuse(.reportSize(item.data)) }
            reportSize = Int(item.data)
        case HIDItem.Global.reportCount:
            guard item.data <= ReportMap.mostSlots else { throw refuse(.reportCount(item.data)) }
            reportCount = Int(item.data)
        case HIDItem.Global.reportID:
            guard let id = UInt8(exactly: item.data), id != 0 else { throw refuse(.reportID(item.data)) }
            reportID = id
        default: throw refuse(.unknownGlobalItem(tag: item.tag))
        }
    }
}
