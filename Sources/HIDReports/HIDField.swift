// SPDX-License-Identifier: GPL-2.0-or-later

/// Consecutive slots of one Input, Output or Feature item, all of the same size and range.
///
/// HID 1.11, 6.2.2.5; hid_field in Linux.
public struct HIDField: Sendable, Equatable {
    /// Data bits of the main item: bit 0 constant, 1 variable (otherwise array), 2 relative, 6 null state, 8 buffered bytes.
    public var flags: UInt32
    /// Usages in order, without the implied repetition of the last one; never empty.
    public var usages: [HIDUsageRange]
    /// Number of usages in `usages`, 1 to 12,288.
    public var usageCount: Int
    /// Position of the first slot in bits from the start of the payload (without the id byte).
    public var bitOffset: Int
    /// Bits of a slot, 0 to 256.
    public var size: Int
    /// Number of slots, 0 to 12,288.
    public var count: Int
    /// Least value, with sign.
    public var logicalMinimum: Int32
    /// Greatest value; a number from 80000000 is kept as its 32 bits with sign.
    public var logicalMaximum: Int32

    public var isConstant: Bool { flags & 1 != 0 }
    public var isVariable: Bool { flags & 2 != 0 }
    public var isRelative: Bool { flags & 4 != 0 }
    public var hasNullState: Bool { flags & 0x40 != 0 }
    public var isBufferedBytes: Bool { flags & 0x100 != 0 }

    /// True if a slot can mean a key: not constant, and with a usage of page 07.
    public var isKeyboardField: Bool { !isConstant && usages.contains(where: \.hasKeys) }
}
