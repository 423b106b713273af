// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
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
        for title in ["HOW IT WORKS:", "FILES:", "ENVIRONMENT:", "EXIT STATUS:", "TABLE FILES:"] {
            #expect(page.contains("\n.PP\n.B \"\(title)\"\n.br\n"), "\(title)")
        }
        #expect(page.contains("\nShow help information.\n.PP\nA table says"))
    }

    @Test("No line of a text is taken for a request")
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
        let known = ["TH", "SH", "SS", "B", "PP", "TP", "EX", "EE", "br"]
        let requests = lines.filter { $0.hasPrefix(".") || $0.hasPrefix("'") }
        #expect(requests.allSatisfy { line in known.contains { line.hasPrefix(".\($0)") } })
    }
}
