// SPDX-License-Identifier: GPL-2.0-or-later

/// Refusal of a report descriptor, with the item and the reason.
public struct ReportMapError: Error, Equatable, Sendable {
    public enum Reason: Equatable, Sendable {
        case empty
        /// More than `ReportMap.mostBytes` bytes.
        case tooLong
        /// The data of the last item is incomplete.
        case truncatedItem
        /// HID 1.11, 6.2.2.3; Linux refuses them.
        case longItem
        case unknownGlobalItem(tag: UInt8)
        /// More than `mostPushes` states on the stack of Push.
        case pushOverflow
        case popWithoutPush
        /// More than `mostBitsInSlot`.
        case reportSize(UInt32)
        /// More than `mostSlots`.
        case reportCount(UInt32)
        /// 0, or more than 255.
        case reportID(UInt32)
        /// End Collection without Collection.
        case endWithoutCollection
        case nestedDelimiter
        /// Closing Delimiter without an opening one.
        case closeWithoutDelimiter
        /// More than `mostUsages` for one main item.
        case tooManyUsages
        /// The maximum is below the minimum.
        case logicalRange(minimum: Int32, maximum: Int32)
        /// More than `mostBitsInReport`.
        case reportTooLong(bits: Int)
        /// A Collection is open at the end.
        case openCollection
        /// A Delimiter is open at the end.
        case openDelimiter
    }

    /// Position of the refused item in bytes; the length of the map for a refusal at its end.
    public var offset: Int
    public var reason: Reason

    public init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }
}
