// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import TestSupport
import Testing

@Suite struct BluetoothUUIDTests {
    @Test("CB-16: 16, 32 and 128 bits are equal over the base UUID")
    func equality() {
        let forms = ["180A", "0x180a", "0000180A", "0000180a-0000-1000-8000-00805f9b34fb"].map { BluetoothUUID($0) }
        #expect(Set(forms) == [BluetoothUUID(0x180A as UInt16)])
        #expect(BluetoothUUID(0x180A as UInt16) == BluetoothUUID(0x0000_180A as UInt32))
        #expect(BluetoothUUID(0x180A as UInt16).hashValue == BluetoothUUID(0x180A as UInt32).hashValue)
        #expect(BluetoothUUID(0x180A as UInt16) != BluetoothUUID(0x180B as UInt16))
        #expect(BluetoothUUID("0000180A-0000-1000-8000-00805F9B34FC") != BluetoothUUID(0x180A as UInt16))
        #expect(BluetoothUUID("0000180A-0000-1001-8000-00805F9B34FB")?.shortForm32 == nil)
    }

    @Test("A literal is a UUID of 16 or 32 bits, and those that have a name here are the assigned ones of that name")
    func literals() {
        #expect(BluetoothUUID(0x180A) == BluetoothUUID("180A"))
        #expect(0x1234_5678 == BluetoothUUID("12345678"))
        let named: [(BluetoothUUID, String)] = [
            (.genericAccess, "GAP"), (.genericAttribute, "GATT"), (.currentTime, "Current Time"),
            (.healthThermometer, "Health Thermometer"), (.deviceInformation, "Device Information"),
            (.heartRate, "Heart Rate"), (.battery, "Battery"), (.bloodPressure, "Blood Pressure"),
            (.humanInterfaceDevice, "Human Interface Device"), (.environmentalSensing, "Environmental Sensing"),
            (.weightScale, "Weight Scale"), (.deviceName, "Device Name"), (.appearance, "Appearance"),
            (.serviceChanged, "Service Changed"), (.batteryLevel, "Battery Level"),
            (.temperatureMeasurement, "Temperature Measurement"), (.systemID, "System ID"),
            (.modelNumberString, "Model Number String"), (.serialNumberString, "Serial Number String"),
            (.firmwareRevisionString, "Firmware Revision String"),
            (.hardwareRevisionString, "Hardware Revision String"),
            (.softwareRevisionString, "Software Revision String"),
            (.manufacturerNameString, "Manufacturer Name String"),
            (.bloodPressureMeasurement, "Blood Pressure Measurement"),
            (.heartRateMeasurement, "Heart Rate Measurement"), (.bodySensorLocation, "Body Sensor Location"),
            (.hidInformation, "HID Information"), (.reportMap, "Report Map"),
            (.hidControlPoint, "HID Control Point"), (.report, "Report"), (.protocolMode, "Protocol Mode"),
            (.pnpID, "PnP ID"), (.temperature, "Temperature"), (.humidity, "Humidity"),
            (.weightMeasurement, "Weight Measurement"),
        ]
        for (uuid, name) in named { #expect(AssignedNumbers.name(of: uuid) == name) }
    }

    @Test("Which numbers of the Assigned Numbers have a name")
    func namedNumbers() {
        let numbers = (UInt16.min ... .max).filter { AssignedNumbers.name(of: BluetoothUUID($0)) != nil }
        var ranges: [ClosedRange<UInt16>] = []
        for number in numbers {
            if let last = ranges.last, last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        let text = ranges.map { range in
            let ends = range.count == 1 ? [range.lowerBound] : [range.lowerBound, range.upperBound]
            return ends.map { String($0, radix: 16, uppercase: true) }.joined(separator: "-")
        }
        let expected = """
            1800-1805 1808-180A 180D-1816 1818-1828 2800-2803 2900-2908 290B-290D 2A00-2A08 2A19 2A1C-2A1D 2A22-2A2B \
            2A31-2A33 2A35 2A37-2A39 2A4A-2A50 2A6D-2A6F 2A9D 2AA6 2AC9 2B29-2B2A 2B3A
            """
        #expect(text.joined(separator: " ") == expected)
    }

    @Test("CB-16: a UUID is printed in its shortest form, in capitals, and read again")
    func printing() {
        let texts = [
            "180A", "12345678", "27ADC9CA-35EB-465A-9154-B8FF9076F3E8", "00000000-0000-0000-0000-000000000000",
        ]
        for text in texts {
            #expect(BluetoothUUID(text)?.description == text)
            #expect(BluetoothUUID(text.lowercased())?.description == text)
            #expect(BluetoothUUID(text)?.fullDescription.utf8.count == 36)
            #expect(BluetoothUUID(BluetoothUUID(text)?.fullDescription ?? "") == BluetoothUUID(text))
        }
        #expect(BluetoothUUID(0x180A as UInt16).fullDescription == "0000180A-0000-1000-8000-00805F9B34FB")
        #expect(BluetoothUUID(0x180A as UInt16).shortForm16 == 0x180A)
        #expect(BluetoothUUID(0x12345678 as UInt32).shortForm16 == nil)
        #expect(BluetoothUUID(0x12345678 as UInt32).shortForm32 == 0x12345678)
        #expect(BluetoothUUID(high: 0x27ADC9CA_35EB465A, low: 0x9154B8FF_9076F3E8).shortForm32 == nil)
    }

    @Test(
        "Text that is no UUID is refused",
        arguments: [
            "", "1", "180", "180A5", "18 A", "+80A", "-80A", "0x", "0x180", "180G", "0x0x180A", "x180A", "１８０A",
            "0000180A00001000800000805F9B34FB", "0000180A-0000-1000-8000-00805F9B34F", "{180A}",
            "0000180A-0000-1000-8000-00805F9B34FBA", "0000180A-0000-1000-8000+00805F9B34FB",
            "0000180A-0000-10008-000-00805F9B34FB", "0000180A-0000-1000-8000-00805F9B34FG",
        ]
    )
    func refused(_ text: String) {
        #expect(BluetoothUUID(text) == nil)
    }

    @Test("CB-16: a random UUID has version 4 and its variant, and differs from the next")
    func random() {
        var generator = SeededGenerator(seed: 1)
        var seen: Set<BluetoothUUID> = []
        for _ in 0..<1000 {
            let uuid = BluetoothUUID.random(using: &generator)
            #expect(uuid.high &>> 12 & 0xF == 4)
            #expect(uuid.low &>> 62 == 0b10)
            seen.insert(uuid)
        }
        #expect(seen.count == 1000)
        #expect(BluetoothUUID.random() != BluetoothUUID.random())
    }

    @Test("On the air a UUID is little-endian, of 2 or 16 bytes when written, of 2, 4 or 16 when read")
    func bytes() throws {
        let linble = try #require(BluetoothUUID("27ADC9CA-35EB-465A-9154-B8FF9076F3E8"))
        var writer = ByteWriter()
        writer.write(BluetoothUUID(0x180A as UInt16))
        writer.write(linble)
        writer.write(BluetoothUUID(0x12345678 as UInt32))
        #expect(
            Hexadecimal.text(writer.bytes)
                == "0A18" + "E8F37690FFB854915A46EB35CAC9AD27" + "FB349B5F80000080001000" + "0078563412"
        )
        var reader = ByteReader(writer.bytes.span, packet: "UUIDs")
        #expect(try reader.readUUID(byteCount: 2, "short") == BluetoothUUID(0x180A as UInt16))
        #expect(try reader.readUUID(byteCount: 16, "long") == linble)
        #expect(try reader.readUUID(byteCount: 16, "base") == BluetoothUUID(0x12345678 as UInt32))
        let isAtEnd = reader.isAtEnd
        #expect(isAtEnd)
        var four = ByteReader([0x78, 0x56, 0x34, 0x12].span, packet: "UUIDs")
        #expect(try four.readUUID(byteCount: 4, "middle") == BluetoothUUID(0x12345678 as UInt32))
    }
}
