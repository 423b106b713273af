// SPDX-License-Identifier: GPL-2.0-or-later

/// Consecutive usages, both ends included; the first is not above the last.
public struct HIDUsageRange: Sendable, Equatable {
    public var first: HIDUsage
    public var last: HIDUsage

    public init(_ first: HIDUsage, _ last: HIDUsage) {
        self.first = first
        self.last = last
    }

    /// True if the range contains usages of page 07.
    var hasKeys: Bool { first.page <= HIDUsage.keyboardPage && HIDUsage.keyboardPage <= last.page }

    /// Greatest id of page 07 in this range; 0 if there is none.
    var lastKey: UInt16 {
        guard hasKeys else { return 0 }
        return last.page == HIDUsage.keyboardPage ? last.id : .max
    }

    var count: Int { Int(last.rawValue - first.rawValue) + 1 }
}
