// SPDX-License-Identifier: GPL-2.0-or-later

/// Output report that sets the lights of a keyboard: NumLock on or off, and all others off.
///
/// HID 1.11, B.1; HID Usage Tables 1.5, 11.
public struct LightReport: Equatable, Sendable {
    /// Greatest length of a payload in bytes, which fits into a write with the default MTU.
    public static let mostBytes = 20
    private static let page: UInt16 = 0x08
    private static let numLock = HIDUsage(page: page, id: 1)

    /// Id of the output report; 0 for an unnumbered report.
    public let id: UInt8
    /// Report without its id, 1 to 20 bytes.
    public let payload: [UInt8]

    /// Creates the report for an output report of a map; nil if that has no lights, or more than 20 bytes.
    init?(_ report: HIDReport, numLock: Bool) {
        let fields = report.fields.filter { field in
            !field.isConstant && field.usages.contains { $0.first.page <= Self.page && Self.page <= $0.last.page }
        }
        guard report.kind == .output, !fields.isEmpty, (1...Self.mostBytes).contains(report.bytes) else { return nil }
        var payload = [UInt8](repeating: 0, count: report.bytes)
        for field in fields where numLock && field.isVariable && field.size > 0 {
            let usages = UsageTable(field.usages)
            guard let slot = (0..<field.count).first(where: { usages[$0] == Self.numLock }) else { continue }
            let bit = field.bitOffset + slot * field.size
            guard payload.indices.contains(bit / 8) else { continue }
            payload[bit / 8] |= 1 << UInt8(bit % 8)
        }
        id = report.id
        self.payload = payload
    }
}

extension ReportMap {
    /// Returns an output report for each report of the map that has lights.
    public func lights(numLock: Bool) -> [LightReport] {
        reports.compactMap { LightReport($0, numLock: numLock) }
    }
}
