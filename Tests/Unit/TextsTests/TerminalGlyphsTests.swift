// SPDX-License-Identifier: GPL-2.0-or-later

import Testing
import Texts

@Suite("Bars, graphs and frames on a terminal")
struct TerminalGlyphsTests {
    @Test("The characters are chosen by the locale and the terminal")
    func choice() {
        func glyphs(_ lang: String, _ term: String?) -> TerminalGlyphs {
            TerminalGlyphs { $0 == "LANG" ? lang : $0 == "TERM" ? term : nil }
        }
        #expect(glyphs("C.UTF-8", "xterm") == .blocks && glyphs("ja_JP.UTF-8", nil) == .blocks)
        #expect(glyphs("C.UTF-8", "linux") == .console)
        #expect(glyphs("C", "xterm") == .ascii && glyphs("C", "linux") == .ascii)
    }

    @Test(
        "A signal has none to four bars",
        arguments: [
            (-127, 0), (-91, 0), (-90, 1), (-81, 1), (-80, 2), (-71, 2), (-70, 3), (-61, 3), (-60, 4), (20, 4),
        ]
    )
    func bars(rssi: Int, count: Int) {
        let bars = SignalBars(rssi: rssi)
        #expect(bars.count == count)
        let blocks = ["    ", "▂   ", "▂▄  ", "▂▄▆ ", "▂▄▆█"]
        let console = ["░░░░", "█░░░", "██░░", "███░", "████"]
        let ascii = ["....", "#...", "##..", "###.", "####"]
        #expect(TerminalGlyphs.blocks.text(bars) == blocks[count])
        #expect(TerminalGlyphs.console.text(bars) == console[count])
        #expect(TerminalGlyphs.ascii.text(bars) == ascii[count])
    }

    @Test("A graph is scaled to its maximum, and only zero is empty")
    func graph() {
        let values: [UInt64] = [0, 1, 10, 20, 30, 40, 50, 60, 70, 80]
        #expect(TerminalGlyphs.blocks.graph(values) == " ▁▂▃▄▅▆▇██")
        #expect(TerminalGlyphs.console.graph(values) == " ▄▄▄▄█████")
        #expect(TerminalGlyphs.ascii.graph(values) == " ..::||###")
        for glyphs in TerminalGlyphs.allCases {
            #expect(glyphs.graph([]).isEmpty && glyphs.graph([0, 0]) == "  ")
            #expect(glyphs.graph([.max, .max, 1]).count == 3)
        }
    }
}
