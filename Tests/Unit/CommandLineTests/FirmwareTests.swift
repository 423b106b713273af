// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import FirmwareSupport
import Glibc
import LinuxIO
import TestSupport
import Testing

/// The program with simulated firmwares that behave as observed on real controllers.
@Suite("Controllers at the end of a line", .timeLimit(.minutes(10)))
struct FirmwareTests {
    private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
    private static let name = "SCANNER-1"
    private static let data: [UInt8] = [2, 1, 6, UInt8(name.utf8.count + 1), 9] + Array(name.utf8)
    private static let report = ScriptedFirmware.report(device, data, rssi: -60)

    private static let resetAnswer: [UInt8] = [0x04, 0x0E, 0x04, 1, 0x03, 0x0C, 0]

    /// Creates a line to a firmware that receives the barcode reader ten times per second.
    private func line(
        _ directory: TestDirectory,
        _ change: (inout ScriptedFirmware) -> Void = { _ in }
    ) throws -> FirmwareLine {
        var firmware = ScriptedFirmware()
        change(&firmware)
        return try FirmwareLine(at: directory("line"), firmware, chatter: (Self.report, .milliseconds(100)))
    }

    @Test(
        "A controller that is in the middle of a packet, and has thousands of reports to tell, is taken over",
        arguments: [0, 1, 5, 14, 20]
    )
    func takenOver(_ cut: Int) throws {
        let directory = try TestDirectory()
        let line = try line(directory) { firmware in
            let before = Self.report.dropFirst(cut) + (0..<3000).flatMap { _ in Self.report }
            firmware.greeting = Array(before.dropLast(7))
            firmware.script[.reset] = [.saysFirst(Self.report + Self.report.prefix(9))]
        }
        defer { line.end() }
        let outcome = try run(["scan", "--once", "--seconds", "1", "--adapter", line.adapter])
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.contains(Self.name))
    }

    @Test("A Reset that is answered late, or only when it is sent again, is an answered Reset")
    func lateReset() throws {
        for reaction in [.late(.milliseconds(1900)), .silence] as [ScriptedFirmware.Reaction] {
            let directory = try TestDirectory()
            let line = try line(directory) { $0.script[.reset] = [reaction] }
            defer { line.end() }
            let outcome = try run(["scan", "--once", "--seconds", "1", "--adapter", line.adapter])
            #expect(outcome.status == 0, "\(outcome)")
            #expect(outcome.output.contains(Self.name))
        }
    }

    @Test("LK-15: `simulate --profile` advertises the serial service of that profile, and refuses an unknown one")
    func simulatedProfile() throws {
        let unknown = try run(["simulate", "--profile", "scale"])
        #expect(unknown.status == 64 && unknown.error.contains("scale") && unknown.error.contains("linble, nordic, "))
        let directory = try TestDirectory()
        let line = try line(directory)
        defer { line.end() }
        let program = try RunningProgram(
            ["simulate", "--profile", "nordic", "--adapter", line.adapter],
            environment: directory.environment
        )
        // 6E400001-B5A3-F393-E0A9-E50E24DCCA9E in the byte order of an advertisement.
        let service: [UInt8] = [
            0x9E, 0xCA, 0xDC, 0x24, 0x0E, 0xE5, 0xA9, 0xE0, 0x93, 0xF3, 0xA3, 0xB5, 1, 0, 0x40, 0x6E,
        ]
        #expect(line.waits { firmware, _ in firmware.heard.contains { $0.parameters.contains(service) } })
        kill(program.child, SIGTERM)
        _ = try program.end()
    }

    @Test("An advertisement that looks like the answer to Reset holds up nothing")
    func hostileAnswer() throws {
        let directory = try TestDirectory()
        let line = try line(directory) { firmware in
            let hostile = ScriptedFirmware.report(Self.device, [8, 0xFF] + Self.resetAnswer, rssi: -30)
            firmware.script[.reset] = [.saysFirst(hostile + hostile)]
        }
        defer { line.end() }
        let outcome = try run(["scan", "--once", "--seconds", "1", "--adapter", line.adapter])
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.contains(Self.name))
    }

    @Test("The line is closed when the last Reset is answered, or after a second, and not before")
    func lastReset() throws {
        let directory = try TestDirectory()
        let line = try line(directory) { $0.script[.reset] = [.late(.zero), .late(.milliseconds(300))] }
        defer { line.end() }
        #expect(try run(["scan", "--once", "--seconds", "1", "--adapter", line.adapter]).status == 0)
        #expect(line.waits { _, events in events.contains(.closed) })
        #expect(line.firmware.count(.reset) == 2)
        let answers = line.events.indices.filter { line.events[$0] == .said(Self.resetAnswer) }
        #expect(answers.count == 2, "closed before the answer: \(line.events.suffix(4))")
        #expect(line.events.last == .closed)

        line.change { $0.script[.reset] = [.late(.zero), .silence] }
        let start = ContinuousClock.now
        #expect(try run(["scan", "--once", "--seconds", "1", "--adapter", line.adapter]).status == 0)
        #expect(ContinuousClock.now - start > .seconds(2))
    }

    @Test("`run` lets a controller answer the last Reset before it ends, too")
    func lastResetOfRun() throws {
        let directory = try TestDirectory()
        let line = try line(directory) { $0.script[.reset] = [.late(.zero), .late(.milliseconds(300))] }
        defer { line.end() }
        let program = try RunningProgram(
            [
                "run", "--device", "NOBODY", "--security", "none", "--to", "unix:\(directory("wire"))", "--adapter",
                line.adapter,
            ],
            environment: directory.environment
        )
        #expect(line.waits { firmware, _ in firmware.isScanning })
        kill(program.child, SIGTERM)
        #expect(try program.end().status == 143)
        #expect(line.waits { _, events in events.last == .closed })
        #expect(line.events.count { $0 == .said(Self.resetAnswer) } == 2)
    }

    @Test("T31: no thread of a keyboard can get more privileges than it has, without a service manager too")
    func privileges() throws {
        let directory = try TestDirectory()
        for task in try threads(directory, []) {
            #expect(task["NoNewPrivs"] == "1" && task["Seccomp"] == "2", "\(task)")
        }
    }

    @Test("T31: `run --user`: no thread is root's, and the two capabilities are held back until a call needs them")
    func user() throws {
        // Only root can change to another user.
        try #require(ProcessFacts.user == 0)
        let nobody = try #require(ServiceUser(named: "nobody"))
        let directory = try TestDirectory()
        _ = chmod(directory.path, 0o755)
        let ours = Capability.allCases.reduce(UInt64(0)) { $0 | ($1.isPermitted ? 1 << UInt64($1.number) : 0) }
        for task in try threads(directory, ["--user", "nobody"]) {
            #expect(task["Uid"] == Array(repeating: "\(nobody.number)", count: 4).joined(separator: " "), "\(task)")
            #expect(task["Gid"] == Array(repeating: "\(nobody.group)", count: 4).joined(separator: " "), "\(task)")
            for set in ["CapPrm", "CapBnd", "CapAmb"] { #expect(UInt64(task[set] ?? "", radix: 16) == ours, "\(task)") }
            #expect(UInt64(task["CapEff"] ?? "", radix: 16) == 0, "\(task)")
            #expect(task["NoNewPrivs"] == "1" && task["Seccomp"] == "2", "\(task)")
        }
        // The directories, here a single one, belonged to root before.
        #expect(FileSystem.owner(of: directory.path) == nobody.number)
    }

    @Test("T31, D-10: `run --user` wants a user that there is: 64 and the remedy")
    func userRefused() throws {
        let directory = try TestDirectory()
        let device = [
            "run", "--device", "NOBODY", "--security", "none", "--adapter", "h4:unix:\(directory("none"))", "--user",
        ]
        let unknown = try run(device + ["no-such-user"], environment: directory.environment)
        #expect(unknown.status == 64 && unknown.error.contains("there is no user no-such-user"), "\(unknown)")
        #expect(unknown.error.contains("blewedge setup"))
    }

    /// Returns the contents of /proc for each thread of a running keyboard whose controller scans.
    private func threads(_ directory: TestDirectory, _ options: [String]) throws -> [[String: String]] {
        let line = try line(directory)
        defer { line.end() }
        _ = chmod(directory("line"), 0o666)
        let program = try RunningProgram(
            [
                "run", "--device", "NOBODY", "--security", "none", "--to", "unix:\(directory("wire"))", "--adapter",
                line.adapter,
            ] + options,
            environment: directory.environment
        )
        #expect(line.waits { firmware, _ in firmware.isScanning })
        let tasks = try FileSystem.names(in: "/proc/\(program.child)/task").map { task in
            let path = "/proc/\(program.child)/task/\(task)/status"
            let status = String(decoding: try FileSystem.contents(of: path, limit: 1 << 16), as: UTF8.self)
            let fields = status.split(separator: "\n").map { $0.split(separator: ":", maxSplits: 1) }
            return Dictionary(
                fields.map { field in
                    let words = field.count == 2 ? field[1].split { $0 == "\t" || $0 == " " } : []
                    return (String(field[0]), words.joined(separator: " "))
                }
            ) { first, _ in first }
        }
        #expect(tasks.count >= 2)
        kill(program.child, SIGTERM)
        #expect(try program.end().status == 143)
        return tasks
    }

    @Test("Killed while the controller reports, it starts again, every time")
    func killed() throws {
        let directory = try TestDirectory()
        // A socket buffers data that the program has not read; on a serial line, the firmware continues to send
        // reports.
        let line = try line(directory) { $0.greeting = Array(Self.report.dropFirst(3)) + Self.report }
        defer { line.end() }
        for turn in 1...5 {
            let program = try RunningProgram(["scan", "--adapter", line.adapter])
            #expect(line.waits { firmware, _ in firmware.isScanning }, "\(turn)")
            kill(program.child, SIGKILL)
            #expect(try program.end().status == -SIGKILL)
            #expect(line.waits { _, events in events.last == .closed })
            line.change { _ = $0.receive([0x01, 0x0C, 0x20, 2, 0, 0]) }
        }
    }

    @Test(
        "`gatt` tries again within its time where a connection could not be established, however the controller says so",
        arguments: [
            ScriptedFirmware.Reaction.failsToConnect(.connectionFailedToBeEstablished),
            .losesConnection(.connectionFailedToBeEstablished),
        ]
    )
    func notEstablished(_ reaction: ScriptedFirmware.Reaction) throws {
        let directory = try TestDirectory()
        let line = try line(directory) { $0.script[.leCreateConnection] = [reaction, reaction, reaction] }
        defer { line.end() }
        let outcome = try run(["gatt", Self.name, "--adapter", line.adapter])
        #expect(outcome.status == 0, "\(outcome)")
        #expect(line.firmware.count(.leCreateConnection) == 4)
        #expect(line.firmware.requests.count > 1)
    }

    @Test("`gatt` connects again without asking for the MTU where the device hangs up at that, once")
    func noExchange() throws {
        let directory = try TestDirectory()
        let line = try line(directory) { $0.hangsUpAtMTU = true }
        defer { line.end() }
        let outcome = try run(["gatt", Self.name, "--adapter", line.adapter])
        #expect(outcome.status == 0, "\(outcome)")
        #expect(line.firmware.count(.leCreateConnection) == 2)
        #expect(line.firmware.requests.map(\.first) == [0x02, 0x10])
    }

    @Test("A refused connection names the command and what the controller said")
    func refusedConnection() throws {
        let directory = try TestDirectory()
        let line = try line(directory) { firmware in
            firmware.commands = SupportedCommands(ScriptedFirmware.extended)
            firmware.always[.leExtendedCreateConnection] = .refuses(.invalidHCICommandParameters)
        }
        defer { line.end() }
        let outcome = try run(["gatt", Self.name, "--adapter", line.adapter])
        #expect(outcome.status == 74, "\(outcome)")
        #expect(outcome.error.contains("the controller refused LE Extended Create Connection"), "\(outcome)")
        #expect(outcome.error.contains("Parameters"), "\(outcome)")
    }

    @Test("A controller that lists commands it does not know is scanned by the others, or named")
    func unknownCommand() throws {
        let directory = try TestDirectory()
        let line = try line(directory) { firmware in
            firmware.commands = SupportedCommands(ScriptedFirmware.extended)
            firmware.always[.leSetExtendedScanEnable] = .refuses(.unknownHCICommand)
            firmware.always[.leSetExtendedScanParameters] = .refuses(.unknownHCICommand)
        }
        defer { line.end() }
        let arguments = ["scan", "--once", "--seconds", "1", "--adapter", line.adapter]
        let outcome = try run(arguments)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.contains(Self.name))
        line.change { $0.always[.leSetScanEnable] = .refuses(.unknownHCICommand) }
        let failure = try run(arguments)
        #expect(failure.status == 69, "\(failure)")
        #expect(failure.error.contains("the controller does not support LE Set Scan Enable"), "\(failure)")
        #expect(!failure.error.contains("another program"), "\(failure)")
    }

    @Test("LE is switched on in a dual-mode controller before anything else is asked of it")
    func dualMode() throws {
        let directory = try TestDirectory()
        let line = try line(directory) { firmware in
            firmware.commands = SupportedCommands(ScriptedFirmware.legacy.union([.writeLEHostSupport]))
            firmware.features = 0x40 << 32
        }
        defer { line.end() }
        #expect(try run(["scan", "--once", "--seconds", "1", "--adapter", line.adapter]).status == 0)
        #expect(line.firmware.heard.contains { $0.opcode == .writeLEHostSupport && $0.parameters == [1, 0] })
    }

    @Test("X-7: a silent controller is considered lost, and its line is reopened with a Reset")
    func silent() throws {
        let directory = try TestDirectory()
        let line = try line(directory)
        defer { line.end() }
        let program = try RunningProgram(
            [
                "run", "--device", "NOBODY", "--security", "none", "--to", "unix:\(directory("wire"))", "--adapter",
                line.adapter,
            ],
            environment: directory.environment
        )
        #expect(line.waits { firmware, _ in firmware.isScanning })
        line.change { $0.isDead = true }
        #expect(line.waits { _, events in events.last == .closed })
        line.change { firmware in
            firmware.isDead = false
            // The rest of the report that the firmware was sending before it stopped.
            firmware.greeting = Array(Self.report.dropFirst(4))
        }
        #expect(line.waits { firmware, _ in firmware.count(.reset) == 2 && firmware.isScanning })
        kill(program.child, SIGTERM)
        let outcome = try program.end()
        #expect(outcome.status == 143, "\(outcome)")
        #expect(outcome.error.contains("the controller has fallen silent"), "\(outcome)")
    }

    @Test(
        "D-12: a second process on a line that is taken says so, and has not opened it: no Reset ends the first one's session",
        arguments: [
            ["run", "--device", "OTHER", "--security", "none", "--to", "stdout"], ["scan", "--passive", "--once"],
            ["scan", "--duplicates", "--seconds", "1"], ["gatt", name],
        ]
    )
    func taken(_ second: [String]) throws {
        let directory = try TestDirectory()
        let line = try line(directory)
        defer { line.end() }
        let first = try RunningProgram(
            [
                "run", "--device", "NOBODY", "--security", "none", "--to", "unix:\(directory("wire"))", "--adapter",
                line.adapter,
            ],
            environment: directory.environment
        )
        #expect(line.waits { firmware, _ in firmware.isScanning })
        let outcome = try run(second + ["--adapter", line.adapter], environment: directory.environment)
        #expect(outcome.status == 69, "\(outcome)")
        #expect(outcome.error.contains("(process \(first.child)) is using \(line.adapter)"), "\(outcome)")
        #expect(line.firmware.isScanning)
        kill(first.child, SIGTERM)
        #expect(try first.end().status == 143)
        // If another program had opened the line, it would be connected now.
        let third = try run(["scan", "--once", "--seconds", "1", "--adapter", line.adapter])
        #expect(third.status == 0, "\(third)")
        #expect(line.waits { _, events in events.last == .closed })
        #expect(line.events.count { $0 == .opened } == 2)
    }

    @Test("`run --device` without its adapter ends, and does not say that it waits")
    func noAdapter() throws {
        let directory = try TestDirectory()
        let arguments = ["run", "--device", "X", "--security", "none", "--to", "unix:\(directory("wire"))"]
        let adapter = ["--adapter", "h4:unix:\(directory("nobody"))"]
        for more in [[], ["--json"]] {
            let outcome = try run(arguments + adapter + more, environment: directory.environment)
            #expect(outcome.status == 69, "\(outcome)")
            #expect(outcome.error.contains("cannot open"), "\(outcome)")
            for words in ["waiting for", "bluetoothOff"] {
                #expect(!(outcome.output + outcome.error).contains(words), "\(outcome)")
            }
        }
    }
}
