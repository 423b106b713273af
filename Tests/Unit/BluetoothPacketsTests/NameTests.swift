// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import TestSupport
import Testing

@Suite struct NameTests {
    private static func hex(_ number: some UnsignedInteger, _ digits: Int = 2) -> String {
        Hexadecimal.text(UInt64(number), digits: digits)
    }

    /// Returns all named numbers, in the form of names.txt.
    private static var lines: [String] {
        let bytes = UInt8.min...UInt8.max
        let words = UInt16.min...UInt16.max
        var lines = bytes.compactMap { number in HCIStatus(rawValue: number).name.map { "status \(hex(number)) \($0)" }
        }
        lines += bytes.compactMap { number in
            ManagementStatus(rawValue: number).name.map { "management-status \(hex(number)) \($0)" }
        }
        lines += bytes.compactMap { number in ATTError(rawValue: number).name.map { "att-error \(hex(number)) \($0)" } }
        lines += bytes.compactMap { number in
            let opcode = ATTOpcode(rawValue: number)
            guard let name = opcode.name, let kind = opcode.kind else { return nil }
            let flags = (opcode.isCommand ? " command" : "") + (opcode.hasSignature ? " signed" : "")
            let answer = opcode.answer.map { " \(hex($0.rawValue))" } ?? ""
            return "att \(hex(number)) \(name): \(kind)\(answer)\(flags)"
        }
        lines += words.compactMap { number in
            let text = "\(HCIOpcode(rawValue: number))"
            return text.hasPrefix("HCI command") ? nil : "command \(text)"
        }
        lines += words.compactMap { number in
            let text = "\(ManagementOpcode(rawValue: number))"
            return text.hasPrefix("management command") ? nil : "management \(text)"
        }
        lines += words.compactMap { number in
            AssignedNumbers.name(of: BluetoothUUID(number)).map { "uuid \(hex(number, 4)) \($0)" }
        }
        return lines
    }

    @Test("Every number has the name of the specification, and no other number has one")
    func names() throws {
        let expected = try VectorFile.lines("names.txt").map(\.text)
        #expect(Self.lines == expected)
    }

    /// Numbers in the Assigned Numbers, 3.4 and 3.8.
    @Test("The named UUIDs are those of the Assigned Numbers")
    func uuids() {
        let services: [BluetoothUUID] = [
            .genericAccess, .genericAttribute, .currentTime, .healthThermometer, .deviceInformation, .heartRate,
            .battery, .bloodPressure, .humanInterfaceDevice, .environmentalSensing, .weightScale,
        ]
        let numbers: [UInt16] = [
            0x1800, 0x1801, 0x1805, 0x1809, 0x180A, 0x180D, 0x180F, 0x1810, 0x1812, 0x181A, 0x181D,
        ]
        #expect(services.map(\.shortForm16) == numbers)
        let characteristics: [BluetoothUUID] = [
            .deviceName, .appearance, .serviceChanged, .batteryLevel, .temperatureMeasurement, .systemID,
            .modelNumberString, .serialNumberString, .firmwareRevisionString, .hardwareRevisionString,
            .softwareRevisionString, .manufacturerNameString, .bloodPressureMeasurement, .heartRateMeasurement,
            .bodySensorLocation, .hidInformation, .reportMap, .hidControlPoint, .report, .protocolMode, .pnpID,
            .temperature, .humidity, .weightMeasurement,
        ]
        let others: [UInt16] = [
            0x2A00, 0x2A01, 0x2A05, 0x2A19, 0x2A1C, 0x2A23, 0x2A24, 0x2A25, 0x2A26, 0x2A27, 0x2A28, 0x2A29, 0x2A35,
            0x2A37, 0x2A38, 0x2A4A, 0x2A4B, 0x2A4C, 0x2A4D, 0x2A4E, 0x2A50, 0x2A6E, 0x2A6F, 0x2A9D,
        ]
        #expect(characteristics.map(\.shortForm16) == others)
    }

    /// Numbers in the Assigned Numbers, 2.3.
    @Test("The AD types are those of the Assigned Numbers")
    func advertisingData() {
        let types = [
            ADType.flags, ADType.someUUIDs16, ADType.allUUIDs16, ADType.someUUIDs32, ADType.allUUIDs32,
            ADType.someUUIDs128, ADType.allUUIDs128, ADType.shortenedName, ADType.completeName, ADType.txPower,
            ADType.serviceData16, ADType.appearance, ADType.serviceData32, ADType.serviceData128,
            ADType.manufacturerData,
        ]
        #expect(types == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0A, 0x16, 0x19, 0x20, 0x21, 0xFF])
    }

    /// Octets and bits in Core 6.0, Vol 4, Part E, 6.27.
    @Test("The bits of the supported commands are those of the specification")
    func supportedCommands() {
        let bits: [SupportedCommands.Bit] = [
            .readLocalSupportedFeatures, .readRSSI, .writeLEHostSupport, .leSetAdvertisingParameters,
            .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable, .leCreateConnection,
            .leCreateConnectionCancel, .leEnableEncryption, .leSetDataLength, .leSetPHY,
            .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
            .leSetExtendedAdvertisingEnable, .leSetExtendedScanParameters, .leSetExtendedScanEnable,
            .leExtendedCreateConnection,
        ]
        #expect(
            bits.map { "\($0.octet).\($0.bit)" } == [
                "14.5", "15.5", "24.6", "25.5", "26.1", "26.2", "26.3", "26.4", "26.5", "28.0", "33.6", "35.6", "36.2",
                "36.3", "36.4", "36.5", "37.5", "37.6", "37.7",
            ]
        )
    }

    /// Numbers in `MGMT_DEV_DISCONN_…` of the kernel.
    @Test("The reasons of a disconnection are those of the kernel")
    func disconnectReasons() {
        let reasons: [ManagementEvent.DisconnectReason] = [
            .unspecified, .timeout, .localHost, .remote, .authenticationFailure, .localHostSuspend,
        ]
        #expect(reasons.map(\.rawValue) == [0, 1, 2, 3, 4, 5] && Set(reasons.map(\.description)).count == 6)
    }

    @Test("Addresses and handles have a strict order")
    func order() {
        let addresses = [1, 2].map { BluetoothAddress(rawValue: $0) }
        #expect(addresses[0] < addresses[1] && !(addresses[1] < addresses[0]) && !(addresses[0] < addresses[0]))
        let handles = [AttributeHandle(1), AttributeHandle(2)]
        #expect(handles[0] < handles[1] && !(handles[1] < handles[0]) && !(handles[0] < handles[0]))
        #expect(
            handles[0].next == handles[1] && AttributeHandle.last.next == nil && AttributeHandle(0xFFFE).next == .last
        )
        #expect([AttributeHandle.invalid, .first, .last].map(\.rawValue) == [0, 1, 0xFFFF])
        #expect("\(AttributeHandleRange.all)" == "0x0001-0xFFFF")
        let range = AttributeHandleRange(start: AttributeHandle(2), end: AttributeHandle(4))
        #expect(
            (UInt16(0)...6).map { range.contains(AttributeHandle($0)) } == [
                false, false, true, true, true, false, false,
            ]
        )
        for (start, end, isValid) in [(1, 1, true), (0, 1, false), (2, 1, false)] as [(UInt16, UInt16, Bool)] {
            let range = AttributeHandleRange(start: AttributeHandle(start), end: AttributeHandle(end))
            #expect(range.isValid == isValid)
        }
    }
}
