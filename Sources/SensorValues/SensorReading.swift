// SPDX-License-Identifier: GPL-2.0-or-later

/// One quantity that a scale, thermometer or other sensor reports.
package struct SensorReading: Equatable, Sendable {
    package enum Value: Equatable, Sendable {
        case number(DecimalNumber)
        /// An event, such as `press`, or text.
        case word(String)
    }

    /// Name of the quantity, in one word, such as `weight`.
    package var quantity: String
    package var value: Value
    /// Symbol of the unit, such as `kg`; empty if there is none.
    package var unit: String

    package init(_ quantity: String, _ value: Value, unit: String = "") {
        self.quantity = quantity
        self.value = value
        self.unit = unit
    }
}

/// All quantities in one advertisement or notification of a sensor, with its state.
package struct SensorValues: Equatable, Sendable {
    /// The quantities in the order of the payload; the main one is first.
    package var readings: [SensorReading] = []
    /// True if the value no longer changes; nil if the sensor does not say.
    package var isStable: Bool?
    /// True if the load was removed; nil if the sensor does not say.
    package var isRemoved: Bool?
    /// Counter by which repeated advertisements are recognized; nil if there is none.
    package var packet: UInt8?

    package init() {}
}

/// Reason why a payload has no usable value.
package enum SensorFault: Error, Equatable, Sendable {
    /// The payload is too short: its length, and the least length in bytes.
    case tooShort(Int, least: Int)
    /// The payload is encrypted.
    case encrypted
    case unknownVersion(UInt8)
    /// The object at this position, in bytes, has an unknown type, and there is none before it.
    case unknownObject(UInt8, at: Int)
    /// The load exceeds the range of the sensor.
    case overload
    /// The sensor reports that the measurement was not successful.
    case notMeasured
    /// The payload contains no quantity.
    case empty
}
