// SPDX-License-Identifier: GPL-2.0-or-later

/// A decimal number, as a scale or gauge reports it: an integer times a power of ten, without trailing zeros.
///
/// Two numbers are equal if their values are.
package struct DecimalNumber: Hashable, Sendable {
    /// Permitted exponents.
    package static let exponents = -18...18

    package let digits: Int64
    package let exponent: Int

    /// Creates a number; the exponent is clamped to `exponents`.
    package init(_ digits: Int64, exponent: Int = 0) {
        var (rest, power) = (digits, min(max(exponent, Self.exponents.lowerBound), Self.exponents.upperBound))
        while rest != 0, rest % 10 == 0, power < Self.exponents.upperBound {
            rest /= 10
            power += 1
        }
        self.digits = rest
        self.exponent = rest == 0 ? 0 : power
    }

    /// Returns the number with this number of decimal places, rounded half away from zero, or with as many places as it
    /// needs if `places` is nil.
    ///
    /// The separator is a full stop, and there are no groups. `places` is clamped to 0 to 18.
    package func text(places: Int? = nil) -> String {
        let places = places.map { min(max($0, 0), Self.exponents.upperBound) } ?? max(0, -exponent)
        var magnitude = digits.magnitude
        var zeros = exponent + places
        if zeros < 0 {
            let dropped = Self.power(-zeros)
            let rest = magnitude % dropped
            magnitude /= dropped
            if rest >= dropped - rest { magnitude += 1 }
            zeros = 0
        }
        var text = String(magnitude) + String(repeating: "0", count: magnitude == 0 ? 0 : zeros)
        if places > 0 {
            text = String(repeating: "0", count: max(0, places + 1 - text.utf8.count)) + text
            let point = text.index(text.endIndex, offsetBy: -places)
            text = "\(text[..<point]).\(text[point...])"
        }
        return digits < 0 && magnitude != 0 ? "-" + text : text
    }

    /// Returns 10 to the power of `exponent`, which is 0 to 19.
    private static func power(_ exponent: Int) -> UInt64 {
        (0..<min(exponent, 19)).reduce(1) { power, _ in power * 10 }
    }
}

extension DecimalNumber: CustomStringConvertible {
    package var description: String { text() }
}
