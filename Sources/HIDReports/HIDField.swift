// SPDX-License-Identifier: GPL-2.0-or-later

/// Consecutive slots of one Input, Output or Feature item, all of the same size and range.
///
/// HID 1.11, 6.2.2.5.
public struct HIDField: Sendable, Equatable {
    /// Data bits of the main item: bit 0 constant, bit 1 variable (otherwise array), bit 2 relative, bit 6 null state.
    public var flags: UInt32
    /// Usages in order, repetitions included, without the implied repetition of the last one.
    public var usages: [HIDUsageRange]
    /// Position of the first slot in bits from the start of the payload (without the id byte).
    public var bitOffset: Int
    /// Bits of a slot, 0 to 256.
    public var size: Int
    /// Number of slots, 0 to 12,288.
    public var count: Int
    /// Least and greatest value, as 32 bits with sign.
    public var logicalMinimum: Int32
    public var logicalMaximum: Int32

    public var isConstant: Bool { flags & 1 != 0 }
    public var isVariable: Bool { flags & 2 != 0 }
    public var hasNullState: Bool { flags & 0x40 != 0 }
}
