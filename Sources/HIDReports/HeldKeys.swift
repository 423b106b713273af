// SPDX-License-Identifier: GPL-2.0-or-later

/// Keys of page 07 that are held, over all reports, in the order of reports, fields and slots.
public struct HeldKeys: Equatable, Sendable {
    /// Usage ids of page 07, modifiers E0 to E7 included; none twice, and never 0 to 3.
    public var usages: [UInt16]

    public init(_ usages: [UInt16] = []) {
        self.usages = usages
    }
}
