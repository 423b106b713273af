// SPDX-License-Identifier: GPL-2.0-or-later

import Foundation
import MutantGenerator
import Testing

/// Section of snippets.txt.
struct Snippet: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let source: String
    let mutants: String

    static let all: [Snippet] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "snippets.txt")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        return text.components(separatedBy: "\n== ").dropFirst().map { part in
            let lines = part.split(separator: "\n", omittingEmptySubsequences: false)
            let divider = lines.firstIndex(of: "--") ?? lines.endIndex
            return Snippet(
                testDescription: String(lines[0]),
                source: lines[1..<divider].map { $0 + "\n" }.joined(),
                mutants: lines[divider...].dropFirst().filter { !$0.isEmpty }.joined(separator: "\n")
            )
        }
    }()
}

struct SnippetTests {
    @Test(arguments: Snippet.all)
    func mutants(_ snippet: Snippet) {
        let found = MutantFinder.mutants(of: snippet.source, file: "Snippet.swift").map { mutant in
            let place =
                "\(mutant.line):\(mutant.column) \(mutant.function) \(mutant.operator.rawValue) \(mutant.name.suffix(8))"
            return "\(place): |\(mutant.before)| → |\(mutant.after)|".replacing("\n", with: "⏎")
        }
        #expect(found.joined(separator: "\n") == snippet.mutants)
    }

    @Test func allSnippetsAreRead() {
        #expect(Snippet.all.count == 16)
    }

    @Test func eachMutantChangesItsLines() {
        for mutant in Snippet.all.flatMap({ MutantFinder.mutants(of: $0.source, file: "Snippet.swift") }) {
            #expect(mutant.before != mutant.after, "\(mutant.name)")
            #expect(mutant.before.count(where: \.isNewline) == mutant.after.count(where: \.isNewline), "\(mutant.name)")
        }
    }

    /// Checks that names identify mutants, and do not change when lines are inserted above the function.
    @Test func namesOutliveOtherLines() {
        for snippet in Snippet.all {
            let names = MutantFinder.mutants(of: snippet.source, file: "Snippet.swift").map(\.name)
            let moved = MutantFinder.mutants(of: "import Foundation\n\n" + snippet.source, file: "Snippet.swift").map(
                \.name
            )
            #expect(Set(names).count == names.count)
            #expect(moved == names)
        }
    }
}
