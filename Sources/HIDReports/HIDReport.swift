// SPDX-License-Identifier: GPL-2.0-or-later

/// Layout of the report of a kind and an id.
public struct HIDReport: Sendable, Equatable {
    public var kind: ReportKind
    /// 1 to 255, or 0 for an unnumbered report.
    public var id: UInt8
    /// Fields with usages; what lies between them is padding.
    public var fields: [HIDField]
    /// Length in bits, padding included, without the id byte.
    public var bits: Int

    /// True if a field that is not constant has a usage of page 07.
    public var hasKeys: Bool { fields.contains(where: \.isKeyboardField) }

    /// Length in bytes, without the id byte.
    public var bytes: Int { (bits + 7) / 8 }
}
