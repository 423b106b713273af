// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Configuration
import Keystrokes
import Testing
import Texts

@testable import blewedge

@Suite("The manual page")
struct ManualTests {
    @Test("The manual has every command with every option and example of its help")
    func complete() throws {
        let page = try ManualCommand.page()
        let plain = page.replacing("\\-", with: "-").replacing("\\e", with: "\\").replacing("\\&", with: "")
        #expect(page.hasPrefix(".TH \"BLEWEDGE\" \"1\""))
        var count = 0
        for command in BlewedgeCommand.configuration.subcommands {
            let name = command.configuration.commandName ?? ""
            #expect(plain.contains("\n.SS \"blewedge \(name)\"\n\(command.configuration.abstract)\n"), "\(name)")
            for line in command.configuration.discussion.split(separator: "\n") where line.hasPrefix("  blewedge") {
                #expect(plain.contains("\n\(line)\n"), "\(name): \(line)")
                count += 1
            }
        }
        #expect(count >= 20)
        #expect(plain.contains("\n.B \"--socket <path>\"\n"))
    }

    @Test("The table file that the help shows is a correct one; the manual has it, files, languages and statuses")
    func overview() throws {
        let lines = TableCommand.configuration.discussion.split(separator: "\n")
        let file = lines.drop { $0 != "TABLE FILES:" }.dropFirst()
        #expect(file.count > 5 && file.allSatisfy { $0.hasPrefix("  ") })
        let table = try ByteTable(text: file.joined(separator: "\n"))
        #expect(table != .linble)
        let page = try ManualCommand.page()
        #expect(page.contains("\n.PP\n.B \"TABLE FILES:\"\n.br\n.EX\n"))
        #expect(page.contains("\n.PP\nA table says"))
        #expect(page.contains("\n.TP\n.B \"/run/blewedge/control\"\nControl socket"))
    }

    @Test("The page has the usual sections in the usual order")
    func sections() throws {
        let titles = try ManualCommand.page().split(separator: "\n").filter { $0.hasPrefix(".SH ") }
        let usual = [
            "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "FILES", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES",
            "SEE ALSO",
        ]
        #expect(titles == usual.map { ".SH \"\($0)\"" })
    }

    @Test("An option of many commands is described once, and named below each of them")
    func commonOptions() throws {
        let page = try ManualCommand.page()
        #expect(page.count("\n.B \"\\-\\-socket <path>\"\n") == 1)
        #expect(page.count("\nCommon options: \\-\\-socket.\n") > 10)
        // The description of this option differs between commands.
        #expect(page.count("\n.B \"\\-\\-json\"\n") > 40)
    }

    @Test("The page of the configuration has every key with its default or an example, and every table")
    func configuration() {
        let page = ManualText.configurationPage(version: "1")
        let plain = page.replacing("\\-", with: "-").replacing("\\e", with: "\\").replacing("\\&", with: "")
        #expect(page.hasPrefix(".TH \"BLEWEDGE.TOML\" \"5\""))
        for key in ConfigurationKey.all {
            if !key.section.isEmpty { #expect(plain.contains("\n.SS \"[\(key.section)]\"\n"), "\(key.path)") }
            #expect(plain.contains("\n\(key.summary)\n"), "\(key.path)")
            let value = key.defaultText.map { $0.replacing("\"", with: "\"\"") }
            let line = value.map { ".B \"\(key.name) = \($0)\"" } ?? "Example: \(key.name) = \(key.example)"
            #expect(plain.contains("\n\(line)\n"), "\(line)")
        }
        for table in ["[outputs.log]", "[beacons.actions.badge]", "[[profiles.scale.handshake]]"] {
            #expect(plain.contains("\n  \(table)\n"), "\(table)")
        }
    }

    @Test("Each of the two pages names the other one")
    func otherPages() throws {
        #expect(try ManualCommand.page().contains("\n.BR \"blewedge.toml\" \"(5),\"\n"))
        #expect(ManualText.configurationPage(version: "1").contains("\n.BR \"blewedge\" \"(1),\"\n"))
    }

    @Test("man shows the pages without a warning, in 80 columns", arguments: ManualCommand.Page.allCases)
    func warnings(page: ManualCommand.Page) throws {
        let shown = try RunningProgram(
            ["manual", page.rawValue],
            environment: ["PATH=/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C.UTF-8", "MANWIDTH=80"],
            prelude: """
                command -v man >/dev/null && command -v groff >/dev/null || exit 69
                "$0" manual \(page.rawValue) | man --warnings=w -l - 2>&1 >/dev/null; exit
                """
        ).end()
        guard shown.status != 69 else { return }
        #expect(shown.status == 0 && shown.output.isEmpty && shown.error.isEmpty, "\(shown)")
    }

    @Test("No line of a text becomes a roff request")
    func requests() throws {
        let help = try JSONValue(
            Array(
                #"{"command":{"commandName":"x","abstract":".so /etc","discussion":".so /etc/passwd\n'br\n  \\fBa-b \"q\""}}"#
                    .utf8
            )
        )
        let lines = ManualText.page(ofHelp: help, version: "1").split(separator: "\n").map(String.init)
        #expect(
            lines.contains("\\&.so /etc/passwd") && lines.contains("\\&'br") && lines.contains("  \\efBa\\-b \"q\"")
        )
        let table = [".EX", "  \\efBa\\-b \"q\"", ".EE"]
        #expect(lines.indices.contains { lines[$0...].starts(with: table) }, "\(lines)")
        let known = ["TH", "SH", "SS", "B", "BR", "PP", "TP", "EX", "EE", "br"]
        let requests = lines.filter { $0.hasPrefix(".") || $0.hasPrefix("'") }
        #expect(requests.allSatisfy { line in known.contains { line.hasPrefix(".\($0)") } })
    }
}

extension String {
    /// Returns the number of occurrences of a text.
    fileprivate func count(_ text: String) -> Int { ranges(of: text).count }
}
