// SPDX-License-Identifier: GPL-2.0-or-later

/// The characters for drawing frames, bars and graphs; each is one column wide.
package enum TerminalGlyphs: CaseIterable, Sendable {
    /// Block characters in steps of one eighth, for terminal emulators with UTF-8.
    case blocks
    /// Characters of code page 437, all of which the fonts of the Linux console contain.
    case console
    case ascii

    /// Chooses the characters according to TERM and the character set of the locale.
    package init(_ environment: (String) -> String?) {
        guard Language.isUnicode(environment) else {
            self = .ascii
            return
        }
        self = environment("TERM") == "linux" ? .console : .blocks
    }

    /// The characters for the edges and corners of a frame.
    package struct Frame: Sendable {
        package let topLeft, topRight, bottomLeft, bottomRight, horizontal, vertical: Character
    }

    package var frame: Frame {
        switch self {
        case .blocks, .console:
            Frame(topLeft: "┌", topRight: "┐", bottomLeft: "└", bottomRight: "┘", horizontal: "─", vertical: "│")
        case .ascii:
            Frame(topLeft: "+", topRight: "+", bottomLeft: "+", bottomRight: "+", horizontal: "-", vertical: "|")
        }
    }

    /// The characters for the heights of a graph's columns above zero, lowest first.
    private var levels: [Character] {
        switch self {
        case .blocks: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
        case .console: ["▄", "█"]
        case .ascii: [".", ":", "|", "#"]
        }
    }

    /// Returns a graph with one column for each value, scaled to the largest value.
    ///
    /// A value above zero is always visible.
    package func graph(_ values: [UInt64]) -> String {
        let largest = values.max() ?? 0
        let levels = levels
        return String(
            values.map { value in
                guard value > 0 else { return " " }
                // Use floating point, because a product of counts could overflow.
                let share = Double(value) / Double(largest)
                return levels[min(levels.count - 1, Int(share * Double(levels.count)))]
            }
        )
    }

    /// Returns the bars for a signal strength; the text is `SignalBars.most` columns wide.
    package func text(_ bars: SignalBars) -> String {
        let missing = SignalBars.most - bars.count
        return switch self {
        case .blocks: String("▂▄▆█".prefix(bars.count)) + String(repeating: " ", count: missing)
        case .console: String(repeating: "█", count: bars.count) + String(repeating: "░", count: missing)
        case .ascii: String(repeating: "#", count: bars.count) + String(repeating: ".", count: missing)
        }
    }
}

/// A signal strength as a number of bars, as on a telephone.
package struct SignalBars: Equatable, Sendable {
    package static let most = 4
    /// Minimum signal strength for each bar, in dBm.
    private static let limits = [-90, -80, -70, -60]

    /// Number of bars, from 0 to `most`.
    package let count: Int

    /// Creates the bars for a signal strength in dBm.
    package init(rssi: Int) { count = Self.limits.count { rssi >= $0 } }
}
