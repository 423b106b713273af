// SPDX-License-Identifier: GPL-2.0-or-later

import Printable

/// A device's name as it advertises it.
///
/// Core Specification Supplement, Part A, 1.2.
public struct LocalName: Hashable, Sendable {
    /// The name as people read it: its part before the first NUL and before the first invalid UTF-8, without
    /// blanks and control characters at its ends.
    ///
    /// Names are padded with them, or followed by the rest of a buffer. Where it begins with invalid UTF-8, that is
    /// repaired with U+FFFD.
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
        var end = 0
        while end < min(bytes.count, Self.maximumLength), bytes[end] != 0 { end &+= 1 }
        let before = [UInt8](copying: bytes.extracting(first: end))
        let valid = Self.validPrefix(before)
        text = Self.trimmed(valid.isEmpty ? String(decoding: before, as: UTF8.self) : valid)
        self.isComplete = isComplete
    }

    /// The text of UTF-8 before its first fault.
    private static func validPrefix(_ bytes: [UInt8]) -> String {
        var (decoder, rest) = (UTF8(), bytes.makeIterator())
        var prefix = String.UnicodeScalarView()
        while case .scalarValue(let scalar) = decoder.decode(&rest) { prefix.append(scalar) }
        return String(prefix)
    }

    /// `text` without blanks and control characters at its ends.
    public static func trimmed(_ text: String) -> String {
        let isBlank: (Unicode.Scalar) -> Bool = {
            $0.properties.isWhitespace || $0.properties.generalCategory == .control
        }
        var scalars = text.unicodeScalars.drop(while: isBlank)
        while let last = scalars.last, isBlank(last) { scalars.removeLast() }
        return String(scalars)
    }

    /// True for two texts of one name: letters of either case are equal, and blanks at the ends do not count.
    public static func isSame(_ text: String, _ other: String) -> Bool {
        trimmed(text).lowercased() == trimmed(other).lowercased()
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
