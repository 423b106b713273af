// SPDX-License-Identifier: GPL-2.0-or-later

import Link
import Testing
import Typing

@Suite("Lines of raw bytes")
struct RawLinesTests {
    /// Returns the parts as text: `<` before one that begins a line, `>` behind one that ends it.
    private func parts(_ lines: inout RawLines, _ text: String, at time: Duration) -> [String] {
        lines.parts(Array(text.utf8).span, now: time).map { part in
            let text = part.bytes.count > 99 ? "\(part.bytes.count) bytes" : String(decoding: part.bytes, as: UTF8.self)
            return (part.begins ? "<" : "") + text + (part.ends ? ">" : "")
        }
    }

    @Test("CR and LF end lines, and silence, and the longest length; each part is passed on as it arrives")
    func parts() {
        var lines = RawLines()
        #expect(!lines.isRefusing)
        let most = LineQueue.longestLine
        var now = Duration.zero
        let steps: [(pause: Duration, String, [String])] = [
            (.zero, "ab", ["<ab"]), (LineBuffer.silence, "c\rde", ["c\r>", "<de"]),
            (LineBuffer.silence + .nanoseconds(1), "f\n", ["<f\n>"]), (.zero, "x\n\ny", ["<x\n\n>", "<y"]),
            (.zero, "", []),
            (.zero, String(repeating: "z", count: most - 1), ["\(most - 1) bytes"]), (.zero, "z", ["<z"]),
            (.zero, String(repeating: "z", count: most - 1), ["\(most - 1) bytes"]),
            (.zero, String(repeating: "z", count: most), ["<\(most) bytes"]), (.zero, "\r", ["<\r>"]),
            (.zero, "\n", ["<\n>"]),
        ]
        for (place, (pause, text, expected)) in steps.enumerated() {
            now += pause
            let found = parts(&lines, text, at: now)
            #expect(found == expected, "\(place)")
        }
    }
}
