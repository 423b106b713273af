// SPDX-License-Identifier: GPL-2.0-or-later

/// Group of fields and collections.
///
/// HID 1.11, 6.2.2.6.
public struct HIDCollection: Sendable, Equatable {
    /// 0 physical, 1 application, 2 logical, 3 report, 4 named array, 5 usage switch, 6 usage modifier, from 80 vendor-defined.
    public var type: UInt8
    public var usage: HIDUsage
    /// Index of the collection around it; nil at the top.
    public var parent: Int?
}
