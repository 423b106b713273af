// SPDX-License-Identifier: GPL-2.0-or-later

/// Counts of input reports by outcome, and of the text made from them.
///
/// Every report has one outcome, so `sum` equals `reports`. All counts wrap around at 2^64.
public struct KeyAccount: Equatable, Sendable {
    /// Number of reports.
    public private(set) var reports: UInt64 = 0
    /// Number of characters made, control characters included.
    public private(set) var characters: UInt64 = 0
    /// Size of these characters in UTF-8, in bytes.
    public private(set) var bytes: UInt64 = 0
    /// Number of reports shorter than declared; each has an outcome too.
    public private(set) var shorter: UInt64 = 0
    /// Number of reports longer than declared; each has an outcome too.
    public private(set) var longer: UInt64 = 0
    /// Number of dead keys and Alt codes that were started and made no character.
    public private(set) var dropped: UInt64 = 0
    private var outcomes = [UInt64](repeating: 0, count: ReportOutcome.allCases.count)

    /// Creates an account without reports.
    public init() {}

    /// Number of reports with this outcome.
    public subscript(outcome: ReportOutcome) -> UInt64 { outcomes[outcome.rawValue] }

    /// Sum of all outcomes.
    public var sum: UInt64 { outcomes.reduce(0, &+) }

    /// Adds the counts of another account, for example of another service of the same device.
    public mutating func add(_ other: KeyAccount) {
        reports &+= other.reports
        characters &+= other.characters
        bytes &+= other.bytes
        shorter &+= other.shorter
        longer &+= other.longer
        dropped &+= other.dropped
        for index in outcomes.indices { outcomes[index] &+= other.outcomes[index] }
    }

    mutating func count(_ outcome: ReportOutcome, _ length: ReportReading.Length) {
        reports &+= 1
        outcomes[outcome.rawValue] &+= 1
        switch length {
        case .asDeclared: break
        case .shorter: shorter &+= 1
        case .longer: longer &+= 1
        }
    }

    mutating func countCharacter(bytes size: Int) {
        characters &+= 1
        bytes &+= UInt64(truncatingIfNeeded: size)
    }

    mutating func countDropped() {
        dropped &+= 1
    }
}
