// SPDX-License-Identifier: GPL-2.0-or-later

/// Rules by which the payloads of a scale or sensor become typed text.
package struct ValueSettings: Hashable, Sendable {
    /// Format of the payloads.
    package enum Format: Hashable, Sendable {
        case bthome, xiaomiScale, xiaomiBodyScale, weightScale
        case number(NumberLayout)
    }

    /// When a value is typed.
    package enum Moment: String, Hashable, Sendable, CaseIterable {
        /// When it is stable, and is another one than the value that was typed last, or was unstable in between.
        case stable
        /// Each time that the device sends one.
        case each
        /// When a client requests it.
        case request
    }

    package var format: Format
    /// Quantity to type; nil for the main one.
    package var quantity: String?
    package var template: ReadingTemplate
    package var moment: Moment

    package init(
        _ format: Format,
        quantity: String? = nil,
        template: ReadingTemplate = .usual,
        moment: Moment = .stable
    ) {
        (self.format, self.quantity, self.template, self.moment) = (format, quantity, template, moment)
    }

    /// Decodes a payload: a notified value, or the advertised data after its UUID or company identifier.
    package func decode(_ payload: Span<UInt8>) throws(SensorFault) -> SensorValues {
        switch format {
        case .bthome: try BTHome.decode(payload)
        case .xiaomiScale: try XiaomiScale.scale(payload)
        case .xiaomiBodyScale: try XiaomiScale.bodyScale(payload)
        case .weightScale: try WeightMeasurement.decode(payload)
        case .number(let layout): try layout.decode(payload)
        }
    }

    /// Returns the reading to type; nil if the values do not contain the quantity.
    package func reading(of values: SensorValues) -> SensorReading? {
        guard let quantity else { return values.readings.first }
        return values.readings.first { $0.quantity == quantity }
    }

    /// Returns the bytes to type for a reading: its text, and a carriage return, like a scanner's.
    package func bytes(for reading: SensorReading) -> [UInt8] { Array(template.text(reading).utf8) + [0x0D] }
}
