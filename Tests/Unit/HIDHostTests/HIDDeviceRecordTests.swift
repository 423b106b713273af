// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import HIDHost
import HIDReports
import Testing

@Suite("Record of a HID device")
struct HIDDeviceRecordTests {
    /// Map with an id, of one input field of keys.
    private static let map = "0507150025657508950119002965" + "8100"

    private static let text = """
        1 service=0010,002A,0111,21,03 map=\(map) mode=0012 report=0016,0017,01,01 report=0019,-,02,02 \
        service=0030,0035,0000,00,00 map=\(map) boot=0032,0033 \
        hash=000102030405060708090A0B0C0D0E0F changed=0005,0006 battery=0040,- pnp=02,1234,5678,0100
        """

    private static func fault(_ text: String) -> HIDRecordFault? {
        do throws(HIDRecordFault) {
            _ = try HIDDevice(record: text)
            return nil
        } catch {
            return error
        }
    }

    @Test("A record has all services and handles, and is parsed to the same device")
    func golden() throws {
        let device = try HIDDevice(record: Self.text)
        #expect(device.record == Self.text)
        func handle(_ number: UInt16) -> AttributeHandle { AttributeHandle(number) }
        let first = device.services[0]
        #expect(first.range == AttributeHandleRange(start: handle(0x10), end: handle(0x2A)))
        #expect(first.version == 0x0111 && first.country == 0x21 && first.flags == 3)
        #expect(first.protocolMode == handle(0x12) && first.bootInput == nil && first.map.count == 16)
        #expect(
            first.reports == [
                HIDDevice.Report(value: handle(0x16), configuration: handle(0x17), id: 1, kind: .input),
                HIDDevice.Report(value: handle(0x19), configuration: nil, id: 2, kind: .output),
            ]
        )
        let boot = HIDDevice.Report(value: handle(0x32), configuration: handle(0x33), id: 0, kind: .input)
        #expect(device.services[1].bootInput == boot && device.services.count == 2)
        #expect(device.databaseHash == [UInt8](0...15))
        #expect(device.serviceChanged == HIDDevice.Value(value: handle(5), configuration: handle(6)))
        #expect(device.battery == HIDDevice.Value(value: handle(0x40), configuration: nil))
        let pnp = HIDDevice.PnPID(vendorSource: 2, vendor: 0x1234, product: 0x5678, version: 0x0100)
        #expect(device.pnp == pnp)
        let least = HIDDevice(services: [HIDDevice.Service(range: .all, map: [0x54])])
        #expect(least.record == "1 service=0001,FFFF,0000,00,00 map=54")
    }

    @Test("The largest device fits into the limit")
    func largest() throws {
        let map = HIDMaps.keyboard(length: ReportMap.mostBytes)
        let services = (UInt16(0)..<8).map { number in
            let start = number * 0x1000 + 1
            let range = AttributeHandleRange(start: AttributeHandle(start), end: AttributeHandle(start + 0xFFE))
            var service = HIDDevice.Service(range: range, map: map)
            service.reports = (UInt16(0)..<64).map { index in
                let value = AttributeHandle(start + 1 + index * 2)
                return HIDDevice.Report(value: value, configuration: value.next, id: UInt8(index), kind: .input)
            }
            return service
        }
        let device = HIDDevice(services: services)
        #expect(try HIDDevice(record: device.record) == device)
        #expect(device.record.utf8.count < HIDDevice.longestRecord)
        #expect(Self.fault(device.record + String(repeating: " ", count: HIDDevice.longestRecord))?.reason == .tooLong)
        let ninth = AttributeHandleRange(start: AttributeHandle(0x9000), end: .last)
        let many = HIDDevice(services: services + [HIDDevice.Service(range: ninth, map: map)])
        #expect(
            Self.fault(many.record) == HIDRecordFault(offset: device.record.utf8.count + 1, reason: .tooManyServices)
        )
        var full = HIDDevice(services: [services[0]])
        let extra = HIDDevice.Report(value: AttributeHandle(0x100), configuration: nil, id: 0, kind: .input)
        full.services[0].reports.append(extra)
        let offset = full.record.utf8.count - "report=0100,-,00,01".utf8.count
        #expect(Self.fault(full.record) == HIDRecordFault(offset: offset, reason: .tooManyReports))
    }

    @Test("A refused record has the word and the reason")
    func faults() {
        let start = "1 service=0010,002A,0111,21,03 map=\(Self.map)"
        let next = start.utf8.count + 1
        let service = "1 ".utf8.count
        for (text, offset, reason): (String, Int, HIDRecordFault.Reason) in [
            ("", 0, .unknownVersion), ("2 service=x", 0, .unknownVersion), ("1", 1, .noService),
            ("1 hash=000102030405060708090A0B0C0D0E0F", 39, .noService),
            ("1 service=0010,002A,0111,21,03", 30, .noMap),
            ("1 service=0010,002A,0111,21,03 service=0030,0031,0000,00,00 map=54", 31, .noMap),
            ("1 service=0010,002A,0111,21", service, .invalidNumbers),
            ("1 service=0010,002A,0111,21,03,04", service, .invalidNumbers),
            ("1 service=0010,002A,0111,21,003", service, .invalidNumbers),
            ("1 service=0010,002A,0111,2,03", service, .invalidNumbers),
            ("1 service=0010,002A,0111,+1,03 map=54", 25, .notCanonical),
            ("1 service=0010,002A,011G,21,03", service, .invalidNumbers),
            ("1 service=0000,002A,0111,21,03", service, .handleOutOfOrder),
            ("1 service=0010,000F,0111,21,03", service, .handleOutOfOrder),
            ("\(start) service=002A,0031,0000,00,00 map=54", next, .handleOutOfOrder),
            ("1 service=0010,002A,0111,21,03 map=05", 31, .map(ReportMapError(offset: 0, reason: .truncatedItem))),
            ("1 service=0010,002A,0111,21,03 map=", 31, .map(ReportMapError(offset: 0, reason: .empty))),
            ("1 service=0010,002A,0111,21,03 map=5", 31, .invalidNumbers),
            ("\(start) ", next, .unknownWord), ("\(start) x=1", next, .unknownWord),
            ("\(start) report", next, .unknownWord), ("\(start) report=", next, .invalidNumbers),
            ("\(start) report=0016,0017,01", next, .invalidNumbers),
            ("\(start) report=0016,0017,01,00", next, .invalidNumbers),
            ("\(start) report=0016,0017,01,04", next, .invalidNumbers),
            ("\(start) report=0016,0017,01,01,01", next, .invalidNumbers),
            ("\(start) report=0016,+,01,01", next, .invalidNumbers),
            ("\(start) report=000F,0017,01,01", next, .handleOutOfOrder),
            ("\(start) report=002B,-,01,01", next, .handleOutOfOrder),
            ("\(start) report=0016,002B,01,01", next, .handleOutOfOrder),
            ("\(start) report=0016,0016,01,01", next, .handleOutOfOrder),
            ("\(start) report=0016,0017,01,02", next, .misplacedConfiguration),
            ("\(start) report=0016,0017,01,01 report=0017,-,02,01", next + 23, .handleOutOfOrder),
            ("\(start) report=0016,-,01,01 report=0016,-,02,01", next + 20, .handleOutOfOrder),
            ("\(start) mode=000F", next, .handleOutOfOrder), ("\(start) mode=12", next, .invalidNumbers),
            ("\(start) boot=0012", next, .invalidNumbers), ("\(start) boot=002B,-", next, .handleOutOfOrder),
            ("\(start) boot=0012,0013,00", next, .invalidNumbers),
            ("\(start) hash=00", next, .invalidNumbers), ("\(start) hash=0x", next, .invalidNumbers),
            ("\(start) changed=0006,0005", next, .handleOutOfOrder),
            ("\(start) changed=0000,0005", next, .handleOutOfOrder),
            ("\(start) battery=0006,0007,0008", next, .invalidNumbers),
            ("\(start) pnp=02,1234,5678", next, .invalidNumbers),
            ("\(start) battery=0040,- changed=0005,0006", next, .notCanonical),
            ("\(start) battery=0040,- battery=0040,-", start.utf8.count + 15, .notCanonical),
            ("1 report=0016,-,01,01 service=0010,002A,0111,21,03 map=54", 2, .handleOutOfOrder),
            ("1 map=54 service=0010,002A,0111,21,03 map=54", 2, .notCanonical),
            ("1 service=0010,002a,0111,21,03 map=54", 18, .notCanonical),
        ] {
            #expect(Self.fault(text) == HIDRecordFault(offset: offset, reason: reason), "\(text)")
        }
    }

    @Test("A record with a changed, missing or added byte is refused, or is that of another valid device")
    func corruption() {
        let bytes = Array(Self.text.utf8)
        for index in bytes.indices {
            for change: UInt8 in [0x00, 0x20, 0x2C, 0x2D, 0x30, 0x46, 0x61, 0x7F, 0x80, 0xFF] {
                var changed = bytes
                changed[index] = change
                let removed = Array(bytes[..<index] + bytes[(index + 1)...])
                let added = Array(bytes[...index] + [change] + bytes[(index + 1)...])
                for variant in [changed, removed, added, Array(bytes[..<index])] {
                    let text = String(decoding: variant, as: UTF8.self)
                    guard let device = try? HIDDevice(record: text) else { continue }
                    #expect(device.record == text)
                }
            }
        }
    }
}
