// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing

private func describe(_ parsed: AdvertisementData.Parsed) -> [String] {
    let value = parsed.value
    var lines: [String] = []
    if let flags = value.flags { lines.append("flags \(Hexadecimal.text([flags]))") }
    if let name = value.localName { lines.append("name \(name.text) \(name.isComplete ? "complete" : "shortened")") }
    if let power = value.txPower { lines.append("tx \(power)") }
    if let number = value.appearance { lines.append("appearance \(Hexadecimal.text(UInt64(number), digits: 4))") }
    if !value.serviceUUIDs.isEmpty {
        let list = value.serviceUUIDs.map(\.description).joined(separator: ",")
        lines.append("services \(list)\(value.hasMoreServices ? " more" : "")")
    }
    if !value.solicitedServiceUUIDs.isEmpty {
        lines.append("solicited \(value.solicitedServiceUUIDs.map(\.description).joined(separator: ","))")
    }
    for data in value.manufacturerData {
        lines.append("manufacturer \(Hexadecimal.text(UInt64(data.company), digits: 4)) \(Hexadecimal.text(data.data))")
    }
    for data in value.serviceData { lines.append("service-data \(data.service) \(Hexadecimal.text(data.data))") }
    for item in value.other { lines.append("other \(Hexadecimal.text([item.type])) \(Hexadecimal.text(item.data))") }
    if let fault = parsed.fault { lines.append("fault \(fault.field) \(fault.offset)") }
    return lines
}

/// Returns the number of bytes of a parsed advertisement.
private func size(_ value: AdvertisementData) -> Int {
    value.serviceUUIDs.count * 2 + value.solicitedServiceUUIDs.count * 2
        + value.manufacturerData.reduce(0) { $0 + 2 + $1.data.count }
        + value.serviceData.reduce(0) { $0 + 2 + $1.data.count } + value.other.reduce(0) { $0 + 1 + $1.data.count }
        + (value.localName?.text.unicodeScalars.count ?? 0)
}

@Suite struct AdvertisementDataTests {
    @Test("CB-5: AD structures are parsed", arguments: HCIVector.load("advertisement-data.txt"))
    func reads(_ vector: HCIVector) {
        #expect(describe(AdvertisementData.parse(vector.bytes.span)) == vector.expected)
    }

    @Test(
        "Cut at any byte, what was whole before the cut is read",
        arguments: HCIVector.load("advertisement-data.txt")
    )
    func truncations(_ vector: HCIVector) {
        for length in 0..<vector.bytes.count {
            let head = Array(vector.bytes[..<length])
            // The structures that fit completely, found independently of the parser.
            var whole = 0
            while whole < length, head[whole] != 0, whole + 1 + Int(head[whole]) <= length {
                whole += 1 + Int(head[whole])
            }
            let endsCleanly = whole == length || head[whole] == 0
            let parsed = AdvertisementData.parse(head.span)
            let expected = AdvertisementData.parse(Array(head[..<whole]).span)
            #expect(parsed.value == expected.value)
            #expect(endsCleanly == (parsed.fault == expected.fault) || expected.fault != nil)
        }
    }

    @Test(
        "T14: every length byte in every buffer of 0 to 64 bytes: no trap, a result no larger than the buffer",
        arguments: [0x01, 0x02, 0x03, 0x07, 0x09, 0x0A, 0x16, 0x19, 0x21, 0x77, 0xFF] as [UInt8]
    )
    func everyLength(_ type: UInt8) {
        for count in 0...64 {
            for length in UInt8.min...UInt8.max {
                var buffer = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
                if count > 0 { buffer[0] = length }
                if count > 1 { buffer[1] = type }
                let parsed = AdvertisementData.parse(buffer.span)
                #expect(size(parsed.value) <= count)
                if count > 0, length > 0, Int(length) > count - 1 {
                    #expect(parsed.fault?.offset == 1)
                    #expect(parsed.value == AdvertisementData())
                }
                if count == 0 || length == 0 { #expect(parsed == .init(value: AdvertisementData(), fault: nil)) }
            }
        }
    }

    @Test("T14: 1,650 bytes of the shortest structures, of names and of services stay bounded")
    func longest() {
        let structures = (0..<825).flatMap { _ in [0x01, 0x77] as [UInt8] }
        #expect(AdvertisementData.parse(structures.span).value.other.count == 825)
        let services = (0..<6).flatMap { _ in [0xFF, 0x03] + [UInt8](repeating: 0x18, count: 254) as [UInt8] }
        #expect(AdvertisementData.parse(services.span).value.serviceUUIDs.count == 6 * 127)
        let name = [0xFF, 0x09] + [UInt8](repeating: 0x41, count: 254) as [UInt8]
        #expect(AdvertisementData.parse(name.span).value.localName?.text.utf8.count == LocalName.maximumLength)
    }

    @Test("A scan response adds to its advertisement and replaces nothing but a shortened name")
    func merges() {
        let advertisement: [UInt8] = [
            2, 1, 6, 2, 0x0A, 4, 3, 8, 0x4C, 0x54, 3, 3, 0x0A, 0x18, 5, 0xFF, 0x4C, 0, 1, 2,
        ]
        let response: [UInt8] = [
            2, 1, 4, 5, 9, 0x4C, 0x54, 0x30, 0x31, 5, 3, 0x0A, 0x18, 0x0F, 0x18, 2, 0x0A, 8, 3, 0x19, 0xC1, 3, 5, 0xFF,
            0x4C, 0, 1, 2,
        ]
        let merged = AdvertisementData.parse(advertisement.span).value
            .merged(with: AdvertisementData.parse(response.span).value)
        #expect(
            describe(.init(value: merged, fault: nil)) == [
                "flags 06", "name LT01 complete", "tx 4", "appearance 03C1", "services 180A,180F",
                "manufacturer 004C 0102",
            ]
        )
    }

    @Test("Either packet may lack what the other has, and what both have is there once")
    func mergesEach() throws {
        func data(_ text: String) throws -> AdvertisementData {
            let bytes = try #require(Hexadecimal.bytes(text.filter { $0 != " " }))
            let parsed = AdvertisementData.parse(bytes.span)
            #expect(parsed.fault == nil)
            return parsed.value
        }
        // Services (incomplete), solicited services, manufacturer and service data, and a structure of another type.
        let one = try data("03020A18 03141218 04FF4C0001 04160F1864 02DD01")
        let two = try data(
            "020105 020A08 0319C103 03094142 0514 12181318 04FF4C0001 04FF4C0002 04160F1865 02DD01 02DD02"
        )
        let alone = ["flags 05", "name AB complete", "tx 8", "appearance 03C1", "services 180A more"]
        #expect(
            describe(.init(value: one.merged(with: two))) == alone + [
                "solicited 1812,1813", "manufacturer 004C 01", "manufacturer 004C 02", "service-data 180F 64",
                "service-data 180F 65", "other DD 01", "other DD 02",
            ]
        )
        #expect(
            describe(.init(value: two.merged(with: one))) == alone + [
                "solicited 1812,1813", "manufacturer 004C 01", "manufacturer 004C 02", "service-data 180F 65",
                "service-data 180F 64", "other DD 01", "other DD 02",
            ]
        )
        let none = AdvertisementData()
        #expect(!none.hasMoreServices && none.merged(with: none) == none && one.merged(with: none) == one)
        #expect(none.merged(with: two) == two)
    }

    @Test("T11: no character of a printable name can move a cursor, turn the writing, or hide")
    func printableNames() {
        let name = "a\u{1B}[2J\u{7}\r\n\t\u{0}\u{7F}\u{9B}\u{202E}\u{200F}\u{2066}\u{2028}\u{FEFF}\u{E000} é日本"
        #expect(LocalName.printable(name).unicodeScalars.filter { $0 == "\u{FFFD}" }.count == 14)
        #expect(LocalName.printable("LINBLE-TEST é日本") == "LINBLE-TEST é日本")
        for byte in UInt8.min...UInt8.max {
            let printable = LocalName([0x41, byte, 0x42].span, isComplete: true).printable
            let isFree = printable.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
            #expect(isFree)
            #expect(printable.hasPrefix("A"))
            // A name ends at NUL or invalid UTF-8.
            #expect(printable.hasSuffix("B") == (1..<0x80).contains(byte))
        }
    }
}
