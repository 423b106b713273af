// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import FirmwareSupport
import TestSupport
import Testing
import Texts

@testable import blewedge

@Suite("Solicited services", .serialized, .timeLimit(.minutes(10)))
struct SolicitedServiceTests {
    /// Flags, a name, an offered service and a solicited service.
    private static let advertisement: [UInt8] =
        [0x02, 0x01, 0x06, 0x03, 0x09, 0x4C, 0x54, 0x03, 0x03, 0x0F, 0x18, 0x03, 0x14, 0x12, 0x18]

    private func scan(_ words: String...) throws -> String {
        let directory = try TestDirectory()
        let sender = DeviceAddress(BluetoothAddress(rawValue: 0xC6C7_C8C9_CACB), .random)
        let report = ScriptedFirmware.report(sender, Self.advertisement, rssi: -50)
        let line = try FirmwareLine(at: directory("line"), ScriptedFirmware(), chatter: (report, .milliseconds(50)))
        defer { line.end() }
        let arguments = ["scan", "--once", "--seconds", "1", "--adapter", line.adapter] + words
        let outcome = try RunningProgram(arguments, environment: directory.environment).end()
        #expect(outcome.status == 0, "\(outcome)")
        return outcome.output
    }

    @Test("CB-5: `scan` distinguishes offered from solicited services, as JSON and as text")
    func printed() throws {
        let object = try JSONValue(Array(try scan("--json").utf8))
        #expect(object["services"]?.array?.compactMap(\.string) == ["180F"])
        #expect(object["solicited"]?.array?.compactMap(\.string) == ["1812"])
        #expect(try scan().hasSuffix("\tLT\t180F,1812 (solicited)\n"))
        let listed = try #require(ListedDevice(answer: object))
        for (language, text) in [(Language.english, "180F, 1812 (solicited)"), (.japanese, "180F, 1812 (要求)")] {
            #expect(DeviceText.table([listed], columns: 200, in: language).last?.hasSuffix(text) == true)
        }
    }
}
