// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Control
import Daemon
import Devices
import Glibc
import LinuxIO
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Texts

extension TestDirectory {
    fileprivate func text(_ name: String) -> String? {
        (try? FileSystem.contents(of: self(name), limit: 4096)).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Thread as an object, so that an array can contain it.
private final class ThreadBox {
    private var thread: SystemThread?

    init(_ body: @escaping @Sendable () -> Void) throws { thread = try SystemThread(name: "member", body: body) }

    func join() { thread.take()?.join() }
}

@Suite("Commands and the daemon", .timeLimit(.minutes(10)))
struct DaemonCommandTests {
    static let commands = [
        ["status"], ["status", "--watch"], ["events"], ["connect"], ["disconnect"], ["pause"], ["resume"],
        ["key", "1"],
        ["snippet", "link"], ["clear"], ["send", "--text", "R"], ["ask", "01"], ["reload"], ["stop"],
    ]

    @Test("Two members of the group who reconnect without end keep no command of the owner from its answer")
    func reconnecting() throws {
        try #require(geteuid() == 0, "only root can be another user")
        let directory = try TestDirectory()
        try #require(chmod(directory.path, 0o755) == 0)
        let path = directory("control")
        let isOver = Atomic<Bool>(false)
        let asked = try FakeDaemon.run(at: path) { _ in
            try #require(chmod(path, 0o666) == 0)
            let members = try (0..<2).map { _ in
                try ThreadBox {
                    // Uses the system call, which changes only the user of this thread; the C library's setresuid
                    // changes all threads.
                    typealias Call = @convention(c) (Int, Int, Int, Int) -> Int
                    let call = dlsym(nil, "syscall").map { unsafeBitCast($0, to: Call.self) }
                    #if arch(x86_64)
                        let setresuid = 117
                    #else
                        let setresuid = 147
                    #endif
                    #expect(call?(setresuid, -1, 65_534, -1) == 0)
                    while !isOver.load(ordering: .relaxed) { _ = try? LocalStream(connectingTo: path) }
                }
            }
            for _ in 0..<25 {
                let outcome = try run(["pause", "--socket", path])
                #expect(outcome.status == 0, "\(outcome)")
            }
            isOver.store(true, ordering: .relaxed)
            for member in members { member.join() }
        }
        #expect(asked.count { $0 == "pause" } == 25)
    }

    @Test("D-8, D-10: without a daemon: exit status 69, said with what to do", arguments: commands)
    func noDaemon(command: [String]) throws {
        let home = try TestDirectory()
        for socket in [home("none"), home("left")] {
            if socket == home("left") {
                // A killed daemon leaves a socket on which nobody listens.
                let listener = try LocalListener(at: home("listener"), mode: 0o600)
                try #require(rename(home("listener"), socket) == 0)
                _ = consume listener
            }
            let outcome = try run(command + ["--socket", socket], environment: home.environment)
            #expect(outcome.status == 69)
            #expect(outcome.output.isEmpty)
            #expect(outcome.error.contains("no daemon is running"))
            #expect(outcome.error.contains("blewedge run") && outcome.error.contains("systemctl start blewedge"))
        }
    }

    @Test("D-8, D-9: every command is one request; the daemon is found in the runtime directory")
    func requests() throws {
        let home = try TestDirectory()
        let requests = try FakeDaemon.run(at: home("control")) { _ in
            for command in Self.commands.dropLast() where command != ["status", "--watch"] && command != ["events"] {
                let outcome = try run(command, environment: home.environment)
                #expect(outcome.status == (command.first == "send" ? 69 : 0), "\(command): \(outcome.error)")
                #expect((command == ["status"]) == !outcome.output.isEmpty, "\(command)")
            }
            let keys = try run(["key", "1", "<", "minus", "SPACE", "enter", "--json"], environment: home.environment)
            #expect(keys.output == #"{"ok":true,"version":1}"# + "\n")
            let send = try run(["send", "--hex", "02 0d", "--socket", home("control")])
            #expect(send.status == 69)
            #expect(send.error.contains("nothing is connected") && send.error.contains("`blewedge connect`"))
        }
        #expect(
            requests == [
                "status", "connect", "disconnect", "pause", "resume", "key 1", "snippet link", "clear", "send hex 52",
                "ask 01",
                "reload", "key 1 < - space enter", "send hex 020D", "stop",
            ]
        )
    }

    @Test("Ask waits for the reply that the daemon tells, and prints it; a template that is wrong asks nothing")
    func ask() throws {
        let home = try TestDirectory()
        let requests = try FakeDaemon.run(at: home("control")) { _ in
            let words = ["ask", "A5 01 {crc8-maxim}", "--reply", "A5 ??", "--within", "500ms", "--times", "3"]
            #expect(try run(words, environment: home.environment).output == "A5FF\n")
            let json = try run(words + ["--json"], environment: home.environment).output
            #expect(json == #"{"ok":true,"version":1,"reply":"A5FF"}"# + "\n")
            let wrong = try run(["ask", "A5", "--reply", "A5 {crc}"], environment: home.environment)
            #expect(wrong.status == 64 && wrong.error.contains("no checksum is called"), "\(wrong.error)")
        }
        let line = #"ask "A5 01 {crc8-maxim}" reply "A5 ??" within 500ms times 3"#
        #expect(requests == [line, line, "stop"])
    }

    private static let reason = KeyboardFaultText.keysOff.message().english

    @Test("Status has the state in its first line for people, and the daemon's answer for programs")
    func status() throws {
        let home = try TestDirectory()
        _ = try FakeDaemon.run(at: home("control")) { script in
            script.status.withLock { $0 = [("name", "LINBLE-TEST"), ("address", "F0:F1:F2:F3:F4:F5")] }
            let people = try run(["status"], environment: home.environment).output.split(separator: "\n")
            #expect(people.first == "connected to the device: typing received data")
            #expect(people.contains { $0.contains("selection") && $0.contains("LINBLE-TEST") })
            let program = try run(["status", "--json"], environment: home.environment).output
            #expect(try JSONValue(Array(program.utf8))["state"]?.string == "connected")
            // The JSON output contains message texts, and not the internal message forms with names of the source code.
            #expect(program.contains("\"gateReason\":\"\(Self.reason)") && !program.contains("Text."), "\(program)")
        }
    }

    @Test("D-9: events are printed as they come; the daemon's end is exit status 69")
    func events() throws {
        let home = try TestDirectory()
        _ = try FakeDaemon.run(at: home("control")) { script in
            script.endsWithFollower.store(true, ordering: .releasing)
            let outcome = try run(["events"], environment: home.environment)
            #expect(outcome.status == 69)
            #expect(outcome.error.contains("the daemon stopped"))
            #expect(
                outcome.output
                    == ["connecting", "connected"].map { "{\"event\":\"state\",\"state\":\"\($0)\"}\n" }.joined()
            )
        }
    }

    @Test("D-12: while a daemon uses the adapter, scan asks the daemon: its list, filtered, harmless to see")
    func scan() throws {
        let home = try TestDirectory()
        let requests = try FakeDaemon.run(at: home("control")) { _ in
            func scan(_ arguments: String...) throws -> Outcome {
                try run(["scan", "--once", "--seconds", "1"] + arguments, environment: home.environment)
            }
            let lines = try scan()
            #expect(lines.status == 0, "\(lines.error)")
            #expect(lines.error.contains("blewedge: 3 devices are not listed"))
            let service = "27ADC9CA-35EB-465A-9154-B8FF9076F3E8"
            #expect(
                lines.output == """
                    F0:F1:F2:F3:F4:F6\trandom\t-40 dBm\tLINBLE-B\t\(service)
                    F0:F1:F2:F3:F4:F5\trandom\t-70 dBm\tLINBLE-\u{FFFD}[2J\t\(service)

                    """
            )
            let json = try scan("--json", "--adapter", "hci7", "--name", "linble-b").output
            #expect(try JSONValue(Array(json.dropLast().utf8))["name"]?.string == "LINBLE-B")
            #expect(try scan("--service", "180A").output.isEmpty)
            // The daemon does not use this adapter, which does not exist on this machine.
            #expect(try scan("--adapter", "hci9999").status != 0)
        }
        #expect(requests.filter { $0 != "status" }.dropLast().allSatisfy { $0.hasPrefix("scan ") })
        #expect(requests.filter { $0.hasPrefix("scan ") }.count >= 3)
    }

    @Test(
        "Choosing another while one is chosen: refused without a terminal, done with --yes; the same one is no question"
    )
    func useThroughDaemon() throws {
        let home = try TestDirectory()
        let requests = try FakeDaemon.run(at: home("control")) { script in
            script.status.withLock {
                $0 = [("name", "LINBLE-A"), ("address", "F0:F1:F2:F3:F4:F5"), ("addressType", "random")]
            }
            for (arguments, status) in [
                (["LINBLE-B"], 64), (["LINBLE-B", "--yes"], 0), (["linble-a"], 0), (["f0:f1:f2:f3:f4:f5"], 0),
            ] {
                let command = ["use"] + arguments + ["--security", "none"]
                let outcome = try run(command, environment: home.environment)
                #expect(outcome.status == status, "\(arguments): \(outcome.error)")
                #expect(outcome.output.isEmpty)
            }
            script.status.withLock { $0 = [] }
            let levels = ["none", "encrypted"]
            for level in levels {
                let command = ["use", "LINBLE-B", "--security", level]
                #expect(try run(command, environment: home.environment).status == 0)
            }
        }
        #expect(
            requests == [
                "use LINBLE-B security none", "use LINBLE-B yes security none", "use linble-a security none",
                "use F0:F1:F2:F3:F4:F5 security none", "use LINBLE-B security none",
                "use LINBLE-B security encrypted", "stop",
            ]
        )
    }

    @Test("D-10: in a script a device without keys is status 78 with cause and remedy; it is not asked twice")
    func openThroughDaemon() throws {
        let home = try TestDirectory()
        let requests = try FakeDaemon.run(at: home("control")) { _ in
            for arguments in [["use", "LINBLE-B"], ["use", "LINBLE-B", "--yes"], ["use", "LINBLE-B", "--json"]] {
                let outcome = try run(arguments, environment: home.environment)
                #expect(outcome.status == 78 && outcome.output.isEmpty, "\(arguments): \(outcome.error)")
                #expect(outcome.error.contains("LINBLE-B (F0:F1:F2:F3:F4:F6) is not paired: anyone who copies"))
                #expect(outcome.error.contains("blewedge pair F0:F1:F2:F3:F4:F6") && !outcome.error.contains("[y/N]"))
                #expect(outcome.error.contains("--security none"))
            }
        }
        #expect(requests == ["use LINBLE-B", "use LINBLE-B yes", "use LINBLE-B", "stop"])
    }

    @Test("D-10: without a daemon too: 78 for a device without keys, and for more or less than may be")
    func openAlone() throws {
        let home = try TestDirectory()
        let device = ["use", "F0:F1:F2:F3:F4:F5", "--address-type", "random"]
        func use(_ arguments: String...) throws -> Outcome {
            try run(device + arguments, environment: home.environment)
        }
        for (arguments, cause, remedy) in [
            ([], "anyone who copies its name and address can type", "--security none"),
            (["--yes"], "anyone who copies its name and address can type", "--security none"),
            (["--security", "encrypted"], "is not paired", "blewedge pair F0:F1:F2:F3:F4:F5"),
            (["--security", "authenticated"], "is not paired", "blewedge pair F0:F1:F2:F3:F4:F5"),
        ] {
            let outcome = try run(device + arguments, environment: home.environment)
            #expect(outcome.status == 78 && outcome.output.isEmpty, "\(arguments): \(outcome.error)")
            #expect(outcome.error.contains(cause) && outcome.error.contains(remedy), "\(arguments): \(outcome.error)")
            #expect(home.text("selection") == nil)
        }
        #expect(try use("--security", "none").status == 0)
        #expect(home.text("selection")?.contains(#""security":"none""#) == true)
        #expect(try use("--security", "low").status == 64)

        try home.write("security = \"encrypted\"\n", to: "blewedge.toml")
        let less = try use("--security", "none")
        #expect(less.status == 78 && less.error.contains("below the configured minimum: encrypted"))
        #expect(try use().error.contains("blewedge pair"))
    }

    @Test("Without a daemon the choice is written, kept when another is refused, and dropped")
    func useAlone() throws {
        let home = try TestDirectory()
        func blewedge(_ arguments: [String]) throws -> Outcome { try run(arguments, environment: home.environment) }
        let open = ["--security", "none"]
        let first = try blewedge(["use", "F0:F1:F2:F3:F4:F5", "--address-type", "random", "--json"] + open)
        #expect(first.status == 0, "\(first.error)")
        #expect(first.output == #"{"address":"F0:F1:F2:F3:F4:F5","addressType":"random","security":"none"}"# + "\n")
        let kept = try #require(home.text("selection"))
        #expect(try SelectedDevice(parsing: kept).label == "F0:F1:F2:F3:F4:F5")

        let refused = try blewedge(["use", "00:11:22:33:44:55", "--address-type", "public"] + open)
        #expect(refused.status == 64)
        #expect(refused.error.contains("F0:F1:F2:F3:F4:F5") && refused.error.contains("--yes"))
        #expect(home.text("selection") == kept)

        #expect(try blewedge(["use", "f0:f1:f2:f3:f4:f5", "--address-type", "random"] + open).status == 0)
        #expect(try blewedge(["use", "00:11:22:33:44:55", "--address-type", "public", "--yes"] + open).status == 0)
        #expect(home.text("selection")?.contains("00:11:22:33:44:55") == true)

        // A damaged selection file must not need a confirmation.
        try home.write("garbage", to: "selection")
        #expect(try blewedge(["use", "F0:F1:F2:F3:F4:F5", "--address-type", "random"] + open).status == 0)
        #expect(home.text("selection") == kept)

        #expect(try blewedge(["forget"]).status == 0)
        #expect(home.text("selection") == nil)
        #expect(try blewedge(["forget"]).status == 0)
    }

    @Test(
        "Snippets are listed without a daemon, the user's above the example set, or a hint; a wrong file is status 78"
    )
    func snippets() throws {
        let home = try TestDirectory()
        for configuration in [nil, "layout = \"us\"\n"] {
            if let configuration { try home.write(configuration, to: "blewedge.toml") }
            let none = try run(["snippet"], environment: home.environment)
            #expect(none.status == 0 && none.output.isEmpty)
            #expect(none.error.contains("snippets.json") && none.error.contains("snippets = \"habr\""))
        }
        try home.write("snippets = \"habr\"\n", to: "blewedge.toml")
        let builtIn = try run(["snippet"], environment: home.environment)
        #expect(builtIn.status == 0 && builtIn.error.isEmpty)
        #expect(builtIn.output.split(separator: "\n").contains("bold\t<b></b>"))
        try home.write(#"{"bold": "**", "mine": "x://y"}"#, to: "snippets.json")
        let own = try run(["snippet", "--json"], environment: home.environment).output.split(separator: "\n")
        #expect(own.contains(#"{"title":"mine","text":"x://y","leftPresses":1}"#))
        #expect(own.contains(#"{"title":"bold","text":"**","leftPresses":0}"#))
        try home.write("{", to: "snippets.json")
        let wrong = try run(["snippet"], environment: home.environment)
        #expect(wrong.status == 78)
        #expect(wrong.error.contains("snippets.json: line 1"))
    }

    @Test("Completions are printed for each shell, and know the commands", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) throws {
        let outcome = try run(["completions", shell])
        #expect(outcome.status == 0)
        #expect(outcome.error.isEmpty)
        for word in ["blewedge", "disconnect", "snippet", "backspace"] { #expect(outcome.output.contains(word)) }
        guard shell == "bash" else { return }
        // The script is parsed by the shell itself.
        let directory = try TestDirectory()
        try directory.write(outcome.output, to: "completions.bash")
        let path = directory("completions.bash")
        #expect(withExtendedLifetime(directory) { system("bash -n \(path)") } == 0)
    }
}
