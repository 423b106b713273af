// SPDX-License-Identifier: GPL-2.0-or-later

/// Refusal of a report descriptor.
public struct ReportMapError: Error, Equatable, Sendable {
    public enum Reason: Equatable, Sendable {
        case empty
    }

    /// Position of the refused item in bytes; the length of the map for a refusal at its end.
    public var offset: Int
    public var reason: Reason
}
