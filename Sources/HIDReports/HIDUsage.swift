// SPDX-License-Identifier: GPL-2.0-or-later

/// Meaning of a control: usage page in the upper, usage id in the lower 16 bits, for example 0007:0004 for the key A.
///
/// HID 1.11, 5.5; HID Usage Tables, 3.1.
public struct HIDUsage: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    public init(page: UInt16, id: UInt16) {
        rawValue = UInt32(page) << 16 | UInt32(id)
    }

    public var page: UInt16 { UInt16(truncatingIfNeeded: rawValue >> 16) }

    public var id: UInt16 { UInt16(truncatingIfNeeded: rawValue) }

    /// Id in hexadecimal, and the name of the usage if it is known, such as `E1 Left Shift`.
    public var name: String { HIDNames.usage(self) }

    public static func < (left: HIDUsage, right: HIDUsage) -> Bool { left.rawValue < right.rawValue }

    /// Usage page of keyboards and keypads.
    public static let keyboardPage: UInt16 = 0x07
    /// Too many keys are held: the keyboard cannot tell which.
    public static let errorRollOver = HIDUsage(page: keyboardPage, id: 1)
    /// Greatest id of page 07 that is an error and no key.
    static let lastKeyboardError: UInt16 = 3
}
