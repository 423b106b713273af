// SPDX-License-Identifier: GPL-2.0-or-later

/// Parsed report descriptor (the HID Service's Report Map), with the rules of Linux.
///
/// Usages are kept as ranges, so that the memory is bounded by the length of the map. HID 1.11, 6.2.2; hid_open_report in Linux 6.12.
public struct ReportMap: Sendable, Equatable {
    /// Greatest length of a report descriptor in bytes (HID_MAX_DESCRIPTOR_SIZE).
    public static let mostBytes = 4096
    /// Greatest Report Size in bits (hid_parser_global).
    public static let mostBitsInSlot = 256
    /// Greatest Report Count (HID_MAX_USAGES).
    public static let mostSlots = 12_288
    /// Greatest number of usages of a field (HID_MAX_USAGES).
    public static let mostUsages = 12_288
    /// Greatest length of a report in bits: 4,096 bytes less the id byte (UHID_DATA_MAX in hid_add_field).
    public static let mostBitsInReport = 4095 * 8
    /// Greatest number of fields of a report; further ones are ignored (HID_MAX_FIELDS).
    public static let mostFields = 256
    /// Greatest number of states on the stack of Push (HID_GLOBAL_STACK_SIZE).
    public static let mostPushes = 4

    /// Report descriptor as received.
    public let bytes: [UInt8]
    /// Collections in the order of the map.
    public let collections: [HIDCollection]
    /// Reports in the order of their first main item, also those that consist of padding.
    public let reports: [HIDReport]

    /// Parses up to `mostBytes` bytes; throws the first item that Linux refuses.
    public init(_ bytes: [UInt8]) throws(ReportMapError) {
        var parser = ReportMapParser()
        try parser.parse(bytes)
        self.bytes = bytes
        collections = parser.collections
        reports = parser.reports
    }

    /// True if an input report has an id: then an id byte precedes each input report.
    public var isNumbered: Bool { reports.contains { $0.kind == .input && $0.id != 0 } }

    /// True if an input field that is not constant has a usage of page 07.
    public var hasKeyboardInput: Bool { reports.contains { $0.kind == .input && $0.hasKeys } }
}
