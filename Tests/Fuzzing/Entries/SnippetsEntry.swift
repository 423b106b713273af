// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import Typing

/// The input is a snippet file: it is rejected with a reason, or everything in it is within the limits.
enum SnippetsEntry {
    static func fault(in bytes: [UInt8]) -> String? {
        do throws(Snippets.Fault) {
            let snippets = try Snippets(json: bytes, over: .habr)
            guard snippets.all.count <= Snippets.most + Snippets(.habr).all.count else { return "too many snippets" }
            for snippet in snippets.all.dropFirst(Snippets(.habr).all.count - 1) {
                if let fault = self.fault(snippet) { return fault }
            }
            let titles = Set(snippets.all.map(\.title))
            return titles.count == snippets.all.count ? nil : "a title twice"
        } catch {
            return error.description.isEmpty ? "no reason" : nil
        }
    }

    private static func fault(_ snippet: Snippet) -> String? {
        guard (1...Snippet.longestTitle).contains(snippet.title.count),
            snippet.text.unicodeScalars.count <= Snippet.longestText,
            (0...Snippet.longestText).contains(snippet.leftPresses),
            (snippet.received?.count ?? 0) <= Snippet.longestReceived
        else { return "beyond its limits: \(snippet)" }
        let steps = snippet.steps()
        guard steps.count <= 2 * Snippet.longestText else { return "\(steps.count) steps" }
        var field = FieldLength()
        for step in steps { field.take(FieldLength.Effect(step)) }
        return (0...FieldLength.most).contains(field.characters) ? nil : "a field of \(field.characters) characters"
    }
}
