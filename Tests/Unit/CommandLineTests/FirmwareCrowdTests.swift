// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import FirmwareSupport
import Glibc
import TestSupport
import Testing

/// The program with a firmware that receives more devices than can be stored, at the maximum rate of its line.
@Suite("A crowd at the end of a line", .serialized, .timeLimit(.minutes(10)))
struct FirmwareCrowdTests {
    private static let address = "F0:F1:F2:F3:F4:F5"
    private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
    private static let name: [UInt8] = [10, 9] + Array("SCANNER-1".utf8)
    private static let carried: [UInt8] = [9, 0xFF, 0x4C, 0x00, 0xC0, 0xFF, 0xEE, 0x01, 0x02, 0x03]

    /// Selection of the device, its advertised data, and the files in the program's directory.
    private struct Choice: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var arguments: [String]
        var data: [UInt8]
        var selection: String?
        var configuration: String?
    }

    private static let choices = [
        Choice(testDescription: "address", arguments: ["--security", "none", "--device", address], data: name),
        Choice(testDescription: "name", arguments: ["--security", "none", "--device", "scanner-1"], data: name),
        Choice(
            testDescription: "address carried",
            arguments: ["--security", "none", "--device", "C0:FF:EE:01:02:03"],
            data: carried,
            configuration: "[advertised-address]\noffset = 2\n"
        ),
        Choice(
            testDescription: "kept by the daemon",
            arguments: [],
            data: name,
            selection: "address = \(address)\ntype = random\n"
        ),
    ]

    @Test(
        "In a crowd at −30 dBm the chosen device at −60 dBm is connected to; in the long run within 3 s of its first report",
        arguments: choices
    )
    private func crowd(_ choice: Choice) throws {
        let seconds = RunCount.from("BLEWEDGE_LINE_CROWD_SECONDS", usual: 1)
        for crowd in [
            FirmwareLine.Crowd(addresses: 300, alone: .seconds(1), stays: false),
            FirmwareLine.Crowd(addresses: nil, alone: .seconds(seconds), stays: true),
        ] {
            let directory = try TestDirectory()
            if let text = choice.selection { try directory.write(text, to: "selection") }
            if let text = choice.configuration { try directory.write(text, to: "blewedge.toml") }
            let report = ScriptedFirmware.report(Self.device, choice.data, rssi: -60)
            let line = try FirmwareLine(
                at: directory("line"),
                ScriptedFirmware(),
                chatter: (report, .milliseconds(200)),
                crowd: crowd
            )
            defer { line.end() }
            let program = try RunningProgram(
                ["run", "--to", "unix:\(directory("wire"))", "--adapter", line.adapter] + choice.arguments,
                environment: directory.environment
            )
            let isConnected = line.waits(within: .seconds(120 + seconds)) { firmware, _ in firmware.isConnected }
            #expect(isConnected)
            // A request of the program shows that it is connected.
            #expect(line.waits { firmware, _ in !firmware.requests.isEmpty })
            kill(program.child, isConnected ? SIGTERM : SIGKILL)
            let outcome = try program.end()
            #expect(outcome.status == 143, "\(outcome)")
            let time = line.timeToConnection ?? .seconds(1000)
            // While hundreds of other tests run, the measured time is meaningless.
            if seconds > 1 { #expect(time < .seconds(3), "\(outcome)") }
            let count = line.crowdReports.reports
            #expect(count > 1000)
            print(
                "BT-2: chosen by \(choice.testDescription), \(crowd.addresses.map { "\($0)" } ?? "new") addresses:",
                "\(count) reports at \(Int(line.crowdRate())) a second, then connected after \(time)"
            )
        }
    }
}
