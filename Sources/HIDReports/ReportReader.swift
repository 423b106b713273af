// SPDX-License-Identifier: GPL-2.0-or-later

/// Decodes input reports and tracks the held keys.
public struct ReportReader: Sendable {
    /// Keys held after the last report, also after a roll-over.
    public private(set) var held = HeldKeys()

    public init(_ map: ReportMap) {}

    /// Reads a report; `id` is 0 for an unnumbered one, and `payload` is without the id byte.
    public mutating func read(_ payload: [UInt8], id: UInt8) -> ReportReading {
        ReportReading(content: .unknownReport, length: .asDeclared)
    }
}
