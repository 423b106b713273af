// SPDX-License-Identifier: GPL-2.0-or-later

/// Function key that a scanner presses for the separator GS (1D) of GS1 barcodes.
///
/// Other scanners press Ctrl and `]`, or type 029 or 0029 while they hold Alt; these need no setting.
public enum GroupSeparatorKey: String, CaseIterable, Sendable {
    case none
    case f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12

    /// Usage of the key in page 07, from 3A for F1 to 45 for F12; nil for `none`.
    ///
    /// HID Usage Tables 1.5, 10.
    public var usage: UInt16? {
        Self.allCases.firstIndex(of: self).flatMap { $0 > 0 ? UInt16(0x39 + $0) : nil }
    }
}
