// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Control
import Devices
import Testing
import Texts

@Suite("Choosing the device")
struct CandidateMatcherTests {
    /// Returns an advertisement received with the filter of the selection; nil if it is filtered out.
    private func hear(
        _ table: inout DeviceTable,
        _ address: UInt64,
        name: String,
        eventType: UInt8 = 0x00,
        now: Duration
    ) throws -> DiscoveredDevice? {
        var writer = ByteWriter()
        // A legacy report: event type, address type, address, length, data, RSSI.
        let data = name.isEmpty ? [] : [UInt8(name.utf8.count + 1), 0x09] + Array(name.utf8)
        writer.write([0x01, eventType, 0x01] as [UInt8])
        writer.write(BluetoothAddress(rawValue: address))
        writer.write([UInt8(data.count)] + data + [0xC8])
        let bytes = writer.bytes
        var reader = try AdvertisingReportReader(.advertisingReport, bytes.span)
        guard let report = reader.next(), table.handle(report, now: now) != nil else { return nil }
        return report.sender.flatMap { table[$0] }
    }

    @Test("D-4: a name is taken after a second in which nobody else was heard to carry it")
    func oneOfTheName() throws {
        var chooser = CandidateMatcher(.name("LINBLE-TEST"))
        var table = chooser.choice.devices(advertisedAt: nil)
        let device = try #require(try hear(&table, 0xF0F1_F2F3_F4F5, name: "linble-test", now: .zero))
        #expect(chooser.heard(device, now: .zero) == .listen)
        #expect(chooser.deadline == .seconds(1))
        #expect(chooser.decide(now: .milliseconds(999)) == .listen)
        #expect(chooser.decide(now: .seconds(1)) == .take(device))
    }

    @Test("D-4: two devices of the name are refused with both listed")
    func twoOfTheName() throws {
        var chooser = CandidateMatcher(.name("LINBLE-TEST"))
        var table = chooser.choice.devices(advertisedAt: nil)
        var heard: [DiscoveredDevice] = []
        for address: UInt64 in [0xF0F1_F2F3_F4F5, 0xF0F1_F2F3_F4F6, 0xF0F1_F2F3_F4F7] {
            let device = try #require(try hear(&table, address, name: "LINBLE-TEST", now: .zero))
            #expect(chooser.heard(device, now: .zero) == .listen)
            heard.append(device)
        }
        #expect(chooser.decide(now: .seconds(1)) == .ambiguous(Array(heard.prefix(2))))
    }

    @Test("The device that was taken before is taken again at once, even beside another of its name")
    func knownDevice() throws {
        var chooser = CandidateMatcher(.name("LINBLE-TEST"))
        var table = chooser.choice.devices(advertisedAt: nil)
        let known = try #require(try hear(&table, 0xF0F1_F2F3_F4F5, name: "LINBLE-TEST", now: .zero))
        _ = chooser.heard(known, now: .zero)
        _ = chooser.decide(now: .seconds(1))
        chooser.begin()
        // A directed advertisement contains no name; a different name at the same address does not match.
        var unfiltered = DeviceTable()
        let directed = try #require(try hear(&unfiltered, 0xF0F1_F2F3_F4F5, name: "", now: .seconds(4)))
        #expect(chooser.heard(directed, isMatch: false, now: .seconds(4)) == .take(directed))
        let renamed = try #require(try hear(&unfiltered, 0xF0F1_F2F3_F4F5, name: "OTHER", now: .seconds(4)))
        #expect(chooser.heard(renamed, isMatch: false, now: .seconds(4)) == .listen)
        let other = try #require(try hear(&table, 0xF0F1_F2F3_F4F6, name: "LINBLE-TEST", now: .seconds(5)))
        #expect(chooser.heard(other, now: .seconds(5)) == .listen)
        let again = try #require(try hear(&table, 0xF0F1_F2F3_F4F5, name: "LINBLE-TEST", now: .seconds(5)))
        #expect(chooser.heard(again, now: .seconds(5)) == .take(again))
    }

    @Test("A device that takes no connections is not taken, and another name is not heard")
    func notConnectable() throws {
        var chooser = CandidateMatcher(.name("LINBLE-TEST"))
        var table = chooser.choice.devices(advertisedAt: nil)
        // ADV_NONCONN_IND
        let beacon = try #require(try hear(&table, 0xF0F1_F2F3_F4F5, name: "LINBLE-TEST", eventType: 0x03, now: .zero))
        #expect(chooser.heard(beacon, now: .zero) == .listen)
        #expect(chooser.deadline == nil)
        #expect(try hear(&table, 0xF0F1_F2F3_F4F6, name: "LINBLE-TEST2", now: .zero) == nil)
    }

    @Test("D-4: a device whose name is kept too is taken with its name as soon as that comes, or after 2 s without")
    func wantsName() throws {
        let address = BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5)
        var chooser = CandidateMatcher(.address(address), wantsName: true)
        var table = chooser.choice.devices(advertisedAt: nil)
        let nameless = try #require(try hear(&table, address.rawValue, name: "", now: .zero))
        #expect(nameless.name == nil)
        #expect(chooser.heard(nameless, now: .zero) == .listen)
        #expect(chooser.deadline == .seconds(2) && chooser.decide(now: .milliseconds(1999)) == .listen)
        let named = try #require(try hear(&table, address.rawValue, name: "LINBLE-TEST", now: .seconds(1)))
        #expect(chooser.heard(named, now: .seconds(1)) == .take(named))
        chooser.begin()
        #expect(chooser.heard(nameless, now: .seconds(3)) == .listen)
        #expect(chooser.decide(now: .seconds(5)) == .take(nameless))
        // A device is reconnected by its address, without its name.
        var plain = CandidateMatcher(.address(address))
        #expect(plain.heard(nameless, now: .zero) == .take(nameless))
    }

    @Test("An address is taken at once, whatever the name")
    func byAddress() throws {
        var chooser = CandidateMatcher(.address(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5)))
        var table = chooser.choice.devices(advertisedAt: nil)
        #expect(try hear(&table, 0xF0F1_F2F3_F4F6, name: "A", now: .zero) == nil)
        let meant = try #require(try hear(&table, 0xF0F1_F2F3_F4F5, name: "B", now: .zero))
        #expect(chooser.heard(meant, now: .zero) == .take(meant))
    }

    @Test("BT-3: a device is found by its name and its address together, and not by one of them alone")
    func byNameAndAddress() throws {
        let choice = try #require(DeviceSelector("LT01 BC000120@F0:F1:F2:F3:F4:F5"))
        #expect(choice == .named("LT01 BC000120", BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5)))
        #expect(DeviceSelector("\(choice)") == choice)
        #expect(DeviceSelector("LT01@home") == .name("LT01@home") && DeviceSelector("@F0:F1:F2:F3:F4:F5") != choice)
        #expect(choice.scanParameters(advertisedAt: nil).type == .active)
        var chooser = CandidateMatcher(choice)
        for (address, name, isMeant) in [
            (UInt64(0xF0F1_F2F3_F4F5), "LT01", false), (0xF0F1_F2F3_F4F6, "LT01 BC000120", false),
            (0xF0F1_F2F3_F4F5, "lt01 bc000120", true),
        ] {
            var table = choice.devices(advertisedAt: nil)
            let device = try hear(&table, address, name: name, now: .zero)
            #expect((device != nil) == isMeant, "\(name)")
            if let device { #expect(chooser.heard(device, now: .zero) == .take(device)) }
        }
        let place = ManufacturerAddressField(offset: 2, isReversed: false)
        var table = choice.devices(advertisedAt: nil)
        #expect(try hear(&table, 0xF0F1_F2F3_F4F6, name: "LT01 BC000120", now: .zero) == nil)
        #expect(choice.scanParameters(advertisedAt: place).type == .active)
        let kept = SelectedDevice(DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random), name: "LT01")
        #expect(!choice.means(kept))
    }

    @Test("D-4: a kept choice is the device of that address and type, and no other of the same address or name")
    func kept() throws {
        let address = BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5)
        for type in AddressType.allCases {
            let choice = DeviceSelector.kept(SelectedDevice(DeviceAddress(address, type), name: "LINBLE-TEST"))
            var chooser = CandidateMatcher(choice)
            var table = choice.devices(advertisedAt: nil)
            // The devices in these reports have random addresses.
            let device = try hear(&table, address.rawValue, name: "LINBLE-TEST", now: .zero)
            #expect((device != nil) == (type == .random))
            if let device { #expect(chooser.heard(device, now: .zero) == .take(device)) }
            #expect(try hear(&table, 0xF0F1_F2F3_F4F6, name: "LINBLE-TEST", now: .zero) == nil)
        }
    }

    @Test(
        "A device is found by the name that people read, whatever its name is padded with",
        arguments: [
            ("BDM\0\0\0\0\0\0\0\0\0\0\0\0", "BDM"), ("BT4\0BT35\0", "BT4"), ("BARCODE SCANNER ", "barcode scanner"),
            ("HMSoft\r\n", "HMSoft"), (" HMSoft", "HMSoft"), ("HMSoft", "HMSoft "), ("HM Soft", "HM Soft"),
        ]
    )
    func padded(_ advertised: String, _ meant: String) throws {
        let choice = try #require(DeviceSelector(meant))
        var chooser = CandidateMatcher(choice)
        var table = chooser.choice.devices(advertisedAt: nil)
        let device = try #require(try hear(&table, 0xF0F1_F2F3_F4F5, name: advertised, now: .zero))
        #expect(chooser.heard(device, now: .zero) == .listen)
        #expect(chooser.decide(now: .seconds(1)) == .take(device))
        let kept = choice.keptChoice(of: device, advertisedAt: nil)
        #expect(kept.name?.lowercased() == LocalName.trimmed(meant).lowercased() && choice.means(kept))
        #expect(try hear(&table, 0xF0F1_F2F3_F4F6, name: "HMSof", now: .zero) == nil)
        // Earlier versions stored the name with a trailing space.
        #expect(choice.means(SelectedDevice(kept.device, name: LocalName.trimmed(meant) + " ")))
    }

    @Test("T15: a device whose advertisement goes on and never ends is taken, and listed as truncated")
    func truncated() throws {
        // Extended event with one incomplete report of a connectable device.
        let data: [UInt8] = [5, 0x09] + Array("SCAN".utf8)
        let event: [UInt8] =
            [0x04, 0x3E, UInt8(26 + data.count), 0x0D, 0x01, 0x21, 0x00, 0x01] + [0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0]
            + [1, 1, 0, 0x7F, 0xC8, 0, 0, 0] + [UInt8](repeating: 0, count: 6) + [UInt8(data.count)] + data
        var chooser = CandidateMatcher(.name("SCAN"))
        var table = chooser.choice.devices(advertisedAt: nil)
        var heard: [DiscoveredDevice] = []
        for step in 0...1 { table.handle(event.span, now: .milliseconds(150 * step)) { heard.append($0.device) } }
        let device = try #require(heard.first)
        #expect(heard.count == 1)
        #expect(JSONObject(device).text.contains(#""truncated":true"#))
        #expect(chooser.heard(device, now: .zero) == .listen)
        #expect(chooser.decide(now: .seconds(1)) == .take(device))
    }

    @Test("A device selector is an address if it looks like one, otherwise a name; an empty one is invalid")
    func reading() {
        #expect(DeviceSelector("F0:F1:F2:F3:F4:F5") == .address(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5)))
        #expect(DeviceSelector("LT01 BC000120") == .name("LT01 BC000120"))
        #expect(DeviceSelector("") == nil)
    }
}
