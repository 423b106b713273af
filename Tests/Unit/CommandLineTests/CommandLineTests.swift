// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import TestSupport
import Testing
import Texts

/// Result of a run of the program.
struct Outcome {
    var status: Int32
    var output: String
    var error: String
}

extension TestDirectory {
    /// Environment variables that make a program store all its files below this directory and contact no other daemon,
    /// whichever user runs it.
    var environment: [String] {
        ["CONFIGURATION_DIRECTORY=\(path)", "STATE_DIRECTORY=\(path)", "RUNTIME_DIRECTORY=\(path)", "HOME=\(path)"]
    }
}

/// Returns the path of the program that was built together with these tests.
func programPath() throws -> String {
    let folder = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let path = (folder.isEmpty ? ["."] : folder.map(String.init)).joined(separator: "/") + "/blewedge"
    try #require(access(path, X_OK) == 0, "there is no \(path)")
    return path
}

/// The program that was built together with these tests, running without a terminal.
///
/// Its directories are those in the environment variables; otherwise, they are temporary and empty, and never those of
/// the machine. The descriptors in `closed`, 0 to 2, are closed at the start, and those in `turned` are open in the
/// wrong direction; standard output is redirected to `file` unless that is nil. A shell runs `prelude` before the
/// program. With `typed`, all three streams are a terminal on which this text was typed before, and the terminal's
/// output counts as standard output.
final class RunningProgram {
    let child: pid_t
    private var outputs: [Int32]
    private let home: TestDirectory
    /// Variables with which a program built with coverage writes its counters.
    private static let coverage = ["LLVM_PROFILE_FILE", "LD_PRELOAD"].compactMap { (name: String) -> String? in
        getenv(name).map { "\(name)=\(String(cString: $0))" }
    }
    /// Output that was read before the program ended.
    private var early: [UInt8] = []

    init(
        _ arguments: [String],
        environment variables: [String]? = nil,
        closed: Set<Int32> = [],
        turned: Set<Int32> = [],
        file: String? = nil,
        prelude: String? = nil,
        typed: String? = nil
    ) throws {
        home = try TestDirectory()
        let path = try programPath()
        let terminal = try typed.map { try ProgramTerminal(typed: $0) }

        var pipes: [(read: Int32, write: Int32)] = []
        for _ in 0..<2 {
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            // Otherwise, a program started concurrently would keep the pipe open.
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            pipes.append((ends[0], ends[1]))
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, pipes[0].write, 1)
        posix_spawn_file_actions_adddup2(&actions, pipes[1].write, 2)
        for number in closed { posix_spawn_file_actions_addclose(&actions, number) }
        for number in turned {
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", number == 0 ? O_WRONLY : O_RDONLY, 0)
        }
        if let terminal {
            for number in 0...2 { posix_spawn_file_actions_adddup2(&actions, terminal.line, Int32(number)) }
        }
        if let file { posix_spawn_file_actions_addopen(&actions, 1, file, O_WRONLY, 0) }
        defer { posix_spawn_file_actions_destroy(&actions) }

        let shell = prelude.map { ["/bin/sh", "-c", $0 + "; exec \"$0\" \"$@\""] } ?? []
        let words = shell + [path] + arguments
        var argv = words.map { strdup($0) } + [nil]
        defer { for argument in argv { free(argument) } }
        var environment = ((variables ?? home.environment) + Self.coverage).map { strdup($0) } + [nil]
        defer { for variable in environment { free(variable) } }
        // The threads of the test runner block most signals, a shell that starts the runner in the background lets it ignore
        // the keys of a terminal, and programs inherit both.
        var (attributes, signals, keys) = (posix_spawnattr_t(), sigset_t(), sigset_t())
        for signal in [SIGINT, SIGQUIT] { sigaddset(&keys, signal) }
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setsigdefault(&attributes, &keys)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        defer { posix_spawnattr_destroy(&attributes) }
        var child: pid_t = 0
        try #require(posix_spawn(&child, words[0], &actions, &attributes, &argv, &environment) == 0)
        for pipe in pipes { close(pipe.write) }
        self.child = child
        outputs = pipes.map(\.read)
        if let terminal {
            close(outputs[0])
            outputs[0] = terminal.detach()
        }
    }

    /// Waits until the program has printed `text` to standard output; returns false if it closes the output before.
    func prints(_ text: String) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !String(decoding: early, as: UTF8.self).contains(text) {
            let count = read(outputs[0], &buffer, buffer.count)
            guard count > 0 else { return false }
            early += buffer.prefix(count)
        }
        return true
    }

    /// Waits until the program has ended, and returns all its output.
    func end() throws -> Outcome {
        // The output is short enough for the pipes' buffers, so the order of reading does not matter.
        let texts = outputs.map { pipe in
            defer { close(pipe) }
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(pipe, &buffer, buffer.count)
                guard count > 0 else { break }
                bytes += buffer.prefix(count)
            }
            return String(decoding: bytes, as: UTF8.self)
        }
        outputs = []
        var status: Int32 = 0
        try #require(waitpid(child, &status, 0) == child)
        let output = String(decoding: early, as: UTF8.self) + texts[0]
        // A wait status contains the exit code in the second byte, or the signal in the first.
        return Outcome(status: status & 0x7F == 0 ? status >> 8 & 0xFF : -status, output: output, error: texts[1])
    }
}

/// Runs the program, and returns all its output.
func run(
    _ arguments: [String],
    environment variables: [String]? = nil,
    closed: Set<Int32> = [],
    turned: Set<Int32> = [],
    file: String? = nil,
    prelude: String? = nil
) throws -> Outcome {
    try RunningProgram(
        arguments,
        environment: variables,
        closed: closed,
        turned: turned,
        file: file,
        prelude: prelude
    ).end()
}

@Suite("The command line", .timeLimit(.minutes(10)))
struct CommandLineTests {
    @Test(
        "D-10: nonsense is a usage error with exit status 64, one explanation, and nothing on standard output",
        arguments: [
            ["nonsense"], ["scan", "--nonsense"], ["scan", "--adapter", "eth0"], ["scan", "--service", "xyz"],
            ["scan", "--seconds", "-1"], ["scan", "--seconds", "0"], ["scan", "--seconds", "99999999999999999999"],
            ["scan", "--once", "--duplicates"], ["run", "--device"], ["run", "--device", ""],
            ["run", "--device", "X", "--stall", "long"], ["run", "--device", "X", "extra"],
            ["gatt"], ["gatt", ""], ["gatt", "X", "nonsense"], ["gatt", "X", "read"], ["gatt", "X", "read", "12"],
            ["gatt", "X", "read", "0x0"], ["gatt", "X", "read", "2A00", "--hex", "00"], ["gatt", "X", "write", "2A00"],
            ["gatt", "X", "write", "2A00", "--hex", "0"], ["gatt", "X", "write", "2A00", "--hex", "0g"],
            ["gatt", "X", "write", "2A00", "--hex", "00", "--text", "a"],
            ["gatt", "X", "subscribe", "2A00", "--count", "0"],
            ["gatt", "X", "subscribe", "2A00", "--seconds", "0"], ["gatt", "X", "read", "2A00", "--seconds", "1"],
            ["capture"], ["capture", "a", "b"],
            ["hid", "try"], ["hid", "nonsense"], ["hid", "try", "0507", "--nonsense"],
            ["use"], ["use", ""], ["use", "X", "Y"], ["use", "X", "--address-type", "random"],
            ["use", "F0:F1:F2:F3:F4:F5", "--address-type", "static"], ["use", "X", "--security", "high"],
            ["run", "--security", "0"], ["forget", "X"], ["status", "X"],
            ["key"], ["key", "a"], ["key", "1", "f1"], ["key", "ctrl+alt+delete"], ["snippet", ""],
            ["snippet", "a", "b"],
            ["send"], ["send", "--hex", "0"], ["send", "--hex", ""], ["send", "--text", ""],
            ["send", "--hex", "00", "--text", "a"], ["clear", "all"], ["completions"], ["completions", "csh"],
            ["ask"], ["ask", "A"], ["ask", "01", "02"], ["ask", "01", "--reply", "8"], ["ask", "01", "--within", "1s"],
            ["ask", "01", "--reply", "81", "--within", "61s"], ["ask", "01", "--reply", "81", "--times", "0"],
            ["gate", "give"], ["gate", "give", ""], ["gate", "give", ".."], ["gate", "take", "X"],
            ["stop", "--socket"],
            ["simulate", "extra"], ["simulate", "--barcodes", "0"], ["simulate", "--rate", "-1"],
            ["simulate", "--file", "a", "--barcodes", "1"], ["simulate", "--hex", "--json"],
            ["simulate", "--name", ""],
            ["simulate", "--line-end", "tab"],
            ["simulate", "--pairable", "0"], ["simulate", "--pairable", "601"], ["simulate", "--console", "none"],
            ["simulate", "--pairable", "60", "--console", "yes-no"], ["simulate", "--security", "some"],
        ]
    )
    func nonsense(arguments: [String]) throws {
        let outcome = try run(arguments)
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        #expect(!outcome.error.isEmpty)
        #expect(!outcome.error.contains("Fatal error"))
    }

    @Test(
        "D-10: an adapter that cannot be meant is a usage error that says what is wrong with it",
        arguments: [
            ("eth0", "'eth0' is no adapter"), ("user:eth0", "'eth0' is no controller"),
            ("h4:pipe", "'pipe' is no stream"), ("h4:tcp:localhost", "'localhost' lacks its port"),
            ("h4:tcp:example.org:1", "'example.org' is no IPv4 address"), ("h4:unix:", "this one 0"),
            ("h4:/dev/ttyS0@1", "'1' is no speed"), ("memory:linble,printer", "'printer' is no simulated device"),
        ]
    )
    func adapters(text: String, explanation: String) throws {
        for command in [["scan"], ["run", "--device", "X"], ["gatt", "X"]] {
            let outcome = try run(command + ["--adapter", text])
            #expect(outcome.status == 64)
            #expect(outcome.error.contains(explanation), "\(outcome.error)")
        }
    }

    @Test("T31, D-10: a daemon does not begin on a state directory that others may write: 77 and the remedy")
    func openState() throws {
        let home = try TestDirectory()
        try #require(chmod(home.path, 0o777) == 0)
        let outcome = try run(["run", "--adapter", "h4:unix:/nonexistent"], environment: home.environment)
        #expect(outcome.status == 77, "\(outcome)")
        #expect(outcome.error.contains("other users can write to \(home.path)") && outcome.error.contains("chmod go-w"))
    }

    @Test("`run` reads no configuration, and runs no hook, that others may write: 77, the file and the remedy")
    func openConfiguration() throws {
        let home = try TestDirectory()
        try home.write("hook = \"\(home("hook"))\"\n", to: "blewedge.toml")
        try home.write("#!/bin/sh\n", to: "hook")
        try home.write("{}", to: "snippets.json")
        try #require(chmod(home("hook"), 0o755) == 0)
        let command = [
            "run", "--device", "X", "--security", "none", "--adapter", "h4:unix:/nonexistent", "--to",
            "unix:\(home("wire"))",
        ]
        for name in ["blewedge.toml", "hook", "snippets.json"] {
            var status = stat()
            try #require(stat(home(name), &status) == 0 && chmod(home(name), status.st_mode | 0o022) == 0)
            let outcome = try run(command, environment: home.environment)
            #expect(outcome.status == 77, "\(outcome)")
            #expect(outcome.error.contains("other users can write to \(home(name)) (mode"), "\(outcome)")
            #expect(outcome.error.contains("chmod go-w \(home(name))"), "\(outcome)")
            try #require(chmod(home(name), status.st_mode) == 0)
        }
        #expect(try run(command, environment: home.environment).status == 69)
        // Replaces the configuration at the default path.
        try home.write("", to: "other.toml")
        try #require(chmod(home("other.toml"), 0o666) == 0)
        #expect(try run(command + ["--config", home("other.toml")], environment: home.environment).status == 77)
    }

    @Test("`--version` and `doctor` name the mbedTLS that is linked in")
    func cryptography() throws {
        let version = try run(["--version"]).output
        #expect(version.hasPrefix("0.1.0\nmbedTLS "), "\(version)")
        let number = version.split(separator: "\n").last?.split(separator: " ").dropFirst().first?.dropLast()
        let text = try run(["doctor"])
        #expect(text.error.contains("mbedTLS \(number ?? "?") is statically linked"), "\(text)")
        let object = try JSONValue(Array(try run(["doctor", "--json"]).output.utf8))
        #expect(object["mbedTLS"]?.string == number.map(String.init))
    }

    @Test("D-10: a stream that leads to no controller is exit status 69, with cause and remedy")
    func streams() throws {
        for (address, cause) in [
            ("h4:unix:/nonexistent", "cannot open h4:unix:/nonexistent"),
            ("h4:/dev/null", "/dev/null is not a serial port"),
            ("h4:tcp:127.0.0.1:1", "h4:tcp:127.0.0.1:1: cannot connect to the controller"),
        ] {
            for command in [["scan"], ["gatt", "X"]] {
                let outcome = try run(command + ["--adapter", address])
                #expect(outcome.status == 69)
                #expect(outcome.output.isEmpty)
                #expect(outcome.error.contains(cause), "\(outcome.error)")
            }
        }
    }

    @Test("D-10: a wrong configuration is exit status 78, and names what is wrong and where")
    func configuration() throws {
        let home = try TestDirectory()
        try home.write("no table\n", to: "file")
        let file = home("file")
        let table = try run(["run", "--device", "X", "--table", file])
        #expect(table.status == 78)
        #expect(table.error.contains("\(file): line 1, column 1"))
        let missing = try run(["run", "--device", "X", "--table", "/nonexistent"])
        #expect(missing.status == 78)
        #expect(missing.error.contains("linble"))
        let stall = try run(["run", "--device", "X", "--stall", "5s"])
        #expect(stall.status == 78)
        #expect(stall.error.contains("--stall"))
        for command in [file, "no-such-hook", ""] {
            let hook = try run(["run", "--device", "X", "--hook", command], environment: ["PATH=/usr/bin:/bin"])
            #expect(hook.status == 78)
            #expect(hook.error.contains("--hook \(command)"))
        }
    }

    @Test("A capture is printed packet by packet; what is none, is cut, or is not there is exit status 74")
    func capture() throws {
        let home = try TestDirectory()
        let path = home("btsnoop")
        // A header, and a record of a received notification of 0x0003 in the first second of 2000.
        let bytes: [UInt8] =
            Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 7, 0xD1]
            + [0, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0xE0, 0x3A, 0xB4, 0x4A, 0x67, 0x60, 0]
            + [0x40, 0x20, 8, 0, 4, 0, 4, 0, 0x1B, 3, 0, 0x41]
        func write(_ count: Int) throws {
            let file = try #require(fopen(path, "w"))
            fwrite(bytes, 1, count, file)
            fclose(file)
        }
        try write(bytes.count)
        let text = try run(["capture", path])
        #expect(text.status == 0)
        #expect(text.output == "2000-01-01T00:00:00.000000Z hci0 0x0040 < Handle Value Notification 0x0003 41\n")
        let json = try run(["capture", path, "--json"])
        #expect(
            json.output
                == #"{"time":"2000-01-01T00:00:00.000000Z","adapter":"hci0","connection":64,"direction":"received","#
                + #""opcode":27,"packet":"Handle Value Notification","handle":3,"value":"41","pdu":"1B030041"}"# + "\n"
        )
        for count in [0, 15, 17, bytes.count - 1] {
            try write(count)
            let cut = try run(["capture", path])
            #expect(cut.status == 74, "\(count) bytes")
            #expect(cut.output.isEmpty)
        }
        try home.write("no capture, but a text of some length\n", to: "text")
        for path in [home("none"), home("text"), home.path] { #expect(try run(["capture", path]).status == 74) }
    }

    @Test("JSON about beacons has neither the forms of translated texts nor members without a value")
    func beaconMembers() throws {
        let home = try TestDirectory()
        func members(_ words: [String], _ status: Int32) throws -> [String] {
            let outcome = try RunningProgram(["beacons"] + words + ["--json"], environment: home.environment).end()
            #expect(outcome.status == status, "\(outcome)")
            guard case .object(let members) = try JSONValue(Array(outcome.output.utf8)) else { return [] }
            return members.map(\.name)
        }
        #expect(try members(["regions", "--type", "owned"], 0) == ["regions"])
        #expect(try members(["designate", "A17C"], 64) == ["answer", "note", "remedy", "designated"])
        #expect(
            try members(["validate", "4A1C0D9E-5B8F-4E57-9B7E-1C2D3E4F5A6B", "1", "2"], 78) == [
                "ok", "cause", "remedy",
            ]
        )
    }

    @Test("The demo's capture holds its notifications, from the first subscription to the last barcode")
    func demoCapture() throws {
        let home = try TestDirectory()
        let path = home("btsnoop")
        #expect(try run(["demo", "--fast", "--barcodes", "3", "--capture", path]).status == 0)
        let packets = try run(["capture", path]).output.split(separator: "\n")
        #expect(packets.first?.contains("Exchange MTU Request") == true)
        #expect(packets.count { $0.contains("< Handle Value Notification") } == 3)
        #expect(packets.allSatisfy { $0.contains(" memory: 0x") })
        #expect(try run(["capture", path, "--json"]).output.contains(#""adapter":"memory:""#))
    }

    @Test("Help and the version go to standard output, with exit status 0", arguments: ["--help", "--version", "help"])
    func help(argument: String) throws {
        let outcome = try run([argument])
        #expect(outcome.status == 0)
        #expect(!outcome.output.isEmpty)
        #expect(outcome.error.isEmpty)
    }

    @Test("The values of an option are in its help and in the completions")
    func values() throws {
        let help = try run(["use", "--help"]).output
        #expect(help.contains("public, random") && !help.contains("0, 1"), "\(help)")
        for command in ["use", "run"] {
            #expect(try run([command, "--help"]).output.contains("--security <none|encrypted|authenticated>"))
        }
        let script = try run(["completions", "bash"]).output
        #expect(script.contains("public") && script.contains("random"))
    }

    @Test(
        "Every command's help has an example",
        arguments: [
            "scan", "run", "gatt", "simulate", "capture", "status", "use", "forget", "connect", "disconnect", "pause",
            "resume",
            "events", "key", "snippet", "clear", "send", "ask", "reload", "stop", "completions",
        ]
    )
    func examples(command: String) throws {
        #expect(try run([command, "--help"]).output.contains("EXAMPLES:"))
    }
}
