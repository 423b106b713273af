// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import HIDReports

extension HIDDevice {
    /// First word of a record.
    static let recordVersion = "1"
    /// Maximum length of a record in bytes, which exceeds that of eight services with the longest maps.
    package static let longestRecord = 1 << 17

    /// Services and handles as one line of text, which `init(record:)` parses.
    ///
    /// ```
    /// 1 service=0010,002A,0111,00,03 map=0501… mode=0012 boot=0014,0015 report=0016,0017,01,01 … hash=… changed=0005,0006
    /// battery=0040,- pnp=02,1234,5678,0100
    /// ```
    /// All numbers are hexadecimal. A service has its first and last handle, version, country and flags; then its map
    /// and, if it has them, Protocol Mode, the boot keyboard's handles, and each report with its handles, id and kind
    /// (1 input, 2 output, 3 feature).
    package var record: String {
        var words = [Self.recordVersion]
        for service in services { words += Self.words(service) }
        if let databaseHash { words.append("hash=" + Hexadecimal.text(databaseHash)) }
        if let serviceChanged { words.append("changed=" + Self.text(serviceChanged)) }
        if let battery { words.append("battery=" + Self.text(battery)) }
        if let pnp {
            let numbers = [pnp.vendor, pnp.product, pnp.version].map { Self.text($0) }
            words.append("pnp=" + ([Self.text(pnp.vendorSource)] + numbers).joined(separator: ","))
        }
        return words.joined(separator: " ")
    }

    /// Parses a record completely; throws for any text that `record` does not produce.
    package init(record: String) throws(HIDRecordFault) {
        var parser = HIDRecordParser()
        try parser.parse(record)
        self = parser.device
        // This comparison verifies the order of the words and the form of each number.
        guard self.record.utf8.elementsEqual(record.utf8) else {
            let offset = zip(self.record.utf8, record.utf8).prefix { $0 == $1 }.count
            throw HIDRecordFault(offset: offset, reason: .notCanonical)
        }
    }

    private static func words(_ service: Service) -> [String] {
        let numbers = [
            text(service.range.start.rawValue), text(service.range.end.rawValue), text(service.version),
            text(service.country), text(service.flags),
        ]
        var words = ["service=" + numbers.joined(separator: ","), "map=" + Hexadecimal.text(service.map)]
        if let mode = service.protocolMode { words.append("mode=" + text(mode.rawValue)) }
        if let boot = service.bootInput {
            words.append("boot=" + text(Value(value: boot.value, configuration: boot.configuration)))
        }
        return words
            + service.reports.map { report in
                let handles = text(Value(value: report.value, configuration: report.configuration))
                return "report=\(handles),\(text(report.id)),\(text(report.kind.rawValue))"
            }
    }

    private static func text(_ value: Value) -> String {
        "\(text(value.value.rawValue)),\(value.configuration.map { text($0.rawValue) } ?? "-")"
    }

    private static func text(_ number: UInt16) -> String { Hexadecimal.text(UInt64(number), digits: 4) }
    private static func text(_ number: UInt8) -> String { Hexadecimal.text(UInt64(number), digits: 2) }
}
