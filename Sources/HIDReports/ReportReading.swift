// SPDX-License-Identifier: GPL-2.0-or-later

/// Meaning of one input report.
public struct ReportReading: Equatable, Sendable {
    public enum Content: Equatable, Sendable {
        /// Keys held after this report.
        case keys(HeldKeys)
        /// Too many keys are held: Linux ignores the array with ErrorRollOver, but not the other fields.
        case rollOver
        /// The report has no field of keys, for example that of a mouse, or it is empty.
        case noKeys
        /// The map has no such input report.
        case unknownReport
    }

    public enum Length: Equatable, Sendable {
        case asDeclared
        /// Padded with zeros.
        case shorter
        /// The rest is ignored.
        case longer
    }

    public var content: Content
    public var length: Length

    public init(content: Content, length: Length) {
        self.content = content
        self.length = length
    }
}
