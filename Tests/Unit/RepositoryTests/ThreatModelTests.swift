// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@Suite("The threat model", .timeLimit(.minutes(10)))
struct ThreatModelTests {
    /// Returns the texts between pairs of a quotation character, in their order.
    private func quoted(_ text: Substring, _ sign: Character) -> [Substring] {
        text.split(separator: sign, omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map(\.element)
    }

    /// Returns the two cells of each row in the table of provided protections.
    private func rows() throws -> [(what: Substring, tests: Substring)] {
        let lines = try RepositoryFiles.text(".github/SECURITY.md").split(separator: "\n")
        let start = try #require(lines.firstIndex(of: "## Provides"))
        let end = try #require(lines.firstIndex(of: "## Does not provide"))
        return lines[start..<end].filter { $0.hasPrefix("| ") }.dropFirst(2)
            .compactMap { line in
                let cells = line.split(separator: "|").filter { !$0.allSatisfy { $0 == " " } }
                return cells.count == 2 ? (cells[0], cells[1]) : nil
            }
    }

    @Test("Each row of what is provided names its tests, and every test that it names is there")
    func tests() throws {
        let rows = try rows()
        #expect(rows.count >= 12)
        var declared: Set<Substring> = []
        for file in try RepositoryFiles.files(below: "Tests") where file.hasSuffix("Tests.swift") {
            // A test's name follows `@Test(`, or is on the next line.
            var before: Substring = ""
            for line in try RepositoryFiles.text(file).split(separator: "\n") {
                let text = line.drop { $0 == " " }
                let hasName = text.hasPrefix("@Test(\"") || before == "@Test("
                if hasName, let name = quoted(text, "\"").first { declared.insert(name) }
                before = text
            }
        }
        var scenarios: Set<Substring> = []
        for file in try RepositoryFiles.files(below: "Tests/KernelLab/scenarios") where file.hasSuffix(".py") {
            for line in try RepositoryFiles.text(file).split(separator: "\n") where line.hasPrefix("@scenario(\"") {
                if let name = quoted(line, "\"").first { scenarios.insert(name) }
            }
        }
        for (what, tests) in rows {
            let units = quoted(tests, "\"")
            let labs = quoted(tests, "`").filter { $0.hasPrefix("lab ") }.map { $0.dropFirst(4) }
            #expect(!units.isEmpty || !labs.isEmpty, "\(what) names no test")
            for name in units { #expect(declared.contains(name), "there is no test \(name)") }
            for name in labs { #expect(scenarios.contains(name), "there is no scenario \(name)") }
        }
    }

    @Test("T31: no text advises to set file capabilities on a program that all users can run")
    func advice() throws {
        let tool = "set" + "cap"
        var files = ["README.md", ".github/SECURITY.md"]
        for folder in ["Sources", "udev"] { files += try RepositoryFiles.files(below: folder) }
        for file in files {
            #expect(try !RepositoryFiles.text(file).contains(tool), "\(file)")
        }
    }
}
