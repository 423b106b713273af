// SPDX-License-Identifier: GPL-2.0-or-later

/// Service data of Xiaomi scales: Mi Smart Scale in 181D and Mi Body Composition Scale in 181B.
///
/// The formats are not published; they are those on which independent decoders agree.
package enum XiaomiScale {
    /// Length of the service data of the scale, in bytes.
    private static let scaleBytes = 10
    /// Length of the service data of the body composition scale, in bytes.
    private static let bodyScaleBytes = 13

    /// Decodes service data of 181D: flags, then the weight as two bytes.
    package static func scale(_ data: Span<UInt8>) throws(SensorFault) -> SensorValues {
        guard data.count >= scaleBytes else { throw .tooShort(data.count, least: scaleBytes) }
        let flags = data[0]
        var values = SensorValues()
        values.isStable = flags & 0x20 != 0
        values.isRemoved = flags & 0x80 != 0
        values.readings = [weight(littleEndian(data, 1), isPounds: flags & 0x01 != 0, isJin: flags & 0x10 != 0)]
        return values
    }

    /// Decodes service data of 181B: two bytes of flags, the time, the impedance and the weight as two bytes each.
    package static func bodyScale(_ data: Span<UInt8>) throws(SensorFault) -> SensorValues {
        guard data.count >= bodyScaleBytes else { throw .tooShort(data.count, least: bodyScaleBytes) }
        let (unit, state) = (data[0], data[1])
        var values = SensorValues()
        values.isStable = state & 0x20 != 0
        values.isRemoved = state & 0x80 != 0
        values.readings = [weight(littleEndian(data, 11), isPounds: unit & 0x01 != 0, isJin: state & 0x40 != 0)]
        if state & 0x02 != 0 {
            let ohms = DecimalNumber(Int64(littleEndian(data, 9)))
            values.readings.append(SensorReading("impedance", .number(ohms), unit: "Ω"))
        }
        return values
    }

    private static func littleEndian(_ data: Span<UInt8>, _ offset: Int) -> UInt16 {
        UInt16(data[offset]) | UInt16(data[offset + 1]) << 8
    }

    /// Returns a weight in steps of 5 g, 0.01 lb or 0.01 jin.
    private static func weight(_ steps: UInt16, isPounds: Bool, isJin: Bool) -> SensorReading {
        let isMetric = !isPounds && !isJin
        let number = DecimalNumber(Int64(steps) * (isMetric ? 5 : 1), exponent: isMetric ? -3 : -2)
        return SensorReading("weight", .number(number), unit: isMetric ? "kg" : isPounds ? "lb" : "jin")
    }
}
