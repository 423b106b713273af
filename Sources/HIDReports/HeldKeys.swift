// SPDX-License-Identifier: GPL-2.0-or-later

/// Held keys of page 07, over all reports: the oldest press first, those of the same report by field and slot.
public struct HeldKeys: Equatable, Sendable {
    /// Usage ids of page 07, modifiers E0 to E7 included; none twice, and never 0 to 3.
    public var usages: [UInt16]

    public init(_ usages: [UInt16] = []) {
        self.usages = usages
    }
}
