// SPDX-License-Identifier: GPL-2.0-or-later

import Printable

/// A device's name as it advertises it.
///
/// Core Specification Supplement, Part A, 1.2.
public struct LocalName: Hashable, Sendable {
    /// The name as Unicode: broken UTF-8 is repaired with U+FFFD, zero bytes at the end are left out.
    ///
    /// It may hold control characters: show `printable` to people.
    public let text: String
    /// False when the name was shortened to fit.
    public let isComplete: Bool

    /// The longest name in bytes; more are left out.
    ///
    /// Core 6.0, Vol 4, Part E, 6.23.
    public static let maximumLength = 248

    /// The name in the given bytes.
    public init(_ bytes: Span<UInt8>, isComplete: Bool) {
        var end = min(bytes.count, Self.maximumLength)
        while end > 0, bytes[end &- 1] == 0 { end &-= 1 }
        text = String(decoding: [UInt8](copying: bytes.extracting(first: end)), as: UTF8.self)
        self.isComplete = isComplete
    }

    /// The name with everything replaced by U+FFFD that could move a cursor, turn the writing's direction, or hide.
    public var printable: String { Self.printable(text) }

    /// `text` with U+FFFD for every scalar that must not be shown to people as it is.
    ///
    /// These are control, format, private, unassigned and invisible characters, line separators, and combining marks
    /// without a base or beyond four on one. Spaces stay.
    public static func printable(_ text: String) -> String {
        var scalars = PrintableScalars()
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { result.append(scalars.shows(scalar) ? scalar : "\u{FFFD}") }
        return String(result)
    }
}
