// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Daemon
import Texts

/// A diagram of the data path with the counts of each stage, redrawn in place on a terminal.
struct DemoPicture {
    struct Stages: Equatable {
        /// Number of barcodes that the scanner has sent so far, and number of all barcodes that it will send.
        var barcodes: (sent: Int, all: Int) = (0, 0)
        var state = Message(detail: "")
        /// Numbers of notifications and bytes received so far.
        var notifications: UInt64 = 0
        var bytes: UInt64 = 0
        /// Number of bytes waiting in the ring buffer.
        var waiting: UInt64 = 0
        /// Numbers of bytes that the table has converted to keys, discarded or rejected.
        var typed: UInt64 = 0
        var discarded: UInt64 = 0
        var rejected: UInt64 = 0
        /// Number of input events for the typed bytes, and number of writes that contained these events.
        var events: UInt64 = 0
        var writes: UInt64 = 0
        /// The last barcode, as the application has received it.
        var text = ""

        static func == (one: Stages, other: Stages) -> Bool { one.lines(.english) == other.lines(.english) }

        /// Returns the lines of the diagram, one for each stage, without colours.
        func lines(_ language: Language) -> [String] {
            let stages: [(DemoText, String)] = [
                (.scanner, DemoText.barcodes.text(language, "\(barcodes.sent)", "\(barcodes.all)", bar)),
                (.radio, state.text(language)),
                (.link, DemoText.counted.text(language, "\(notifications)", "\(bytes)")),
                (.ring, DemoText.waiting.text(language, "\(waiting)")),
                (.table, DemoText.typed.text(language, "\(typed)", "\(discarded)", "\(rejected)")),
                (.keys, DemoText.events.text(language, "\(events)", "\(writes)")),
                (.screen, text),
            ]
            return stages.map { stage, text in "  \(DisplayWidth.padded(stage.text(language), to: 9))\(text)" }
        }

        private var bar: String {
            let done = barcodes.all > 0 ? min(20, barcodes.sent * 20 / barcodes.all) : 0
            return String(repeating: "#", count: done) + String(repeating: ".", count: 20 - done)
        }
    }

    private var drawn: Stages?

    /// Returns the text that makes a terminal show `stages`; empty if the terminal already shows them.
    mutating func draw(_ stages: Stages, columns: Int, in language: Language = .current) -> String {
        guard stages != drawn else { return "" }
        let lines = stages.lines(language)
        // Move the cursor to the first line of the diagram, if one is shown.
        let start = drawn == nil ? "" : "\u{1B}[\(lines.count)A"
        drawn = stages
        return start + lines.map { "\r\u{1B}[K" + DisplayWidth.cut($0, to: max(0, columns - 1)) + "\n" }.joined()
    }
}
