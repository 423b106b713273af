// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import FirmwareSupport
import Glibc
import LinuxIO
import RadioMeasuring
import Synchronization
import TestSupport
import Testing
import Texts

/// Hostile beacons on a serial line at full speed, and the program that receives them.
@Suite("A flood of beacons at the end of a line", .serialized, .timeLimit(.minutes(10)))
struct BeaconFloodLineTests {
    private static let copied = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    private static let real = "0A1B2C3D-DFFB-48D2-B060-D0F5A71096E0"
    private static let sender = DeviceAddress(BluetoothAddress(rawValue: 0xC6C7_C8C9_CACB), .random)
    /// iBeacon of the real region, 1/2, with −59 dBm at one metre.
    private static let advertisement: [UInt8] =
        [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15]
        + [0x0A, 0x1B, 0x2C, 0x3D, 0xDF, 0xFB, 0x48, 0xD2, 0xB0, 0x60, 0xD0, 0xF5, 0xA7, 0x10, 0x96, 0xE0]
        + [0x00, 0x01, 0x00, 0x02, 0xC5]

    private final class Air: Sendable {
        private let beacons = Mutex(HostileBeacons(seed: 7, copying: [copied]))

        func block() -> (bytes: [UInt8], count: Int) { (beacons.withLock { $0.block(300).bytes }, 300) }
    }

    private static func stage() throws -> (directory: TestDirectory, line: FirmwareLine) {
        let directory = try TestDirectory()
        let regions = ["\(copied) Copied", "\(copied)/1", "\(copied)/1/2", "\(real) Real"]
        try directory.write(regions.map { "static \($0)\n" }.joined(), to: "regions")
        try directory.write(
            "[beacons]\nregions = \"\(directory("regions"))\"\nexit-after = \"1s\"\n",
            to: "blewedge.toml"
        )
        let air = Air()
        let report = ScriptedFirmware.report(sender, advertisement, rssi: 127)
        let line = try FirmwareLine(
            at: directory("line"),
            ScriptedFirmware(),
            chatter: (report, .milliseconds(50)),
            crowd: FirmwareLine.Crowd { air.block() }
        )
        return (directory, line)
    }

    @Test("In a flood of hostile beacons a real one's region is entered and left, and the program does not grow")
    func watching() throws {
        let (directory, line) = try Self.stage()
        defer { line.end() }
        let program = try RunningProgram(
            ["beacons", "watch", "all", "--json", "--adapter", line.adapter],
            environment: directory.environment
        )
        let hasEntered = program.prints("\"change\":\"entered\",\"region\":\"\(Self.real)\"")
        #expect(hasEntered)
        // After forty thousand reports, every table with a limit is full.
        #expect(line.waits(forReports: 40_000))
        let memory = try Self.residentKiB(program.child)
        let before = line.crowdReports
        #expect(line.waits(forReports: before.reports + 100_000))
        let growth = try Self.residentKiB(program.child) - memory
        let rate = line.crowdRate(since: before)
        line.endChatter()
        let hasLeft = program.prints("\"change\":\"left\",\"region\":\"\(Self.real)\"")
        #expect(hasLeft)
        kill(program.child, hasEntered && hasLeft ? SIGTERM : SIGKILL)
        let outcome = try program.end()
        #expect(outcome.status == 143, "\(outcome)")
        #expect(growth < 2_048)
        print(
            "SW-4: \(line.crowdReports.reports) hostile reports at \(Int(rate)) a second; grown by \(growth) KiB from \(memory)"
        )
    }

    @Test("The list of a ranged region keeps its limit in a flood, and what it lost is counted")
    func ranging() throws {
        let (directory, line) = try Self.stage()
        defer { line.end() }
        let program = try RunningProgram(
            ["beacons", "range", "static", "--seconds", "3", "--json", "--adapter", line.adapter],
            environment: directory.environment
        )
        let outcome = try program.end()
        #expect(outcome.status == 0, "\(outcome.error)")
        let answer = try JSONValue(Array(try #require(outcome.output.split(separator: "\n").first).utf8))
        let lists = try #require(answer["ranged"]?.array)
        #expect(lists.count == 4)
        #expect(lists.allSatisfy { ($0["beacons"]?.array?.count ?? 1_000) <= 256 })
        #expect(lists.last?["beacons"]?.array?.count == 1)
        let counts = try #require(answer["counts"])
        for name in ["reports", "heard", "badEvents", "displaced"] {
            #expect((counts[name]?.integer ?? 0) > 100, "\(name)")
        }
    }

    /// Returns the resident memory of a process.
    private static func residentKiB(_ process: pid_t) throws -> Int {
        let text = String(
            decoding: try FileSystem.contents(of: "/proc/\(process)/status", limit: 1 << 16),
            as: UTF8.self
        )
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(Int(line.filter(\.isNumber)))
    }
}
