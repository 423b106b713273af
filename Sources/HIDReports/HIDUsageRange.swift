// SPDX-License-Identifier: GPL-2.0-or-later

/// Consecutive usages, both ends included.
public struct HIDUsageRange: Sendable, Equatable {
    public var first: HIDUsage
    public var last: HIDUsage

    public init(_ first: HIDUsage, _ last: HIDUsage) {
        self.first = first
        self.last = last
    }
}
