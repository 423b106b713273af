// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Devices
import Testing

@Suite("Addresses in manufacturer data")
struct ManufacturerAddressFieldTests {
    private static let printed = BluetoothAddress(rawValue: 0xC0FF_EE01_0203)
    private static let onAir = BluetoothAddress(rawValue: 0x4142_4344_4546)

    private func manufacturerData(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count + 1), 0xFF] + bytes }

    /// Returns a device that was received with these advertising data.
    private func device(_ data: [UInt8]) throws -> DiscoveredDevice {
        var table = DeviceTable(reportsDuplicates: true)
        return try #require(try hear(data, &table))
    }

    /// Returns true if the filter of a search for that address accepts a device with these data.
    private func isMet(_ address: BluetoothAddress, by data: [UInt8], at place: ManufacturerAddressField?) throws
        -> Bool
    {
        var table = DeviceSelector.address(address).devices(advertisedAt: place)
        return try hear(data, &table) != nil
    }

    private func hear(_ data: [UInt8], _ table: inout DeviceTable) throws -> DiscoveredDevice? {
        var writer = ByteWriter()
        // A legacy report: event type, address type, address, length, data, RSSI.
        writer.write([0x01, 0x00, 0x01] as [UInt8])
        writer.write(Self.onAir)
        writer.write([UInt8(data.count)] + data + [0xC8])
        let bytes = writer.bytes
        var reader = try AdvertisingReportReader(.advertisingReport, bytes.span)
        guard let report = reader.next(), table.handle(report, now: .zero) != nil else { return nil }
        return report.sender.flatMap { table[$0] }
    }

    @Test("An address at an offset of the manufacturer data, either way round, the company's number counted")
    func places() throws {
        let company: [UInt8] = [0x4C, 0x00]
        let address: [UInt8] = [0xC0, 0xFF, 0xEE, 0x01, 0x02, 0x03]
        let cases: [(data: [UInt8], place: ManufacturerAddressField)] = [
            (company + address, ManufacturerAddressField(offset: 2)),
            (company + [0x01, 0x02] + address + [0x09], ManufacturerAddressField(offset: 4)),
            (company + address.reversed(), ManufacturerAddressField(offset: 2, isReversed: true)),
            (address, ManufacturerAddressField(offset: 0)),
        ]
        for (data, place) in cases {
            let data = manufacturerData(data)
            #expect(try isMet(Self.printed, by: data, at: place))
            #expect(try !isMet(Self.printed, by: data, at: nil))
            #expect(try isMet(Self.onAir, by: data, at: place))
            for offset in 0...12 where offset != place.offset {
                let other = ManufacturerAddressField(offset: offset, isReversed: place.isReversed)
                #expect(try !isMet(Self.printed, by: data, at: other))
            }
        }
    }

    @Test("Data that ends before the address, or is not there, has none; an offset below 0 traps nowhere")
    func short() throws {
        for data in [
            [], manufacturerData([0x4C, 0x00]), manufacturerData([0x4C, 0x00, 0xC0, 0xFF, 0xEE, 0x01, 0x02]),
        ] {
            let heard = try device(data)
            for offset in [-1, 0, 2, 5, ManufacturerAddressField.greatestOffset] {
                #expect(try !isMet(Self.printed, by: data, at: ManufacturerAddressField(offset: offset)))
                // At smaller offsets, the longest of these data contain six bytes.
                if offset > 1 { #expect(ManufacturerAddressField(offset: offset).addresses(in: heard.data).isEmpty) }
            }
        }
    }

    @Test("The chosen address is taken where the device carries it in its data, and asked for by an active scan")
    func chooser() throws {
        let data = manufacturerData([0x4C, 0x00, 0xC0, 0xFF, 0xEE, 0x01, 0x02, 0x03])
        let (choice, place) = (DeviceSelector.address(Self.printed), ManufacturerAddressField(offset: 2))
        var table = choice.devices(advertisedAt: place)
        let heard = try #require(try hear(data, &table))
        var chooser = CandidateMatcher(choice)
        #expect(chooser.heard(heard, now: .zero) == .take(heard))
        #expect(choice.scanParameters(advertisedAt: place).type == .active)
        #expect(choice.scanParameters(advertisedAt: nil).type == .passive)
    }
}
