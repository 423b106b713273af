// SPDX-License-Identifier: GPL-2.0-or-later

import SensorValues

/// Decodes the payloads of a scale or sensor, one after another, in a format that the first bytes select.
enum ValuesEntry {
    private static let templates = ["{value}", "{value:.3} {unit}", "{{{quantity}={value:.0}}}"].compactMap {
        try? ReadingTemplate($0)
    }

    static func fault(in bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let settings = settings(&input)
        var reader = ValueReader(settings, isAdvertised: input.chance(50))
        var (payloads, typed): (UInt64, UInt64) = (0, 0)
        while !input.isAtEnd {
            let payload = input.bytes(255)
            let (outcome, text) = reader.receive(payload.span)
            payloads += 1
            if outcome == .typed { typed += 1 }
            if (outcome == .typed) != (text.last == 0x0D) { return "\(outcome) with \(text.count) bytes" }
            if text.count > 8 * payload.count + 256 { return "\(text.count) bytes out of \(payload.count)" }
            if let values = try? settings.decode(payload.span) {
                if values.readings.isEmpty { return "no reading, and no fault" }
                if values.readings.count > payload.count { return "more readings than bytes" }
            }
        }
        if reader.account.sum != payloads { return "\(reader.account.sum) of \(payloads) payloads are counted" }
        return reader.account[.typed] == typed ? nil : "\(reader.account[.typed]) of \(typed) typed values are counted"
    }

    private static func settings(_ input: inout FuzzInput) -> ValueSettings {
        let format: ValueSettings.Format =
            switch input.below(5) {
            case 0: .bthome
            case 1: .xiaomiScale
            case 2: .xiaomiBodyScale
            case 3: .weightScale
            default: .number(layout(&input))
            }
        return ValueSettings(
            format,
            quantity: input.chance(20) ? "weight" : nil,
            template: templates[input.below(templates.count)],
            moment: ValueSettings.Moment.allCases[input.below(3)]
        )
    }

    private static func layout(_ input: inout FuzzInput) -> NumberLayout {
        let form = NumberLayout.Form.allCases[input.below(NumberLayout.Form.allCases.count)]
        return NumberLayout(
            "weight",
            unit: "kg",
            offset: Int(input.byte()),
            length: form.lengths.lowerBound + input.below(form.lengths.count),
            form,
            isBigEndian: input.chance(50),
            exponent: input.below(DecimalNumber.exponents.count) + DecimalNumber.exponents.lowerBound,
            stable: flag(&input),
            removed: flag(&input),
            overload: flag(&input)
        )
    }

    private static func flag(_ input: inout FuzzInput) -> NumberLayout.Flag? {
        guard input.chance(50) else { return nil }
        return NumberLayout.Flag(offset: Int(input.byte()), mask: max(1, input.byte()), isInverted: input.chance(50))
    }
}
