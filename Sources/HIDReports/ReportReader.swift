// SPDX-License-Identifier: GPL-2.0-or-later

/// Decodes the input reports of a map, and tracks the held keys as Linux does.
///
/// A key is pressed and released by changes between two reports of the same id. So the last report decides on a key
/// that is in two fields, and a key that moves between the slots of an array stays pressed. hid_report_raw_event,
/// hid_input_array_field and hidinput_hid_event in Linux 6.12.
public struct ReportReader: Sendable {
    private var reports: [InputReport] = []
    /// Index into `reports` by id; -1 if there is none.
    private var indices = [Int16](repeating: -1, count: 256)
    private let isNumbered: Bool
    private var keys: PressOrder

    public init(_ map: ReportMap) {
        isNumbered = map.isNumbered
        var greatest: UInt16 = 0
        for report in map.reports where report.kind == .input {
            for range in report.fields.lazy.filter(\.isKeyboardField).flatMap(\.usages) {
                greatest = max(greatest, range.lastKey)
            }
            indices[Int(report.id)] = Int16(reports.count)
            reports.append(InputReport(report))
        }
        keys = PressOrder(greatest: greatest)
    }

    /// Keys held after the last report, also after one with a roll-over.
    public var held: HeldKeys { HeldKeys(keys.usages) }

    /// Releases all keys and forgets the last reports, for example after a disconnection.
    public mutating func reset() {
        keys.removeAll()
        for index in reports.indices { reports[index].reset() }
    }

    /// Decodes a report; `id` is 0 for an unnumbered one, and `payload` is without the id byte.
    ///
    /// A shorter payload is padded with zeros, of a longer one the rest is ignored. An empty one without an id byte is
    /// ignored.
    public mutating func read(_ payload: Span<UInt8>, id: UInt8) -> ReportReading {
        let index = Int(indices[Int(id)])
        guard index >= 0 else { return ReportReading(content: .unknownReport, length: .asDeclared) }
        let declared = reports[index].bytes
        let length: ReportReading.Length =
            payload.count == declared ? .asDeclared : payload.count < declared ? .shorter : .longer
        guard reports[index].hasKeys, isNumbered || !payload.isEmpty else {
            return ReportReading(content: .noKeys, length: length)
        }
        let isRollOver = reports[index].apply(payload, to: &keys)
        return ReportReading(content: isRollOver ? .rollOver : .keys(held), length: length)
    }
}
