// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Configuration
import Daemon
import Texts

/// The forms in which devices are printed.
enum DeviceText {
    /// Columns for people.
    case table
    /// Tab-separated lines.
    case lines
    /// One JSON object a line.
    case json

    /// All devices, strongest first.
    func all(_ devices: [ListedDevice], columns: Int) -> String {
        switch self {
        case .table: Self.table(devices, columns: columns).map { $0 + "\n" }.joined()
        case .lines, .json: devices.map { line($0) }.joined()
        }
    }

    /// One device, with the line's end.
    func line(_ device: ListedDevice) -> String {
        switch self {
        case .table, .lines: Self.tabSeparated(device) + "\n"
        case .json: device.json + "\n"
        }
    }

    private static func tabSeparated(_ device: ListedDevice) -> String {
        let services = device.services.map(\.description) + solicited(device, .english)
        return [
            device.address,
            device.addressType,
            device.rssi.map { "\($0) dBm" } ?? "-",
            device.name?.printable ?? "-",
            services.isEmpty ? "-" : services.joined(separator: ","),
        ].joined(separator: "\t")
    }

    /// The services that a device asks for, marked as such.
    private static func solicited(_ device: ListedDevice, _ language: Language) -> [String] {
        device.solicited.map { NoteText.solicited.text(language, "\($0)") }
    }

    /// A header and a row for each device, none wider than `columns`; the chosen one has an asterisk.
    static func table(_ devices: [ListedDevice], columns: Int, in language: Language = .current) -> [String] {
        func word(_ text: NoteText) -> String { text.text(language) }
        let header = row(
            word(.columnName),
            word(.columnAddress),
            word(.columnSignal),
            word(.columnHeard),
            word(.columnServices),
            columns
        )
        let rows = devices.map { device in
            row(
                (device.isChosen ? "* " : "") + (device.name?.printable ?? "-"),
                device.address,
                device.rssi.map { "\($0)" } ?? "-",
                device.heard,
                (device.services.map(serviceName) + solicited(device, language)).joined(separator: ", "),
                columns
            )
        }
        return [header] + (rows.isEmpty ? [word(.nothingHeard)] : rows)
    }

    /// The name of a service for people, or else its UUID.
    private static func serviceName(_ uuid: BluetoothUUID) -> String {
        Profile.builtIn.first { $0.service == uuid }?.title ?? uuid.description
    }

    private static func row(
        _ name: String,
        _ address: String,
        _ rssi: String,
        _ heard: String,
        _ services: String,
        _ columns: Int
    ) -> String {
        let fields = [(name, 20), (address, 17), (rssi, 4), (heard, 19)].map { DisplayWidth.padded($0, to: $1) }
        return DisplayWidth.cut((fields + [services]).joined(separator: "  "), to: columns)
    }
}

/// A block of lines that is drawn again in the same place of a terminal.
struct LiveTable {
    private var drawn = 0

    /// The text that replaces the last frame by `lines`, as many as fit on `rows`.
    mutating func frame(_ lines: [String], rows: Int) -> String {
        let visible = lines.prefix(max(1, rows - 1))
        // Up to the first line of the last frame, then everything below is erased (ECMA-48 CUU, ED).
        let back = drawn > 0 ? "\u{1B}[\(drawn)A\r\u{1B}[J" : ""
        drawn = visible.count
        return back + visible.map { $0 + "\n" }.joined()
    }
}
