// SPDX-License-Identifier: GPL-2.0-or-later

import Setup
import Testing
import Texts

@Suite("Findings of the doctor")
struct FindingTextTests {
    @Test("The doctor says every cause in both languages: what, why and the remedy differ, the command does not")
    func doctor() throws {
        for (cause, make) in causes {
            var facts = try healthy()
            make(&facts)
            let finding = try #require(Doctor.findings(facts).first { $0.cause == cause })
            for message in [finding.what, finding.why, finding.remedy] {
                let japanese = message.text(.japanese)
                #expect(message.english != japanese && !japanese.isEmpty, "\(cause)")
                #expect(!"\(message.english)\(japanese)".contains("{"), "\(cause): \(japanese)")
            }
            let english = finding.text(.english).split(separator: "\n")
            let japanese = finding.text(.japanese).split(separator: "\n")
            #expect(english.count == japanese.count && japanese.count == (finding.command == nil ? 3 : 4))
            #expect(finding.command.map { $0 == english.last?.dropFirst(4) ?? "" } ?? true)
            #expect(finding.command == nil || english.last == japanese.last)
            #expect(japanese.first?.hasSuffix("[\(cause.rawValue)]") == true)
            #expect(japanese[1].hasPrefix("  影響: ") && japanese[2].hasPrefix("  対処: "))
        }
        #expect(Doctor.text([], .english) == "no problems found\n" && Doctor.text([], .japanese) == "問題はありません\n")
    }

    @Test("The list of causes has each one with effect and remedy, in both languages and as JSON")
    func list() throws {
        for language in Language.allCases {
            let blocks = Doctor.causes(language).split(separator: "\n", omittingEmptySubsequences: false)
                .split(separator: "", omittingEmptySubsequences: true)
            let names = blocks.map { String(($0.first ?? "").prefix { $0 != ":" }) }
            #expect(names == Finding.Cause.allCases.map(\.rawValue))
            #expect(blocks.allSatisfy { $0.count == 3 })
            #expect(!Doctor.causes(language).contains("{"))
        }
        let listed = try #require(JSONValue(Array(Doctor.causesObject().text.utf8))["causes"]?.array)
        #expect(listed.count == Finding.Cause.allCases.count)
        let down = try #require(listed.first { $0["id"]?.string == "adapter-down" })
        #expect(down["what"]?.string == "… is powered off although the daemon is running")
        #expect(down["why"]?.string?.isEmpty == false && down["remedy"]?.string?.isEmpty == false)
    }
}
