// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing

@Suite struct HCICommandTests {
    static let coded = ScanParameters(
        type: .passive,
        interval: .init(rawValue: 0xA0),
        window: .init(rawValue: 0x50),
        ownAddressType: .random,
        filterPolicy: .acceptList,
        filtersDuplicates: true,
        scansCodedPHY: true,
        duration: 1000,
        period: 8
    )

    static let commands: [String: HCICommand] = [
        "reset": .reset,
        "readLocalVersionInformation": .readLocalVersionInformation,
        "readLocalSupportedCommands": .readLocalSupportedCommands,
        "disconnect": .disconnect(handle: 0x0040),
        "leSetScanParameters active": .leSetScanParameters(.discovery),
        "leSetScanParameters background": .leSetScanParameters(.background),
        "leSetScanEnable on": .leSetScanEnable(true, filtersDuplicates: false),
        "leSetScanEnable off": .leSetScanEnable(false, filtersDuplicates: false),
        "leSetExtendedScanParameters active": .leSetExtendedScanParameters(.discovery),
        "leSetExtendedScanParameters coded": .leSetExtendedScanParameters(coded),
        "leSetExtendedScanEnable on": .leSetExtendedScanEnable(true, coded),
        "leSetExtendedScanEnable off": .leSetExtendedScanEnable(false, coded),
    ].reduce(into: HCIHostCommands.all) { $0[$1.key] = $1.value }

    @Test("The bytes of a command", arguments: HCIVector.load("hci-commands.txt"))
    func encodes(_ vector: HCIVector) throws {
        let command = try #require(Self.commands[vector.name])
        #expect(Hexadecimal.text(command.encoded) == Hexadecimal.text(vector.bytes))
    }

    @Test("Parameters that the length byte cannot name make no command")
    func boundedParameters() {
        let opcode = HCIOpcode(group: 0x3F, command: 0x001)
        #expect(HCICommand(opcode: opcode, parameters: [UInt8](repeating: 0, count: 255))?.encoded.count == 259)
        #expect(HCICommand(opcode: opcode, parameters: [UInt8](repeating: 0, count: 256)) == nil)
    }

    @Test("Interval and window keep to the specification's range, and the window to the interval")
    func slots() {
        #expect(ScanParameters.Slots(rawValue: 0).rawValue == 0x0004)
        #expect(ScanParameters.Slots(rawValue: 0xFFFF).rawValue == 0x4000)
        #expect(ScanParameters.Slots(rawValue: 0x10).duration == .milliseconds(10))
        let wide = ScanParameters(interval: .init(rawValue: 0x10), window: .init(rawValue: 0x20))
        #expect(wide.effectiveWindow.rawValue == 0x10)
    }

    @Test("An opcode is its two fields")
    func opcode() {
        #expect(HCIOpcode.leSetExtendedScanEnable.rawValue == 0x2042)
        #expect(HCIOpcode.leSetExtendedScanEnable.group == 0x08)
        #expect(HCIOpcode.leSetExtendedScanEnable.command == 0x042)
        #expect("\(HCIOpcode.leSetScanEnable)" == "LE Set Scan Enable (0x200C)")
        #expect("\(HCIOpcode(rawValue: 0xFC01))" == "HCI command 0xFC01")
    }

    @Test("The map of supported commands: status and 64 octets, no byte less or more")
    func supportedCommands() throws {
        var bytes = [UInt8](repeating: 0, count: 65)
        bytes[1 + 26] = 0b0000_1100
        bytes[1 + 37] = 0b0110_0000
        let map = try SupportedCommands(returnParameters: bytes.span)
        let bits: [SupportedCommands.Bit] = [
            .leSetScanParameters, .leSetScanEnable, .leSetExtendedScanParameters, .leSetExtendedScanEnable,
        ]
        #expect(bits.allSatisfy(map.contains))
        #expect(map == SupportedCommands(Set(bits)))
        #expect(!map.contains(.init(octet: 37, bit: 7)))
        #expect(!map.contains(.init(octet: 255, bit: 7)))
        for length in 0...70 where length != 65 {
            let wrong = [UInt8](repeating: 0, count: length)
            #expect(throws: DecodingError.self) { try SupportedCommands(returnParameters: wrong.span).octets }
        }
        bytes[0] = 0x01
        #expect(throws: DecodingError.self) { try SupportedCommands(returnParameters: bytes.span).octets }
    }

    @Test(
        "A status has the specification's name",
        arguments: [
            (0x00, "Success (0x00)"), (0x0C, "Command Disallowed (0x0C)"),
            (0x12, "Invalid HCI Command Parameters (0x12)"), (0x1F, "Unspecified Error (0x1F)"),
            (0x2B, "Reserved Error (0x2B)"), (0x2F, "Insufficient Security (0x2F)"), (0x3A, "Controller Busy (0x3A)"),
            (0x3E, "Connection Failed to be Established / Synchronization Timeout (0x3E)"),
            (0x44, "Operation Cancelled by Host (0x44)"), (0x48, "Insufficient Channels (0x48)"),
            (0xFF, "Reserved Error (0xFF)"),
        ]
    )
    func statusNames(_ code: UInt8, _ text: String) {
        #expect("\(HCIStatus(rawValue: code))" == text)
    }
}
