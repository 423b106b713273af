// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Testing
import Texts
import Wedge

@testable import blewedge

@Suite("The manual page")
struct ManualTests {
    @Test("D-10: the manual has every command with every option and example of its help")
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

    @Test("D-10: no line of a text is taken for a request")
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
        let known = ["TH", "SH", "SS", "B", "PP", "TP", "EX", "EE"]
        let requests = lines.filter { $0.hasPrefix(".") || $0.hasPrefix("'") }
        #expect(requests.allSatisfy { line in known.contains { line.hasPrefix(".\($0)") } })
    }
}
