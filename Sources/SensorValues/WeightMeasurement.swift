// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Weight Measurement characteristic (2A9D) of the Weight Scale service.
///
/// GATT Specification Supplement 11, 3.256.
package enum WeightMeasurement {
    /// Weight that stands for an unsuccessful measurement.
    private static let unsuccessful: UInt16 = 0xFFFF

    /// Decodes a value: the weight, and the body mass index and the height if it contains them.
    package static func decode(_ value: Span<UInt8>) throws(SensorFault) -> SensorValues {
        let values: SensorValues
        do throws(DecodingError) {
            values = try decodeFields(value)
        } catch {
            guard case .truncated(let needed, let available) = error.reason else { throw .empty }
            throw .tooShort(value.count, least: value.count - available + needed)
        }
        if values.readings.isEmpty { throw .notMeasured }
        return values
    }

    private static func decodeFields(_ value: Span<UInt8>) throws(DecodingError) -> SensorValues {
        var reader = ByteReader(value, packet: "Weight Measurement")
        let flags = try reader.readUInt8("flags")
        let isImperial = flags & 0x01 != 0
        let weight = try reader.readUInt16("weight")
        if flags & 0x02 != 0 { _ = try reader.readSpan(count: 7, "time stamp") }
        if flags & 0x04 != 0 { _ = try reader.readUInt8("user") }
        var further: [SensorReading] = []
        if flags & 0x08 != 0 {
            let (index, height) = (try reader.readUInt16("BMI"), try reader.readUInt16("height"))
            further.append(SensorReading("bmi", .number(DecimalNumber(Int64(index), exponent: -1))))
            let length = DecimalNumber(Int64(height), exponent: isImperial ? -1 : -3)
            further.append(SensorReading("height", .number(length), unit: isImperial ? "in" : "m"))
        }
        var values = SensorValues()
        guard weight != unsuccessful else { return values }
        let number = DecimalNumber(Int64(weight) * (isImperial ? 1 : 5), exponent: isImperial ? -2 : -3)
        values.readings = [SensorReading("weight", .number(number), unit: isImperial ? "lb" : "kg")] + further
        return values
    }
}
