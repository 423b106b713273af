// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport
import Testing

@Suite struct AdvertisementLayoutTests {
    /// Any 128-bit UUID.
    static let long = BluetoothUUID(high: 0x1122_3344_5566_7788, low: 0x99AA_BBCC_DDEE_FF00)
    static let longBytes: [UInt8] = [
        0x00, 0xFF, 0xEE, 0xDD, 0xCC, 0xBB, 0xAA, 0x99, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
    ]

    @Test("Flags, services, name, all in the advertisement when they fit")
    func allFits() throws {
        let layout = try AdvertisementLayout(.init(localName: "AB", services: [BluetoothUUID(UInt16(0x180F))]))
        #expect(layout.data == [0x02, 0x01, 0x06, 0x03, 0x03, 0x0F, 0x18, 0x03, 0x09, 0x41, 0x42])
        #expect(layout.scanResponse.isEmpty)
    }

    @Test("A name that does not fit beside a service of 128 bits goes to the scan response")
    func nameOverflows() throws {
        let layout = try AdvertisementLayout(.init(localName: "LINBLE-TEST", services: [Self.long]))
        #expect(layout.data == [0x02, 0x01, 0x06, 0x11, 0x07] + Self.longBytes)
        #expect(layout.scanResponse == [0x0C, 0x09] + Array("LINBLE-TEST".utf8))
    }

    @Test("31 bytes are taken to the last one, and one byte more is refused with the sizes")
    func edges() throws {
        // Three bytes of flags and two bytes before the name leave 26 bytes in the advertisement, and 29 in the scan
        // response.
        let inData = try AdvertisementLayout(.init(localName: String(repeating: "x", count: 26)))
        #expect(inData.data.count == 31 && inData.scanResponse.isEmpty)
        let inResponse = try AdvertisementLayout(.init(localName: String(repeating: "x", count: 29)))
        #expect(inResponse.data.count == 3 && inResponse.scanResponse.count == 31)
        let failure = #expect(throws: AdvertisementLayout.Failure.self) {
            try AdvertisementLayout(.init(localName: String(repeating: "x", count: 30)))
        }
        #expect(failure?.needed == 32 && failure?.leftInData == 28 && failure?.leftInScanResponse == 31)
        #expect(
            failure.map { "\($0)" }
                == "the name needs 32 bytes; the advertisement has 28 left, the scan response 31, of 31 each"
        )
    }

    @Test("A list of services overflows piece by piece, each piece marked incomplete")
    func servicesOverflow() throws {
        let services = (0..<20).map { BluetoothUUID(UInt16(0x1800 + $0)) }
        let layout = try AdvertisementLayout(.init(services: services))
        #expect(layout.data.prefix(5) == [0x02, 0x01, 0x06, 27, 0x02])
        #expect(layout.scanResponse.prefix(2) == [15, 0x02])
        let heard = AdvertisementData.parse(layout.data.span).value
            .merged(with: AdvertisementData.parse(layout.scanResponse.span).value)
        #expect(heard.serviceUUIDs == services)
        #expect(throws: AdvertisementLayout.Failure.self) {
            try AdvertisementLayout(.init(services: (0..<28).map { BluetoothUUID(UInt16(0x1800 + $0)) }))
        }
    }

    @Test("A non-scannable advertisement cannot move data to the scan response")
    func noScanResponse() {
        #expect(throws: AdvertisementLayout.Failure.self) {
            try AdvertisementLayout(.init(localName: "LINBLE-TEST", services: [Self.long]), canBeAsked: false)
        }
    }

    @Test("Advertisements are parsed back as written, and are rejected only if they are too long")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 22)
        var refused = 0
        for _ in 0..<2000 {
            var content = AdvertisementLayout.Content()
            if Bool.random(using: &generator) {
                content.localName = String(repeating: "n", count: .random(in: 1...20, using: &generator))
            }
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                switch Int.random(in: 0...2, using: &generator) {
                case 0: content.services.append(BluetoothUUID(UInt16.random(in: 0x1800...0x18FF, using: &generator)))
                case 1:
                    content.services.append(
                        BluetoothUUID(UInt32.random(in: 0x10000...0xFFFFF, using: &generator))
                    )
                default: content.services.append(.random(using: &generator))
                }
            }
            if Bool.random(using: &generator) { content.txPower = -4 }
            if Bool.random(using: &generator) { content.appearance = 0x03C1 }
            if Bool.random(using: &generator) {
                content.manufacturerData = [.init(company: 0xFFFF, data: [1, 2, 3])]
                content.serviceData = [.init(service: BluetoothUUID(UInt16(0x180F)), data: [9])]
            }
            do throws(AdvertisementLayout.Failure) {
                let layout = try AdvertisementLayout(content)
                #expect(layout.data.count <= 31 && layout.scanResponse.count <= 31)
                let data = AdvertisementData.parse(layout.data.span)
                let response = AdvertisementData.parse(layout.scanResponse.span)
                #expect(data.fault == nil && response.fault == nil)
                let heard = data.value.merged(with: response.value)
                #expect(heard.flags == 0x06)
                #expect(heard.localName?.text == content.localName)
                #expect(Set(heard.serviceUUIDs) == Set(content.services))
                #expect(heard.txPower == content.txPower && heard.appearance == content.appearance)
                #expect(heard.manufacturerData == content.manufacturerData)
                #expect(heard.serviceData == content.serviceData)
            } catch {
                refused += 1
                #expect(error.needed > error.leftInData && error.needed > error.leftInScanResponse)
            }
        }
        #expect((100..<1900).contains(refused))
    }
}
