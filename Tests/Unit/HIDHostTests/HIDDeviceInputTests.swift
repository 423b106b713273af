// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import HIDHost
import HIDReports
import Testing

@Suite("Input reports of a HID device")
struct HIDDeviceInputTests {
    private static func service(_ map: [UInt8], _ reports: [(UInt16, ReportKind)] = []) -> HIDDevice.Service {
        var service = HIDDevice.Service(
            range: AttributeHandleRange(start: AttributeHandle(1), end: AttributeHandle(99)),
            map: map
        )
        service.reports = reports.map { handle, kind in
            HIDDevice.Report(value: AttributeHandle(handle), configuration: nil, id: 0, kind: kind)
        }
        return service
    }

    @Test("The first input report is that of the first service that has one")
    func first() {
        #expect(HIDDevice(services: []).firstInput == .invalid)
        var none = HIDDevice(services: [Self.service(HIDMaps.keyboard, [(3, .output), (4, .feature)])])
        #expect(none.firstInput == .invalid)
        none.services.append(Self.service(HIDMaps.mouse, [(10, .output), (12, .input), (14, .input)]))
        #expect(none.firstInput == AttributeHandle(12))
        none.services.append(Self.service(HIDMaps.keyboard, [(20, .input)]))
        #expect(none.firstInput == AttributeHandle(12))
        // The boot protocol replaces the other reports.
        none.services[0].reports.append(
            HIDDevice.Report(value: AttributeHandle(5), configuration: nil, id: 0, kind: .input)
        )
        #expect(none.firstInput == AttributeHandle(5))
        none.services[0].bootInput = HIDDevice.Report(
            value: AttributeHandle(7),
            configuration: nil,
            id: 0,
            kind: .input
        )
        #expect(none.firstInput == AttributeHandle(7))
    }

    @Test("The longest input report is that of any map; output and feature reports, and bad maps, do not count")
    func longest() throws {
        #expect(HIDDevice(services: []).longestInput == 0)
        #expect(HIDDevice(services: [Self.service([0xC0])]).longestInput == 0)
        #expect(HIDDevice(services: [Self.service(HIDDevice.bootMap)]).longestInput == 8)
        // 8 modifiers, and a bit for each of 128 usages.
        var device = HIDDevice(services: [Self.service(HIDMaps.mouse), Self.service(HIDMaps.bitmap)])
        #expect(device.longestInput == 17)
        device.services.append(Self.service([0xC0]))
        #expect(device.longestInput == 17)
        // An output report of 32 bytes, and no input report.
        let output: [UInt8] = [
            0x05, 0x0C, 0x09, 0x01, 0xA1, 0x01, 0x75, 0x08, 0x95, 0x20, 0x09, 0x01, 0x91, 0x02, 0xC0,
        ]
        #expect(try ReportMap(output).reports.map(\.bytes) == [32])
        #expect(HIDDevice(services: [Self.service(output)]).longestInput == 0)
        // The id of a numbered report is not part of its value.
        let two = HIDMaps.other(0x01, 0x02, id: 1) + HIDMaps.keyboard(id: 2)
        #expect(HIDDevice(services: [Self.service(two)]).longestInput == 8)
    }
}
