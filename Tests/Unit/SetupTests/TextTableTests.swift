// SPDX-License-Identifier: GPL-2.0-or-later

import Daemon
import Setup
import TestSupport
import Testing
import Texts

@Suite("The table of texts, in two languages")
struct TextTableTests {
    /// Texts that are equal in both languages: units, symbols, and names of keys and things.
    private static let common: Set<String> = ["RSSI", "MTU", "PHY", "OK", "BS", "PgUp/PgDn", "[  ]", "gate.vt", "line"]

    @Test("Every group of texts in the sources is in the table, and stands in a folder of tables")
    func groups() throws {
        var found: Set<String> = []
        let modules = [
            "Texts", "Typing", "BeaconServer", "Devices", "Configuration", "Link", "Control", "Daemon", "Setup",
            "blewedge",
        ]
        for file in try modules.flatMap({ try SourceFiles.files(of: $0) }) {
            for line in file.text.split(separator: "\n") {
                let words = line.split { $0 == " " || $0 == ":" || $0 == "," }
                guard let kind = words.firstIndex(where: { $0 == "enum" || $0 == "extension" }), kind + 1 < words.count,
                    words.contains("Localized") || words.contains("FaultText"), line.hasSuffix("{")
                else { continue }
                let name = words[kind + 1].split(separator: ".").last.map(String.init) ?? ""
                if ["Localized", "FaultText"].contains(name) { continue }
                #expect(file.isTable, "\(name) in \(file.path)")
                #expect(found.insert(name).inserted, "two groups are called \(name)")
            }
        }
        #expect(found.count > 20)
        #expect(found.union(["Finding.Cause"]) == TextTable.whole.groups)
    }

    @Test("Every text is there in both languages, and Japanese is no copy of the English")
    func complete() {
        #expect(TextTable.whole.entries.flatMap(\.texts).count > 600)
        for (id, text) in TextTable.whole.entries.flatMap(\.texts) {
            let isSaid = Language.allCases.allSatisfy { !text[$0].allSatisfy(\.isWhitespace) }
            #expect(isSaid, "\(id) is empty in a language")
            #expect(text.english.unicodeScalars.allSatisfy { $0.isASCII }, "\(id): every terminal has ASCII")
            let isJapanese = text.japanese.unicodeScalars.contains { (0x3040...0x9FFF).contains($0.value) }
            // Texts that contain nothing but placeholders need no translation.
            let isBare = !LocalText.outside(text.english).contains(where: \.isLetter)
            #expect(
                isJapanese || isBare || Self.common.contains(text.japanese),
                "\(id) is no Japanese: \(text.japanese)"
            )
        }
    }

    @Test("X-6: no text names a file of the source code, which users do not have")
    func noSources() {
        for (id, text) in TextTable.whole.entries.flatMap(\.texts) {
            for language in Language.allCases {
                // The directory /usr/lib/udev belongs to the machine, and not to the sources.
                let words = text[language].split { " `:;,()、。".contains($0) }
                let isSource = words.contains { $0.hasPrefix("udev/") || $0.hasPrefix("Sources/") }
                #expect(!isSource, "\(id): \(text[language])")
            }
        }
    }

    @Test("No two texts have the same id, so that the control socket names one")
    func names() {
        let ids = TextTable.whole.entries.flatMap(\.texts).map(\.id)
        #expect(Set(ids).count == ids.count)
    }

    @Test("Both languages are told of the same, and no place is left open")
    func places() {
        for entry in TextTable.whole.entries {
            var all: Set<Int> = []
            for (id, text) in entry.texts {
                let places = LocalText.places(in: text.english)
                all.formUnion(places)
                #expect(places == LocalText.places(in: text.japanese), "\(id)")
                // Commands are the same in every language.
                #expect(
                    Self.commands(in: text.english) == Self.commands(in: text.japanese),
                    "\(id) names other commands"
                )
            }
            #expect(all == Set(1..<(all.count + 1)), "\(entry.id) begins with {1} and leaves none out")
        }
        #expect(
            PageText.askSwitch.text(.english, "A {2}", "B") == "A {2} is already selected. Switch to B?"
        )
        #expect(PageText.notTyped.text(.english) == "Typing is off: ")
        #expect(LocalText.places(in: "{} {x} {1 {2} {") == [2])
    }

    private static func commands(in text: String) -> [Substring] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
            .map(\.element)
    }
}
