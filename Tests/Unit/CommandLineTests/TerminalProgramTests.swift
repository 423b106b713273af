// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Glibc
import LinuxIO
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import blewedge

@Suite("The program on a terminal", .timeLimit(.minutes(10)))
struct TerminalProgramTests {
    private static let (down, right, left) = ("\u{1B}[B", "\u{1B}[C", "\u{1B}[D")
    private static func function(_ number: Int) -> String {
        ["OP", "OQ", "OR", "OS", "[15~", "[17~", "[18~", "[19~", "[20~", "[21~", "[23~", "[24~"][number - 1].escaped
    }

    private func text(of path: String) throws -> String {
        String(decoding: try FileSystem.contents(of: path, limit: 4096), as: UTF8.self)
    }

    @Test("The pages of a daemon: each function key has its page or its request, and settings are saved")
    func pages() throws {
        let home = try TestDirectory()
        try home.write(#"{"greeting": "hello"}"#, to: "snippets.json")
        let requests = try FakeDaemon.run(at: home("control")) { _ in
            let terminal = try TerminalProgram(["tui"], in: home)
            #expect(terminal.shows("LINBLE-B") && terminal.shows("connected to the device"))
            for (key, said) in [(7, "Connecting."), (8, "Disconnecting."), (9, "Paused.")] {
                terminal.type(Self.function(key))
                #expect(terminal.shows(said))
            }
            terminal.type(Self.function(4))
            #expect(terminal.shows("greeting  hello"))
            terminal.type("\r")
            #expect(terminal.shows("Typed: greeting"))
            terminal.type(Self.function(5))
            #expect(terminal.shows("Show the connection state") && terminal.shows("< us >"))
            terminal.type("\r")
            #expect(terminal.shows("< off >") && terminal.shows("Saved"))
            #expect(try text(of: home("blewedge.toml")) == "status-line = false\n")
            terminal.type(Self.down + Self.down + Self.down + "\r")
            #expect(terminal.shows("[us_]"))
            terminal.type("\u{7F}")
            terminal.type("\u{7F}")
            #expect(terminal.shows("[_]"))
            terminal.type("xx")
            #expect(terminal.shows("[xx_]"))
            // An Enter within 0.3 s after text belongs to a barcode.
            terminal.waitsForSilence()
            terminal.type("\r")
            #expect(terminal.shows("Not saved"))
            terminal.type("\r")
            #expect(terminal.shows("[us_]"))
            terminal.type(Self.right)
            #expect(terminal.shows("[jp_]"))
            terminal.type("\r")
            #expect(terminal.shows("< jp >") && terminal.shows("Saved"))
            #expect(try text(of: home("blewedge.toml")) == "layout = \"jp\"\nstatus-line = false\n")
            terminal.type(Self.function(3))
            #expect(terminal.shows("The arrows select a key"))
            terminal.type("\r")
            #expect(terminal.shows("Pressed: 1"))
            terminal.type(Self.function(6))
            #expect(terminal.shows("How to add the keyboard"))
            terminal.type(Self.function(11))
            #expect(terminal.shows("Own beacon: off"))
            terminal.type(Self.function(2) + Self.function(12))
            #expect(terminal.shows("Last received bytes"))
            terminal.resize(columns: 60, rows: 20)
            #expect(terminal.waits { $0.count == 20 && $0[2].hasSuffix("┐") && $0[2].count == 60 })
            terminal.type("text")
            #expect(terminal.shows("│ text"))
            terminal.type(Self.function(1))
            #expect(terminal.shows("LINBLE-B"))
            terminal.type("q")
            #expect(terminal.end() == 0)
            #expect(
                terminal.written.hasPrefix("\u{1B}7\u{1B}[?1049l\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h\u{1B}[?1000h")
            )
            #expect(terminal.written.hasSuffix("\u{1B}[?1000l\u{1B}[?2004l\u{1B}[?25h\u{1B}[?1049l"))
        }
        #expect(Set(["status", "beacons status", "received"]).isSubset(of: requests))
        let polled = ["status", "beacons status", "received"]
        let asked = requests.filter { !polled.contains($0) && !$0.hasPrefix("scan ") }
        #expect(
            asked == ["connect", "disconnect", "pause", "snippet greeting", "reload", "key 1", "stop"]
        )
    }

    @Test("The first start shows the guide, the next one the devices, and Ctrl-C ends the pages")
    func start() throws {
        let home = try TestDirectory()
        for text in ["How to add the keyboard", "Press Enter to start one."] {
            let terminal = try TerminalProgram([], in: home)
            #expect(terminal.shows(text) && terminal.shows("No daemon is running."))
            terminal.type("\u{3}")
            #expect(terminal.end() == 0)
        }
        let guide = try TerminalProgram(["guide", "--language", "ja"], in: home)
        #expect(guide.shows("アクセスの使用目的"))
        guide.type(Self.function(10))
        #expect(guide.end() == 0)
    }

    @Test("Without a daemon, Enter starts one, which types for an unpaired device only after the question")
    func ownDaemon() throws {
        let home = try TestDirectory()
        try home.write("adapter = \"memory:linble,scale\"\nto = \"unix:\(home("wire"))\"\n", to: "blewedge.toml")
        let terminal = try TerminalProgram(["tui"], in: home)
        #expect(terminal.shows("Press Enter to start one."))
        terminal.type("\r")
        #expect(terminal.shows("SCALE-15K") && terminal.shows("no device selected"))
        terminal.type("\u{1B}[F")
        #expect(terminal.shows("C0:FF:EE:01:00:03"))
        terminal.type("\r")
        #expect(terminal.shows("[ Cancel ] [ OK ]"))
        terminal.type(Self.right + "\r")
        #expect(terminal.shows("connected to SCALE-15K"))
        terminal.type(Self.function(2))
        #expect(terminal.shows("* received"))
        terminal.type(Self.function(8))
        #expect(terminal.shows("disconnected from SCALE-15K"))
        #expect(try run(["stop"], environment: home.environment).status == 0)
        #expect(terminal.shows("No daemon is running."))
        terminal.type(Self.function(10))
        #expect(terminal.end() == 0)
    }

    @Test("X-17: demo --tui runs its own daemon, leads through its first steps, and leaves no files")
    func demoPages() throws {
        let home = try TestDirectory()
        let terminal = try TerminalProgram(["demo", "--tui"], in: home, runtime: home.path)
        #expect(terminal.shows("LINBLE-Z1") && terminal.shows("Step 1 of 9"))
        func folders() -> [String] {
            FileSystem.names(in: home.path).filter { $0.hasPrefix("blewedge-demo.") }
        }
        #expect(folders().count == 1)
        terminal.type("\r")
        #expect(terminal.shows("[ Cancel ] [ OK ]"))
        terminal.type(Self.right + "\r")
        #expect(terminal.shows("connected to LINBLE-Z1") && terminal.shows("Step 2 of 9"))
        terminal.type(Self.function(2))
        #expect(terminal.shows("Step 3 of 9"))
        #expect(terminal.waits { $0.contains { $0.contains("│ 2000000000") || $0.contains("│ 49") } })
        terminal.type("q")
        #expect(terminal.end() == 0)
        #expect(folders().isEmpty)
    }

    @Test("On a terminal, scan and range refresh a table, and status --watch the status, until Ctrl-C")
    func tables() throws {
        let home = try TestDirectory()
        let badges = "6C619B5E-0C1D-4C2F-9A51-6E0C9F4D7B20"
        try home.write("static \(badges)\n", to: "regions")
        try home.write("[beacons]\nregions = \"\(home("regions"))\"\n", to: "blewedge.toml")
        for (words, text) in [
            (["scan", "--adapter", "memory:", "--refresh", "500ms"], "SCALE-15K"),
            (["beacons", "range", "static", "--adapter", "memory:badge"], "\(badges)/1/7"),
        ] {
            let terminal = try TerminalProgram(words, in: home, columns: 120)
            #expect(terminal.waits { $0.count { $0.contains(text) } == 1 })
            let first = terminal.written
            #expect(terminal.waits { _ in terminal.written.dropFirst(first.count).contains("\u{1B}[J") })
            #expect(terminal.screen.text.count { $0.contains(text) } == 1 && !terminal.screen.text[0].isEmpty)
            terminal.type("\u{3}")
            #expect(terminal.end() == 130)
        }
        let once = try TerminalProgram(["scan", "--adapter", "memory:scale", "--once", "--seconds", "2"], in: home)
        #expect(once.end() == 0)
        #expect(
            once.screen.text[0] == "NAME                  ADDRESS            RSSI       LAST HEARD           SERVICE"
        )
        #expect(once.screen.text[1].hasPrefix("SCALE-15K             C0:FF:EE:01:00:03  "))
        #expect(once.screen.text[1].count == 80 && once.screen.text[2].isEmpty)
        _ = try FakeDaemon.run(at: home("control")) { script in
            let status = try TerminalProgram(["status", "--watch"], in: home)
            #expect(status.shows("connected to the device: typing received data"))
            script.status.withLock { $0 = [("name", "LINBLE-A"), ("address", "F0:F1:F2:F3:F4:F5")] }
            #expect(status.shows("LINBLE-A"))
            #expect(status.screen.text.count { $0.contains("typing received data") } == 1)
            status.type("\u{3}")
            #expect(status.end() == -SIGINT)
        }
    }

    @Test("LK-8: on a terminal, `use` and `run` ask before they accept an unpaired or another device")
    func questions() throws {
        let home = try TestDirectory()
        func use(_ device: String, _ answers: [String]) throws -> Int32 {
            let terminal = try TerminalProgram(["use", device, "--adapter", "memory:"], in: home, columns: 200)
            for (index, answer) in answers.enumerated() {
                #expect(terminal.waits { $0.count { $0.contains("[y/N]") } == index + 1 })
                terminal.type(answer + "\n")
            }
            return terminal.end()
        }
        #expect(try use("SCALE-15K", ["n"]) == 64)
        #expect(try use("SCALE-15K", [""]) == 64)
        #expect(!FileSystem.exists(home("selection")))
        #expect(try use("SCALE-15K", ["y"]) == 0)
        #expect(try text(of: home("selection")).contains("SCALE-15K"))
        #expect(try use("LINBLE-Z1", ["n"]) == 64)
        #expect(try use("LINBLE-Z1", ["YES", "no"]) == 64)
        #expect(try text(of: home("selection")).contains("SCALE-15K"))
        #expect(try use("LINBLE-Z1", ["yes", "Y"]) == 0)
        #expect(try text(of: home("selection")).contains("LINBLE-Z1"))

        let words = ["run", "--adapter", "memory:scale", "--device", "SCALE-15K", "--to", "unix:\(home("wire"))"]
        let refused = try TerminalProgram(words, in: home, columns: 200)
        #expect(refused.shows("[y/N]"))
        refused.type("n\n")
        #expect(refused.end() == 64)
        let terminal = try TerminalProgram(words, in: home, columns: 200)
        #expect(terminal.shows("[y/N]"))
        terminal.type("y\n")
        #expect(terminal.shows("connected to SCALE-15K: typing received data  received 15  typed 0"))
        #expect(terminal.shows("* received"))
        #expect(terminal.hides("* received"))
        terminal.type("\u{3}")
        #expect(terminal.end() == 130)
        #expect(terminal.written.contains("SCALE-15K"))
    }

    @Test("On a terminal, the demo draws its stages in place")
    func demo() throws {
        let terminal = try TerminalProgram(["demo", "--barcodes", "2"], in: try TestDirectory(), columns: 130)
        #expect(terminal.end() == 0)
        #expect(
            Array(terminal.screen.text.prefix(8)) == [
                "  scanner  barcode 2 of 2  ####################",
                "  radio    connected: LINBLE-DEMO",
                "  link     2 notifications, 28 bytes",
                "  ring     0 bytes waiting",
                "  table    28 typed, 0 discarded, 0 rejected",
                "  keys     112 events in 2 writes",
                "  screen   2000000000015",
                "barcodes typed correctly: 2 of 2; received 28 bytes = typed 28 + discarded 0 + rejected 0 + gated 0 + lost 0 + waiting 0",
            ]
        )
    }
}

extension String {
    /// The text after the Escape character.
    fileprivate var escaped: String { "\u{1B}" + self }
}
