// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Daemon
import Texts

/// The stages of the data path with what each has seen so far, drawn over itself on a terminal while it runs.
struct DemoPicture {
    struct Stages: Equatable {
        /// The barcodes that the scanner has sent, and all that it is to send.
        var barcodes: (sent: Int, all: Int) = (0, 0)
        var state = Message(detail: "")
        /// Received so far.
        var notifications: UInt64 = 0
        var bytes: UInt64 = 0
        /// In the ring now.
        var waiting: UInt64 = 0
        /// The bytes by their outcome in the table.
        var typed: UInt64 = 0
        var discarded: UInt64 = 0
        var rejected: UInt64 = 0
        /// The events that the typed bytes have become, and the writes that the events left in.
        var events: UInt64 = 0
        var writes: UInt64 = 0
        /// The last barcode, as a program that reads the keyboard sees it.
        var text = ""

        static func == (one: Stages, other: Stages) -> Bool { one.lines(.english) == other.lines(.english) }

        /// A line a stage, without colours.
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

    /// The text that brings a terminal of so many columns to show `stages`; empty where it does already.
    mutating func draw(_ stages: Stages, columns: Int, in language: Language = .current) -> String {
        guard stages != drawn else { return "" }
        let lines = stages.lines(language)
        // Up to the picture's first line, where one is there.
        let start = drawn == nil ? "" : "\u{1B}[\(lines.count)A"
        drawn = stages
        return start + lines.map { "\r\u{1B}[K" + DisplayWidth.cut($0, to: max(0, columns - 1)) + "\n" }.joined()
    }
}
