// SPDX-License-Identifier: GPL-2.0-or-later

/// Parsed report descriptor, with the rules of Linux.
public struct ReportMap: Sendable {
    /// Greatest length of a report descriptor in bytes.
    public static let mostBytes = 4096

    /// Collections in the order of the map.
    public private(set) var collections: [HIDCollection] = []
    /// Reports in the order of their first field.
    public private(set) var reports: [HIDReport] = []

    /// Throws the first item that Linux refuses.
    public init(_ bytes: [UInt8]) throws(ReportMapError) {
        guard !bytes.isEmpty else { throw ReportMapError(offset: 0, reason: .empty) }
    }

    /// True if an input report has an id: then each is preceded by its id byte.
    public var isNumbered: Bool { reports.contains { $0.kind == .input && $0.id != 0 } }

    /// True if an input field that is not constant has a usage of page 07.
    public var hasKeyboardInput: Bool { false }
}
