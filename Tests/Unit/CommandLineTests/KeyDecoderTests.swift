// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@testable import blewedge

@Suite("A terminal's keys")
struct KeyDecoderTests {
    private static func keys(_ text: String) -> [TUIKey] {
        var decoder = TUIKeyDecoder()
        return decoder.take(text.utf8) + decoder.timeout()
    }

    @Test(
        "The keys of xterm, the Linux console and Alt with digits",
        arguments: [
            ("aB~", [TUIKey.character("a"), .character("B"), .character("~")]),
            ("\r\n\t\u{7F}\u{8}", [.enter, .enter, .tab, .backspace, .backspace]),
            ("\u{3}\u{C}", [.interrupt, .redraw]),
            ("日é😀", [.character("日"), .character("é"), .character("😀")]),
            ("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D", [.up, .down, .right, .left]),
            ("\u{1B}OA\u{1B}OH\u{1B}OF", [.up, .home, .end]),
            ("\u{1B}[1~\u{1B}[3~\u{1B}[4~\u{1B}[5~\u{1B}[6~", [.home, .delete, .end, .pageUp, .pageDown]),
            ("\u{1B}OP\u{1B}OS\u{1B}[15~\u{1B}[21~", [.function(1), .function(4), .function(5), .function(10)]),
            ("\u{1B}[[A\u{1B}[[E\u{1B}[17~", [.function(1), .function(5), .function(6)]),
            ("\u{1B}[1;5A\u{1B}[3;2~", [.up, .delete]),
            ("\u{1B}1\u{1B}9\u{1B}0", [.function(1), .function(9), .function(10)]),
            ("\u{1B}[23~\u{1B}b", [.function(11), .function(11)]),
            ("\u{1B}[Z", [.backTab]),
            ("\u{1B}", [.escape]),
            ("\u{1B}\u{1B}", [.escape, .escape]),
            ("\u{1B}\r", [.escape, .enter]),
            // Unknown sequences are skipped completely.
            ("\u{1B}[?1;2c", []), ("\u{1B}[<3;1;1M\u{1B}OM", [.enter]), ("\u{1B}y", []),
            ("\u{1B}[99~a", [.character("a")]),
            ("\u{1B}[12", []), ("\u{0}\u{1}\u{1F}", []),
        ]
    )
    func known(text: String, keys: [TUIKey]) {
        #expect(Self.keys(text) == keys)
        // The result does not depend on the block boundaries.
        var decoder = TUIKeyDecoder()
        let single = text.utf8.flatMap { decoder.take([$0]) } + decoder.timeout()
        #expect(single == keys)
    }

    @Test("Broken UTF-8 is one character that says so, and swallows no key behind it")
    func broken() {
        var decoder = TUIKeyDecoder()
        #expect(decoder.take([0xFF, 0x61]) == [.character("\u{FFFD}"), .character("a")])
        #expect(decoder.take([0xE3, 0x81, 0x61]) == [.character("\u{FFFD}"), .character("a")])
        #expect(decoder.take([0xE3, 0x0D]) == [.character("\u{FFFD}"), .enter])
        #expect(decoder.take([0xED, 0xA0, 0x80]) == [.character("\u{FFFD}")])
        #expect(decoder.take([0xC0, 0x80]) == [.character("\u{FFFD}"), .character("\u{FFFD}")])
        #expect(decoder.take([0xE3]).isEmpty && decoder.isPending)
        #expect(decoder.timeout() == [.character("\u{FFFD}")] && !decoder.isPending)
    }

    @Test("Pasted text is one key, whatever is in it, and never a command")
    func pasting() {
        #expect(Self.keys("\u{1B}[200~q\u{1B}[21~\r\u{1B}[201~x") == [.paste("q\u{1B}[21~\r"), .character("x")])
        let flood = String(repeating: "0123456789", count: 100_000)
        guard case .paste(let text)? = Self.keys("\u{1B}[200~" + flood + "\u{1B}[201~").first else {
            Issue.record("no paste")
            return
        }
        #expect(text.utf8.count == TUIKeyDecoder.longestPaste && flood.hasPrefix(text))
    }

    @Test("A sequence without an end keeps no more than a few bytes, and ends")
    func endless() {
        #expect(Self.keys("\u{1B}[" + String(repeating: "1;", count: 10_000) + "Ax") == [.character("x")])
        #expect(Self.keys("\u{1B}[" + String(repeating: "1", count: 10_000)) == [])
        #expect(Self.keys("\u{1B}[99999999999999999999~x") == [.character("x")])
    }

    @Test("Random bytes end in no trap, and the decoder finds back")
    func random() {
        var generator = SeededGenerator(seed: 34)
        var decoder = TUIKeyDecoder()
        var count = 0
        for _ in 0..<3000 {
            let bytes = (0..<64).map { _ in
                Bool.random(using: &generator)
                    ? UInt8.random(in: 0...255, using: &generator) : Bool.random(using: &generator) ? 0x1B : 0x5B
            }
            count += decoder.take(bytes).count
        }
        #expect(count > 0)
        _ = decoder.take("\u{1B}[201~".utf8)
        _ = decoder.timeout()
        #expect(decoder.take("a".utf8) == [.character("a")])
    }
}
