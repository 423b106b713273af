// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import TestSupport
import Testing
import Texts

/// Commands with `--adapter memory:`, which need no adapter and no privileges.
@Suite("Commands in the rehearsal", .timeLimit(.minutes(10)))
struct RehearsalCommandTests {
    @Test("X-17: scan lists only the simulated devices that were named")
    func scan() throws {
        let outcome = try run(["scan", "--adapter", "memory:scale,hid", "--seconds", "2", "--json"])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains(#""name":"SCALE-15K""#))
        #expect(outcome.output.contains(#""name":"HID Scanner""#))
        #expect(!outcome.output.contains("LINBLE"))
    }

    @Test("Commands use the adapter of the configuration, unless another one is specified")
    func configuredAdapter() throws {
        let directory = try TestDirectory()
        try directory.write("adapter = \"memory:scale\"\n", to: "blewedge.toml")
        func names(_ options: [String]) throws -> [String] {
            let words = ["scan", "--once", "--seconds", "1", "--json"] + options
            let outcome = try RunningProgram(words, environment: directory.environment).end()
            return ["SCALE-15K", "Nordic Reader"].filter { outcome.output.contains($0) }
        }
        #expect(try names([]) == ["SCALE-15K"])
        #expect(try names(["--adapter", "memory:nordic"]) == ["Nordic Reader"])
    }

    @Test("X-17: gatt shows the services of a simulated device")
    func gatt() throws {
        let outcome = try run(["gatt", "--adapter", "memory:", "LINBLE-Z1"])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("27ADC9CB-35EB-465A-9154-B8FF9076F3E8"))
    }

    @Test("CB-14: devices lists formerly selected or connected devices with name and date, until they are removed")
    func knownDevices() throws {
        let directory = try TestDirectory()
        func devices(_ options: String...) throws -> (status: Int32, lines: [String]) {
            let outcome = try RunningProgram(["devices"] + options, environment: directory.environment).end()
            return (outcome.status, outcome.output.split(separator: "\n").map(String.init))
        }
        #expect(try devices("--json") == (0, []))
        let gatt = try RunningProgram(
            ["gatt", "--adapter", "memory:", "LINBLE-Z1"],
            environment: directory.environment
        )
        #expect(try gatt.end().status == 0)
        let program = try RunningProgram(
            ["run", "--adapter", "memory:", "--device", "SCALE-15K", "--security", "none", "--to", "stdout"],
            environment: directory.environment
        )
        #expect(program.prints("ST,GS,1.250kg"))
        kill(program.child, SIGINT)
        #expect(try program.end().status == 130)
        #expect(try devices("--json").lines.contains { $0.contains(#""name":"SCALE-15K","chosen":false"#) })
        let use = ["use", "--adapter", "memory:", "SCALE-15K", "--security", "none"]
        #expect(try RunningProgram(use, environment: directory.environment).end().status == 0)
        let known = try devices("--json").lines
        #expect(known.count == 2)
        let day = #","connected":false,"lastConnected":"\#(WallClock.universal(WallClock.seconds).prefix(10))"}"#
        #expect(known.allSatisfy { $0.hasSuffix(day) }, "\(known)")
        #expect(known.first?.contains(#""name":"SCALE-15K","chosen":true,"paired":false"#) == true)
        #expect(known.last?.contains(#""name":"LINBLE-Z1","chosen":false,"paired":false"#) == true)
        #expect(try devices().lines.count == 3)
        let address = try #require(known.last?.split(separator: "\"").dropFirst(3).first.map(String.init))
        #expect(try devices("--remove", address).status == 0)
        #expect(try devices("--json").lines == Array(known.prefix(1)))
        #expect(try devices("--remove", address).status == 64)
    }

    @Test("X-17: run types on standard output what a simulated device sends, and Ctrl-C ends it")
    func typing() throws {
        let program = try RunningProgram([
            "run", "--adapter", "memory:", "--device", "SCALE-15K", "--security", "none", "--to", "stdout",
        ])
        #expect(program.prints("ST,GS,1.250kg"))
        kill(program.child, SIGINT)
        #expect(try program.end().status == 130)
    }

    @Test("X-17: the manual's examples with simulated devices run as printed")
    func manual() throws {
        let page = try run(["manual"]).output.replacing("\\-", with: "-")
        let examples = page.split(separator: "\n").filter { $0.hasPrefix("  blewedge ") && $0.contains(" memory:") }
            .map { line in line.split(separator: " ").drop { $0 != "blewedge" }.dropFirst().map(String.init) }
        #expect(Set(examples.compactMap(\.first)) == ["scan", "gatt", "run"])
        for words in examples {
            guard words.first == "run" else {
                let outcome = try run(words)
                let shown = words.first == "scan" ? "SCALE-15K" : "49535343-1E4D-4BD9-BA61-23C647249616"
                #expect(outcome.status == 0 && outcome.output.contains(shown))
                continue
            }
            let program = try RunningProgram(words)
            #expect(program.prints("ST,GS,1.250kg"))
            kill(program.child, SIGINT)
            #expect(try program.end().status == 130)
        }
    }

    /// Runs with two outputs and a hook until the hook has read a weight from its standard input.
    private func weigh(_ arguments: [String], file: String? = nil) throws -> (read: String, outcome: Outcome) {
        let directory = try TestDirectory()
        let script = "[ $BLEWEDGE_EVENT != received ] || cat >'\(directory("read"))'"
        try directory.writeProgram("#!/bin/sh\n\(script)\n", to: "hook")
        try #require(mkfifo(directory("read"), 0o600) == 0)
        let words = ["run", "--adapter", "memory:", "--device", "SCALE-15K", "--security", "none", "--to"]
        let ends = ["unix:\(directory("wire"))", "--hook", directory("hook")]
        let program = try RunningProgram(
            words + arguments.map { $0.replacing("DIR", with: directory.path) } + ends,
            file: file
        )
        var buffer = [UInt8](repeating: 0, count: 64)
        let descriptor = open(directory("read"), O_RDONLY)
        let count = read(descriptor, &buffer, buffer.count)
        close(descriptor)
        kill(program.child, SIGINT)
        return (String(decoding: buffer.prefix(max(0, count)), as: UTF8.self), try program.end())
    }

    @Test("X-18: run writes to several outputs and the hook at once, and its own messages contain no received data")
    func outputs() throws {
        let (read, outcome) = try weigh(["pty:DIR/line", "--events", "--to"])
        #expect(read == "ST,GS,1.250kg\n")
        #expect(outcome.status == 130)
        #expect(!(outcome.output + outcome.error).contains("1.250"), "\(outcome)")
        let line = try #require(outcome.output.split(separator: "\n").last)
        guard case .array(let outputs)? = try JSONValue(Array(line.utf8))["outputs"] else {
            Issue.record("\(line)")
            return
        }
        #expect(outputs.map { $0["to"]?.string?.prefix(4) } == ["pty:", "unix", "hook"])
        #expect(outputs.map { $0["counts"]?["received"]?.integer } == [15, 15, 15])
        #expect(outputs.map { $0["counts"]?["undelivered"]?.integer } == [15, 15, 0])
        #expect(outputs.map { $0["counts"]?["typed"]?.integer } == [0, 0, 15])
    }

    @Test("X-18: a failure of standard output is reported, and does not end a run that has another output")
    func fullOutput() throws {
        let (read, outcome) = try weigh(["stdout", "--to"], file: "/dev/full")
        #expect(read == "ST,GS,1.250kg\n")
        #expect(outcome.status == 130 && outcome.error.contains("standard output"), "\(outcome)")
    }
}
