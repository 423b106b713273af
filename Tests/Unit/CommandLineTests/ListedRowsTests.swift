// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Devices
import Testing
import Texts

@testable import blewedge

@Suite("The rows of scan's live table")
struct ListedRowsTests {
    private let choice = SelectedDevice(
        DeviceAddress(BluetoothAddress(rawValue: 0xF1F1_F2F3_F4F6), .random),
        name: "LINBLE-TEST"
    )

    private func heard(_ devices: (address: String, name: String, rssi: Int)...) throws -> [ListedDevice] {
        let answer = try scanAnswer(devices.map { ($0.address, $0.name, $0.rssi, "2021-05-24T17:07:59Z") })
        return (answer["devices"]?.array ?? []).compactMap { ListedDevice(answer: $0) }
    }

    private func names(_ rows: [ListedDevice]) -> [String] {
        rows.map { ($0.isChosen ? "* " : "") + ($0.name?.text ?? "-") + ($0.rssi.map { " \($0)" } ?? "") }
    }

    @Test("The chosen device stands on top, heard or not, and stays as it was heard last")
    func chosen() throws {
        let strong = ("00:00:00:00:00:02", "strong", -40)
        var list = ListedRows(ScanFilter())
        #expect(names(list.rows(try heard(strong), choice)) == ["* LINBLE-TEST", "strong -40"])
        let both = try heard(strong, ("F1:F1:F2:F3:F4:F6", "LINBLE-TEST", -90))
        #expect(names(list.rows(both, choice)) == ["* LINBLE-TEST -90", "strong -40"])
        #expect(names(list.rows([], choice)) == ["* LINBLE-TEST -90"])
        #expect(names(list.rows(both, nil)) == ["strong -40", "LINBLE-TEST -90"])
        #expect(names(list.rows([], choice)) == ["* LINBLE-TEST"])
        let lines = DeviceText.table(list.rows(both, choice), columns: 80, in: .english)
        #expect(lines.dropFirst().map { $0.prefix(13) } == ["* LINBLE-TEST", "strong       "])
    }

    @Test("A filter keeps a chosen device out that it would keep out else")
    func filtered() throws {
        var other = ListedRows(ScanFilter(name: .exactly("strong")))
        #expect(names(other.rows([], choice)) == [])
        var same = ListedRows(ScanFilter(name: .exactly("linble-test")))
        #expect(names(same.rows([], choice)) == ["* LINBLE-TEST"])
        // The services of the device are known only after it was received.
        var service = ListedRows(ScanFilter(services: [BluetoothUUID(UInt16(0xFFE0))]))
        #expect(names(service.rows([], choice)) == [])
        let heard = try heard(("F1:F1:F2:F3:F4:F6", "LINBLE-TEST", -90))
        #expect(names(service.rows(heard, choice)) == ["* LINBLE-TEST -90"])
        #expect(names(service.rows([], choice)) == ["* LINBLE-TEST -90"])
    }
}
