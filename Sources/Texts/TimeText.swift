// SPDX-License-Identifier: GPL-2.0-or-later

/// Durations as text: `100ms`, `2s`, or a number of seconds without a unit.
package enum TimeText {
    /// Description of the syntax, for use in messages.
    package static let form = "a time such as 100ms, 2s or 2"

    /// Parses a duration; returns nil for any other text.
    package static func duration(_ text: some StringProtocol) -> Duration? {
        let digits: Substring
        let unit: Duration
        if text.hasSuffix("ms") {
            digits = Substring(text.dropLast(2))
            unit = .milliseconds(1)
        } else {
            digits = Substring(text.hasSuffix("s") ? text.dropLast() : text[...])
            unit = .seconds(1)
        }
        // Nine digits are enough: they are more than thirty years in seconds, and cannot cause an overflow.
        guard digits.utf8.count <= 9, digits.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
            let count = Int64(digits)
        else { return nil }
        return unit * Int(count)
    }

    /// Formats a duration as text that `duration` parses; fractions of a millisecond are removed.
    package static func text(_ duration: Duration) -> String {
        let (seconds, fraction) = duration.components
        return fraction == 0 ? "\(seconds)s" : "\(duration.inMilliseconds)ms"
    }
}

extension Duration {
    /// The duration in whole nanoseconds, at most `Int64.max`.
    package var inNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

    /// The duration in whole milliseconds, at most `Int64.max`.
    package var inMilliseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000_000_000) }
}
