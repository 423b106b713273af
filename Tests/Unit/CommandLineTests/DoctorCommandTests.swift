// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Configuration
import Daemon
import Devices
import FirmwareSupport
import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts

/// `blewedge doctor` while a daemon or other commands are running, with a controller on a serial line.
@Suite("The doctor beside other programs", .timeLimit(.minutes(10)))
struct DoctorCommandTests {
    /// Creates a directory with a selected device.
    private func home() throws -> TestDirectory {
        let home = try TestDirectory()
        try home.write("address = F0:F1:F2:F3:F4:F5\ntype = random\nname = \"SCANNER-1\"\n", to: "selection")
        return home
    }

    /// Returns the findings except notes, each with its command.
    private func findings(_ home: TestDirectory) throws -> [String: String?] {
        let outcome = try run(["doctor", "--json"], environment: home.environment)
        let value = try JSONValue(Array(outcome.output.utf8))
        guard case .array(let findings)? = value["findings"] else {
            Issue.record("\(outcome)")
            return [:]
        }
        let serious = findings.filter { $0["severity"]?.string != "note" }
        return Dictionary(uniqueKeysWithValues: serious.map { ($0["id"]?.string ?? "", $0["command"]?.string) })
    }

    /// Runs a daemon with these options, and calls `body` once the daemon searches for its device.
    private func daemon(
        _ options: [String],
        _ home: TestDirectory,
        _ body: (RunningProgram) throws -> Void
    ) throws {
        let program = try RunningProgram(["run", "--json"] + options, environment: home.environment)
        let isReady = program.prints(#""state":"connecting""#)
        #expect(isReady)
        if isReady { try body(program) }
        kill(program.child, SIGTERM)
        #expect(try program.end().status == 143)
    }

    @Test("X-6: nothing is found for a daemon with an H4 controller and a socket as its output")
    func otherEnds() throws {
        let home = try home()
        let line = try FirmwareLine(at: home("line"), ScriptedFirmware())
        defer { line.end() }
        // With options that are not in the configuration, and then with the configuration.
        let options = ["--adapter", line.adapter, "--to", "unix:\(home("wire"))"]
        try daemon(options, home) { _ throws in #expect(try findings(home).isEmpty) }
        try home.write("adapter = \"\(line.adapter)\"\nto = \"unix:\(home("wire"))\"\n", to: "blewedge.toml")
        try daemon([], home) { _ throws in #expect(try findings(home).isEmpty) }
        #expect(try findings(home).keys.sorted() == ["daemon-not-running"])
    }

    @Test("X-6: a command that uses the adapter is not reported as a hung daemon; a daemon without its socket is")
    func locks() throws {
        let home = try home()
        let line = try FirmwareLine(at: home("line"), ScriptedFirmware())
        defer { line.end() }
        try home.write("adapter = \"\(line.adapter)\"\nto = \"unix:\(home("wire"))\"\n", to: "blewedge.toml")
        let command = try RunningProgram(
            ["simulate", "--adapter", line.adapter, "--barcodes", "1"],
            environment: home.environment
        )
        #expect(line.waits { firmware, _ in firmware.count(.reset) > 0 })
        #expect(FileSystem.names(in: home.path).contains { $0.hasSuffix(".lock") })
        #expect(try findings(home).keys.sorted() == ["daemon-not-running"])
        kill(command.child, SIGTERM)
        _ = try command.end()
        try daemon([], home) { program in
            for name in ["control", "control.owner"] { try #require(unlink(home(name)) == 0) }
            #expect(try findings(home) == ["daemon-silent": "kill -KILL \(program.child)"])
        }
    }

    @Test("An unknown layout is a fault of the command, not passed over")
    func layout() throws {
        let home = try TestDirectory()
        let outcome = try run(["doctor", "--layout", "klingon"], environment: home.environment)
        #expect(outcome.status == 78 && outcome.error.contains("layout klingon"), "\(outcome)")
        #expect(outcome.output.isEmpty)
    }

    @Test("D-12: a second daemon of a user is told which process has its sockets")
    func second() throws {
        let home = try home()
        let line = try FirmwareLine(at: home("line"), ScriptedFirmware())
        defer { line.end() }
        try daemon(["--adapter", line.adapter, "--to", "unix:\(home("wire"))"], home) { first in
            let cases: [(wire: String, status: Int32, words: String)] = [
                ("wire", 78, "\(home("wire")): process \(first.child) is already using it"),
                ("other", 69, "a daemon is already running: process \(first.child) is listening at \(home("control"))"),
            ]
            for (wire, status, words) in cases {
                let options = ["run", "--adapter", "h4:unix:\(home("none"))", "--to", "unix:\(home(wire))"]
                let outcome = try run(options, environment: home.environment)
                #expect(outcome.status == status && outcome.error.contains(words), "\(outcome)")
                #expect(!outcome.error.contains("Address already in use"))
            }
        }
    }

    @Test("LK-11: printing the guide to a pipe does not count as showing it")
    func guideInPipe() throws {
        let home = try TestDirectory()
        #expect(try run(["guide"], environment: home.environment).status == 0)
        #expect(!FileSystem.exists(home("guide-shown")))
    }

    @Test("D-4: `use ADDRESS` keeps the name that the device has in its scan response")
    func nameInScanResponse() throws {
        let home = try TestDirectory()
        let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
        let name = "SCANNER-1"
        var response = ScriptedFirmware.report(device, [UInt8(name.utf8.count + 1), 9] + Array(name.utf8), rssi: -60)
        response[5] = 0x04  // SCAN_RSP
        let reports = ScriptedFirmware.report(device, [2, 1, 6], rssi: -60) + response
        let line = try FirmwareLine(at: home("line"), ScriptedFirmware(), chatter: (reports, .milliseconds(100)))
        defer { line.end() }
        let words = ["use", "\(device.address)", "--security", "none", "--adapter", line.adapter]
        let outcome = try run(words, environment: home.environment)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try ChoiceStore(FilePath(home("selection"))).read()?.name == name)
        // Type 1 is active scanning, without which no device sends its scan response.
        let scans = line.firmware.heard.filter { $0.opcode == .leSetScanParameters }
        #expect(!scans.isEmpty && scans.allSatisfy { $0.parameters.first == 1 })
    }
}
