// SPDX-License-Identifier: GPL-2.0-or-later

/// The stages of the data path with what each has seen so far, drawn over itself on a terminal while it runs.
struct DemoPicture {
    /// What the picture shows.
    struct Stages: Equatable {
        /// What the scanner was asked to send, and what it has sent, in barcodes.
        var barcodes: (sent: Int, all: Int) = (0, 0)
        /// The session's state, and the reason for it.
        var state = ""
        /// Received so far.
        var notifications: UInt64 = 0
        var bytes: UInt64 = 0
        /// In the ring now.
        var waiting: UInt64 = 0
        /// What the table made of the bytes.
        var typed: UInt64 = 0
        var discarded: UInt64 = 0
        var rejected: UInt64 = 0
        /// What the encoder and the pacer made of the typed ones.
        var events: UInt64 = 0
        var writes: UInt64 = 0
        /// What a reader of the keyboard sees of the last barcode.
        var text = ""

        static func == (one: Stages, other: Stages) -> Bool { one.lines == other.lines }

        /// A line a stage, without colours.
        var lines: [String] {
            [
                ("scanner", "barcode \(barcodes.sent) of \(barcodes.all)  \(bar)"),
                ("radio", state),
                ("link", "\(notifications) notifications, \(bytes) bytes"),
                ("ring", "\(waiting) bytes wait"),
                ("table", "\(typed) typed, \(discarded) discarded, \(rejected) rejected"),
                ("keys", "\(events) events in \(writes) writes"),
                ("screen", text),
            ].map { stage, text in "  \(DisplayWidth.padded(stage, to: 9))\(text)" }
        }

        private var bar: String {
            let done = barcodes.all > 0 ? min(20, barcodes.sent * 20 / barcodes.all) : 0
            return String(repeating: "#", count: done) + String(repeating: ".", count: 20 - done)
        }
    }

    private var drawn: Stages?

    /// The text that brings a terminal of so many columns to show `stages`; empty where it does already.
    mutating func draw(_ stages: Stages, columns: Int) -> String {
        guard stages != drawn else { return "" }
        let lines = stages.lines
        // Up to the picture's first line, where one is there.
        let start = drawn == nil ? "" : "\u{1B}[\(lines.count)A"
        drawn = stages
        return start + lines.map { "\r\u{1B}[K" + DisplayWidth.cut($0, to: max(0, columns - 1)) + "\n" }.joined()
    }
}
