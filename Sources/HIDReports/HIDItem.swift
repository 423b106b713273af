// SPDX-License-Identifier: GPL-2.0-or-later

/// Short item of a report descriptor.
///
/// HID 1.11, 6.2.2.2.
struct HIDItem: Equatable {
    enum Kind: UInt8 {
        case main, global, local, reserved
    }

    /// Position of the item in bytes.
    var offset: Int
    var kind: Kind
    /// 0 to 14.
    var tag: UInt8
    /// Number of data bytes: 0, 1, 2 or 4.
    var size: Int
    /// Data, padded with zeros.
    var data: UInt32

    /// Data, extended with its sign.
    var signedData: Int32 {
        switch size {
        case 1: Int32(Int8(truncatingIfNeeded: data))
        case 2: Int32(Int16(truncatingIfNeeded: data))
        default: Int32(bitPattern: data)
        }
    }

    /// Tags of main items.
    enum Main {
        static let input: UInt8 = 8
        static let output: UInt8 = 9
        static let collection: UInt8 = 10
        static let feature: UInt8 = 11
        static let endCollection: UInt8 = 12
    }

    /// Tags of global items.
    enum Global {
        static let usagePage: UInt8 = 0
        static let logicalMinimum: UInt8 = 1
        static let logicalMaximum: UInt8 = 2
        static let physicalMinimum: UInt8 = 3
        static let physicalMaximum: UInt8 = 4
        static let unitExponent: UInt8 = 5
        static let unit: UInt8 = 6
        static let reportSize: UInt8 = 7
        static let reportID: UInt8 = 8
        static let reportCount: UInt8 = 9
        static let push: UInt8 = 10
        static let pop: UInt8 = 11
    }

    /// Tags of local items.
    enum Local {
        static let usage: UInt8 = 0
        static let usageMinimum: UInt8 = 1
        static let usageMaximum: UInt8 = 2
        static let delimiter: UInt8 = 10
    }

    /// Parses the item at `offset`; nil at the end of `bytes`.
    ///
    /// Throws for an item that extends beyond the end, and for a long item.
    static func parse(_ bytes: [UInt8], at offset: Int) throws(ReportMapError) -> HIDItem? {
        guard offset < bytes.count else { return nil }
        let prefix = bytes[offset]
        // A long item has tag 15; its type bits do not matter.
        guard prefix < 0xF0 else { throw ReportMapError(offset: offset, reason: .longItem) }
        let size = prefix & 3 == 3 ? 4 : Int(prefix & 3)
        guard bytes.count - offset > size else { throw ReportMapError(offset: offset, reason: .truncatedItem) }
        var data: UInt32 = 0
        for index in 0..<size {
            data |= UInt32(bytes[offset + 1 + index]) << UInt32(8 * index)
        }
        return HIDItem(
            offset: offset,
            kind: Kind(rawValue: prefix >> 2 & 3) ?? .reserved,
            tag: prefix >> 4,
            size: size,
            data: data
        )
    }
}
