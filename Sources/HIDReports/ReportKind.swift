// SPDX-License-Identifier: GPL-2.0-or-later

/// Direction of a report; the raw values are those of the Report Reference descriptor.
///
/// HID 1.11, 6.2.2.4; HID Service 1.0, 2.5.3.2.
public enum ReportKind: UInt8, Hashable, Sendable, CaseIterable {
    case input = 1
    case output = 2
    case feature = 3
}
