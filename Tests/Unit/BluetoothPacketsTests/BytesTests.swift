// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing

@Suite struct BytesTests {
    @Test("Integers are little-endian in both directions")
    func integers() throws {
        var writer = ByteWriter()
        writer.write(0x01 as UInt8)
        writer.write(0x0302 as UInt16)
        writer.write(0x0706_0504 as UInt32)
        writer.write(0x0F0E_0D0C_0B0A_0908 as UInt64)
        writer.write(BluetoothAddress(rawValue: 0x1514_1312_1110))
        writer.write([0x16, 0x80] as [UInt8])
        #expect(writer.bytes == Array(0x01...0x16) + [0x80])
        var reader = ByteReader(writer.bytes.span, packet: "Test")
        #expect(try reader.readUInt8("a") == 0x01)
        #expect(try reader.readUInt16("b") == 0x0302)
        #expect(try reader.readUInt32("c") == 0x0706_0504)
        #expect(try reader.readUInt64("d") == 0x0F0E_0D0C_0B0A_0908)
        #expect(try reader.readAddress("e") == BluetoothAddress(rawValue: 0x1514_1312_1110))
        #expect(try reader.readBytes(count: 1, "f") == [0x16])
        #expect(try reader.readInt8("g") == -128)
        try reader.expectEnd()
    }

    @Test("T16: a field that needs more bytes than are left throws, says where, and leaves the cursor")
    func short() throws {
        let needs = [1, 2, 4, 8, 6, 16, 20]
        for available in 0...20 {
            let bytes = [UInt8](repeating: 0xAA, count: available)
            for (kind, need) in needs.enumerated() {
                var reader = ByteReader(bytes.span, packet: "Test")
                do throws(DecodingError) {
                    switch kind {
                    case 0: _ = try reader.readUInt8("x")
                    case 1: _ = try reader.readUInt16("x")
                    case 2: _ = try reader.readUInt32("x")
                    case 3: _ = try reader.readUInt64("x")
                    case 4: _ = try reader.readAddress("x")
                    case 5: _ = try reader.readUUID(byteCount: 16, "x")
                    default: _ = try reader.readSpan(count: 20, "x").count
                    }
                    #expect(available >= need)
                    let offset = reader.offset
                    #expect(offset == need)
                } catch {
                    #expect(available < need)
                    let offset = reader.offset
                    #expect(offset == 0)
                    let reason = DecodingError.Reason.truncated(needed: need, available: available)
                    #expect(error == .init(packet: "Test", field: "x", offset: 0, reason: reason))
                }
            }
        }
    }

    @Test("T16: no count, negative or large, reads outside")
    func counts() {
        for count in [-1, Int.min, 4, Int.max] {
            var reader = ByteReader([1, 2, 3].span, packet: "Test")
            #expect(throws: DecodingError.self) { _ = try reader.readSpan(count: count, "x").count }
            #expect(throws: DecodingError.self) { _ = try reader.readUUID(byteCount: count, "x") }
            let remaining = reader.remaining
            #expect(remaining == 3)
        }
    }

    @Test("Left-over bytes are refused and counted")
    func trailing() throws {
        let reader = ByteReader([1, 2].span, packet: "Test")
        #expect(throws: DecodingError(packet: "Test", field: "end", offset: 0, reason: .trailing(count: 2))) {
            try reader.expectEnd()
        }
        let fault = reader.error("f", .invalidValue(7))
        #expect("\(fault)" == "Test: f at byte 0: impossible value 7")
    }

    @Test("Long integers, UUIDs of each length, values in a row and the rest of a packet have these bytes")
    func otherFields() throws {
        let all = (UInt8(0)...0x0F).map { $0 }
        let number: UInt128 = 0x0F0E_0D0C_0B0A_0908_0706_0504_0302_0100
        var writer = ByteWriter()
        writer.write(number)
        #expect(writer.bytes == all)
        var reader = ByteReader(all.span, packet: "Test")
        #expect(try reader.readUInt128("a") == number)
        let isAtEnd = reader.isAtEnd
        #expect(isAtEnd)
        let long = BluetoothUUID(high: 0x0F0E_0D0C_0B0A_0908, low: 0x0706_0504_0302_0100)
        let base = "FB349B5F8000008000100000"
        let uuids: [(count: Int, bytes: String, uuid: BluetoothUUID, written: String)] = [
            (2, "0A18", BluetoothUUID(0x180A as UInt16), "0A18"),
            (4, "0A180000", BluetoothUUID(0x180A as UInt16), "0A18"),
            (4, "78563412", BluetoothUUID(0x1234_5678 as UInt32), base + "78563412"),
            (16, Hexadecimal.text(all), long, Hexadecimal.text(all)),
            (16, base + "0A180000", BluetoothUUID(0x180A as UInt16), "0A18"),
        ]
        for (count, text, uuid, written) in uuids {
            let bytes = try #require(Hexadecimal.bytes(text))
            var reader = ByteReader(bytes.span, packet: "Test")
            #expect(try reader.readUUID(byteCount: count, "b") == uuid)
            var writer = ByteWriter()
            writer.write(uuid)
            #expect(Hexadecimal.text(writer.bytes) == written)
        }
        let address = BluetoothAddress(rawValue: 0x0605_0403_0201)
        #expect(ByteWriter.bytes(0x00 as UInt8, address, 0x0807 as UInt16, [0x09, 0x0A] as [UInt8]) == Array(0...0x0A))
        var rest = ByteReader(all.span, packet: "Test")
        _ = try rest.readBytes(count: 14, "c")
        let last = [UInt8](copying: rest.readRest())
        let end = rest.offset
        #expect(last == [0x0E, 0x0F] && end == 16)
    }

    @Test("An error names the packet, the field and the offset, with the reason in words")
    func errors() {
        let reasons: [(DecodingError.Reason, String)] = [
            (.truncated(needed: 4, available: 1), "needs 4 bytes, 1 are left"),
            (.trailing(count: 3), "3 bytes too many"),
            (.invalidLength(5), "impossible length 5"), (.invalidValue(6), "impossible value 6"),
            (.unexpectedCode(7), "unexpected code 7"),
        ]
        for (reason, text) in reasons {
            let error = DecodingError(packet: "Test", field: "f", offset: 2, reason: reason)
            #expect(error.description == "Test: f at byte 2: \(text)")
        }
    }

    private func begins(_ bytes: [UInt8], with prefix: [UInt8]) -> Bool { bytes.span.begins(with: prefix.span) }

    @Test("Bytes begin with each of their prefixes, and with nothing that differs in one bit")
    func prefixes() {
        let bytes = (0..<70).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
        for count in 0...50 {
            let prefix = Array(bytes[..<count])
            for length in [0, max(0, count - 1), count, count + 1, 70] {
                #expect(begins(Array(bytes[..<length]), with: prefix) == (length >= count), "\(count) \(length)")
            }
            for place in 0..<count {
                var other = prefix
                other[place] ^= 1 << (place % 8)
                #expect(!begins(bytes, with: other) && !begins(prefix, with: other), "\(count) \(place)")
            }
        }
    }

    @Test("Hexadecimal digits are read in pairs and either case, and written in capitals")
    func hexadecimal() {
        #expect(Hexadecimal.bytes("09afAF") == [0x09, 0xAF, 0xAF] && Hexadecimal.bytes("") == [])
        for text in ["0", "000", "0g", "0G", "0/", "0:", "0@", "0`", " 00", "00 ", "0x"] {
            #expect(Hexadecimal.bytes(text) == nil, "\(text)")
        }
        #expect(Hexadecimal.text([0x00, 0x09, 0xAF] as [UInt8]) == "0009AF")
        let numbers = [(0 as UInt64, 0), (0, 1), (0xAB, 1), (0xAB, 2), (0xAB, 4)].map {
            Hexadecimal.text($0, digits: $1)
        }
        #expect(numbers == ["0", "0", "AB", "AB", "00AB"])
    }
}

@Suite struct BluetoothAddressTests {
    @Test("An address is read in either case and printed in capitals")
    func text() {
        #expect(BluetoothAddress("f0:F1:f2:F3:f4:F5")?.rawValue == 0xF0F1_F2F3_F4F5)
        #expect(BluetoothAddress(rawValue: 0xFFFF_0001_0203_0405).description == "00:01:02:03:04:05")
        #expect(
            BluetoothAddress("F0:F1:F2:F3:F4:F5").map { DeviceAddress($0, .random).description }
                == "F0:F1:F2:F3:F4:F5 (random)"
        )
    }

    @Test(
        "Text that is no address is refused",
        arguments: [
            "", "F0:F1:F2:F3:F4", "F0:F1:F2:F3:F4:F5:F6", "F0-F1-F2-F3-F4-F5", "F0F1F2F3F4F5", "F0:F1:F2:F3:F4:G5",
            "F0:F1:F2:F3:F4:+5", "F0:F1:F2:F3:F4:-5", "F0:F1:F2:F3:F4:F", " F0:F1:F2:F3:F4:F5", ":::::",
            "F0:F1:F2:F3:F4:F5:", "F0:F1:F2::F4:F5",
        ]
    )
    func refused(_ text: String) {
        #expect(BluetoothAddress(text) == nil)
    }

    @Test(
        "CB-15: public, static random, resolvable and non-resolvable addresses are distinguished by their highest bits"
    )
    func kinds() {
        func kind(_ top: UInt64, _ type: AddressType) -> DeviceAddress.Kind {
            DeviceAddress(BluetoothAddress(rawValue: top &<< 40), type).kind
        }
        for top in UInt64(0)...255 {
            #expect(kind(top, .public) == .public)
            let expected: DeviceAddress.Kind =
                top >= 0xC0
                ? .staticRandom
                : top >= 0x80
                    ? .reserved
                    : top >= 0x40
                        ? .resolvablePrivate
                        : .nonResolvablePrivate
            #expect(kind(top, .random) == expected)
        }
        #expect(
            (UInt8.min...UInt8.max).map { AddressType(hci: $0) }.prefix(5) == [.public, .random, .public, .random, nil]
        )
        #expect((UInt8(4)...255).allSatisfy { AddressType(hci: $0) == nil })
    }

    @Test("CB-15: an address of another type is another device")
    func identity() {
        let address = BluetoothAddress(rawValue: 1)
        #expect(DeviceAddress(address, .public) != DeviceAddress(address, .random))
        #expect(address < BluetoothAddress(rawValue: 2))
    }
}
