// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Position and form of a number in the payload of a device for which there is no format.
package struct NumberLayout: Hashable, Sendable {
    package enum Form: String, Hashable, Sendable, CaseIterable {
        case unsigned, signed
        /// IEEE 11073 SFLOAT: 4 bits of exponent, 12 of mantissa; two bytes.
        case sfloat
        /// IEEE 11073 FLOAT: 8 bits of exponent, 24 of mantissa; four bytes.
        case float
        /// Decimal digits in ASCII, with spaces around them, a sign and a point.
        case digits

        /// Permitted lengths, in bytes.
        package var lengths: ClosedRange<Int> {
            switch self {
            case .unsigned, .signed: 1...7
            case .sfloat: 2...2
            case .float: 4...4
            case .digits: 1...16
            }
        }

        /// Default length, in bytes.
        package var usualLength: Int { self == .digits ? 8 : self == .float ? 4 : 2 }
    }

    /// A bit that means something if it is set, or clear if `isInverted`.
    package struct Flag: Hashable, Sendable, CustomStringConvertible {
        package var offset: Int
        package var mask: UInt8
        package var isInverted: Bool

        package init(offset: Int, mask: UInt8, isInverted: Bool = false) {
            (self.offset, self.mask, self.isInverted) = (offset, mask, isInverted)
        }

        /// Parses the offset, a colon and the mask in hexadecimal, such as `0:20`; `0:!20` is inverted.
        package init?(_ text: String) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let offset = UInt8(parts[0]) else { return nil }
            let isInverted = parts[1].hasPrefix("!")
            guard let mask = UInt8(parts[1].dropFirst(isInverted ? 1 : 0), radix: 16), mask != 0 else { return nil }
            self.init(offset: Int(offset), mask: mask, isInverted: isInverted)
        }

        /// The flag as text that `init` parses.
        package var description: String {
            "\(offset):\(isInverted ? "!" : "")\(Hexadecimal.text([mask]))"
        }

        /// Returns true if the bit means so; nil if the payload does not contain it.
        func isSet(in payload: Span<UInt8>) -> Bool? {
            payload.indices.contains(offset) ? (payload[offset] & mask != 0) != isInverted : nil
        }
    }

    package var quantity: String
    package var unit: String
    /// Position of the first byte.
    package var offset: Int
    /// Length in bytes; not used for `sfloat` and `float`.
    package var length: Int
    package var form: Form
    package var isBigEndian: Bool
    /// Power of ten by which an integer is multiplied.
    package var exponent: Int
    package var stable: Flag?
    package var removed: Flag?
    package var overload: Flag?

    package init(
        _ quantity: String,
        unit: String = "",
        offset: Int = 0,
        length: Int = 2,
        _ form: Form = .unsigned,
        isBigEndian: Bool = false,
        exponent: Int = 0,
        stable: Flag? = nil,
        removed: Flag? = nil,
        overload: Flag? = nil
    ) {
        (self.quantity, self.unit, self.offset, self.length, self.form) = (quantity, unit, offset, length, form)
        (self.isBigEndian, self.exponent) = (isBigEndian, exponent)
        (self.stable, self.removed, self.overload) = (stable, removed, overload)
    }

    /// Decodes a payload.
    package func decode(_ payload: Span<UInt8>) throws(SensorFault) -> SensorValues {
        // A FLOAT and an SFLOAT have only one length.
        let length = form.lengths.count == 1 ? form.lengths.lowerBound : length
        guard payload.count >= offset + length else { throw .tooShort(payload.count, least: offset + length) }
        if overload?.isSet(in: payload) == true { throw .overload }
        let bytes = (offset..<(offset + length)).map { payload[$0] }
        guard let number = number(bytes) else { throw .notMeasured }
        var values = SensorValues()
        values.isStable = stable?.isSet(in: payload)
        values.isRemoved = removed?.isSet(in: payload)
        values.readings = [SensorReading(quantity, .number(number), unit: unit)]
        return values
    }

    /// Returns the number in these bytes; nil if they are no number.
    private func number(_ bytes: [UInt8]) -> DecimalNumber? {
        switch form {
        case .unsigned, .signed:
            guard form.lengths.contains(bytes.count) else { return nil }
            let bits = integer(bytes)
            let unused = 64 - 8 * Int64(bytes.count)
            let value =
                form == .unsigned ? Int64(bitPattern: bits) : Int64(bitPattern: bits << UInt64(unused)) >> unused
            return scaled(value, 0)
        case .sfloat:
            let bits = Int64(bitPattern: integer(bytes))
            // 0x07FE … 0x0802 stand for infinities and for no number.
            guard !(0x07FE...0x0802 ~= bits & 0x0FFF) else { return nil }
            return scaled((bits << 52) >> 52, Int((bits << 48) >> 60))
        case .float:
            let bits = Int64(bitPattern: integer(bytes))
            guard !(0x7F_FFFE...0x80_0002 ~= bits & 0xFF_FFFF) else { return nil }
            return scaled((bits << 40) >> 40, Int((bits << 32) >> 56))
        case .digits: return decimal(bytes)
        }
    }

    /// Returns the number with this power of ten in addition to the layout's; nil if it is out of range.
    private func scaled(_ digits: Int64, _ power: Int) -> DecimalNumber? {
        guard DecimalNumber.exponents.contains(exponent + power) else { return nil }
        return DecimalNumber(digits, exponent: exponent + power)
    }

    private func integer(_ bytes: [UInt8]) -> UInt64 {
        (isBigEndian ? bytes : bytes.reversed()).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns the decimal number in ASCII text with at most 18 digits; nil if there is another character.
    private func decimal(_ text: [UInt8]) -> DecimalNumber? {
        var rest = text[...].drop { $0 == 0x20 || $0 == 0 }
        while let last = rest.last, last == 0x20 || last == 0 { rest.removeLast() }
        let isNegative = rest.first == 0x2D
        if isNegative || rest.first == 0x2B { rest = rest.dropFirst().drop { $0 == 0x20 } }
        var (digits, count, places): (Int64, Int, Int?) = (0, 0, nil)
        for byte in rest {
            switch byte {
            case 0x30...0x39 where count < 18:
                digits = digits * 10 + Int64(byte - 0x30)
                count += 1
                places = places.map { $0 + 1 }
            case 0x2E, 0x2C:
                guard places == nil else { return nil }
                places = 0
            default: return nil
            }
        }
        guard count > 0 else { return nil }
        return scaled(isNegative ? -digits : digits, -(places ?? 0))
    }
}
