// SPDX-License-Identifier: GPL-2.0-or-later

import Testing

@testable import Setup

@Suite("Lines in files of others")
struct MarkedLinesTests {
    private static let block = "\(MarkedLines.begin)\none\ntwo\n\(MarkedLines.end)\n"

    @Test(
        "What was added is taken out again, and every other byte is as it was",
        arguments: ["", "a\n", "# a\n\nb\n\n", "one\n"]
    )
    func andBack(text: String) {
        for first in [false, true] {
            let added = MarkedLines.adding(["one", "two"], to: text, first: first)
            #expect(added == (first ? Self.block + text : text + Self.block))
            #expect(MarkedLines.found(in: added) == ["one", "two"])
            #expect(MarkedLines.removing(["one", "two"], from: added) == text)
        }
        #expect(MarkedLines.found(in: text) == nil)
        #expect(MarkedLines.removing(["one", "two"], from: text) == text)
    }

    @Test("A last line that does not end stays a line of its own")
    func unended() {
        #expect(MarkedLines.adding(["one", "two"], to: "a", first: false) == "a\n" + Self.block)
    }

    @Test("Older lines of its own are replaced, wherever they stand")
    func older() {
        let text = "a\n\(MarkedLines.begin)\nold\n\(MarkedLines.end)\nb\n"
        #expect(MarkedLines.adding(["one", "two"], to: text, first: true) == Self.block + "a\nb\n")
        #expect(MarkedLines.removing(["one", "two"], from: text) == "a\nb\n")
    }

    @Test("If one mark is missing, the other mark and known lines are removed, and no other lines")
    func broken() {
        for text in ["a\n\(MarkedLines.begin)\none\nc\n", "a\none\nc\n\(MarkedLines.end)\n"] {
            #expect(MarkedLines.found(in: text) == nil)
            #expect(MarkedLines.removing(["one", "two"], from: text) == "a\nc\n")
        }
    }
}
