// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@Suite("The ids of requirements, decisions, attacks and benchmarks")
struct IdentifierTests {
    /// Returns the lines of requirements.txt that define an id, which is their first word.
    static func definitions() throws -> [(identifier: String, text: String)] {
        try VectorFile.lines("requirements.txt").map(\.text).filter { !$0.hasPrefix(" ") }.map { line in
            let identifier = line.prefix { $0 != " " }
            return (String(identifier), String(line.dropFirst(identifier.count + 1)))
        }
    }

    @Test("Every id is defined once, with a text, in a form that is found where it is cited")
    func definitions() throws {
        let definitions = try Self.definitions()
        #expect(definitions.count > 100)
        for (identifier, text) in definitions {
            #expect(CitedIdentifiers(Array(identifier.utf8)).citations.map(\.identifier) == [identifier])
            #expect(text.contains { $0.isLetter }, "\(identifier) says nothing")
        }
        let twice = Dictionary(grouping: definitions, by: \.identifier).filter { $0.value.count > 1 }.keys
        #expect(twice.isEmpty)
    }

    @Test("Every id that is cited in Sources, Tests, Benchmarks, udev and the README is defined in requirements.txt")
    func citations() throws {
        let defined = Set(try Self.definitions().map(\.identifier))
        var files = ["README.md", ".github/SECURITY.md"]
        for folder in ["Sources", "Tests", "Benchmarks", "udev"] { files += try RepositoryFiles.files(below: folder) }
        var count = 0
        var unknown: [String] = []
        for file in files {
            let citations = CitedIdentifiers(try RepositoryFiles.bytes(file)).citations
            count += citations.count
            for citation in citations where !defined.contains(citation.identifier) {
                unknown.append("\(citation.identifier) in \(file), line \(citation.line)")
            }
        }
        #expect(unknown == [])
        #expect(files.count > 500 && count > 1000, "\(count) ids in \(files.count) files")
    }

    @Test("Recognition of requirement ids in a text")
    func forms() {
        // The ids are composed of two literals, so that they are not searched for in requirements.txt.
        func found(_ kind: String, _ number: String) -> [String] {
            CitedIdentifiers(Array("(\(kind)\(number), \(kind)\(number)…)".utf8)).citations.map(\.identifier)
        }
        for (kind, number) in [("D-", "99"), ("LK-", "7"), ("B-", "5z"), ("T", "99"), ("Q-", "1")] {
            #expect(found(kind, number) == [kind + number, kind + number])
        }
        for (kind, number) in [
            ("UTF-", "8"), ("BV-", "01"), ("HM-", "10"), ("F", "10"), ("0T", "12"), ("_D-", "99"), ("D-", "99_"),
            ("D-", "199"), ("D-", "9ab"), ("d-", "99"), ("D–", "99"),
        ] {
            #expect(found(kind, number).isEmpty, "\(kind)\(number)")
        }
        let range = CitedIdentifiers(Array("a\nT\("98")-T\("99")".utf8)).citations
        #expect(range.map(\.line) == [2, 2] && range.map(\.identifier) == ["T\("98")", "T\("99")"])
    }
}
