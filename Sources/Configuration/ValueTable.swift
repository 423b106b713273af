// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import SensorValues

// TOML format of the values of a scale or sensor, in `[profiles.NAME.value]`:
//
//     format = "number"            # or bthome, xiaomi-scale, xiaomi-body-scale, weight-scale
//     text = "{value:.3} {unit}"   # what is typed before Enter; see ReadingTemplate
//     type = "stable"              # or each, request; see ValueSettings.Moment
//     quantity = "weight"          # the main one if omitted
//
// Further keys of the format `number`; see NumberLayout:
//
//     offset = 1
//     length = 2
//     form = "unsigned"            # or signed, sfloat, float, digits
//     high-first = true
//     exponent = -2
//     unit = "kg"
//     stable = "0:20"              # byte 0, bit 0x20 set; "0:!20" means clear
//     removed = "0:80"
//     overload = "0:01"

extension ValueSettings {
    /// Longest text template, unit or quantity, in characters.
    private static let longestText = 64
    fileprivate static let longestWord = 16
    /// Names of the formats that need no further keys.
    private static let formats: KeyValuePairs<String, Format> = [
        "bthome": .bthome, "xiaomi-scale": .xiaomiScale, "xiaomi-body-scale": .xiaomiBodyScale,
        "weight-scale": .weightScale,
    ]
    private static let numberWord = "number"
    private static let usualQuantity = "value"

    /// Parses the table; if it has faults, adds them to `faults` and returns nil.
    static func read(_ value: TOMLValue, _ faults: inout [ConfigurationFault]) throws(UnfitValue) -> ValueSettings? {
        guard case .table(let members) = value.kind else { throw UnfitValue("a table, written [….value]") }
        var reader = TOMLTableReader(members, line: value.line)
        let word = reader.need("format") { (value: TOMLValue) throws(UnfitValue) in
            let wanted = "one of \((formats.map(\.key) + [numberWord]).joined(separator: ", "))"
            let word = try value.text(wanted)
            guard word == numberWord || formats.contains(where: { $0.key == word }) else { throw UnfitValue(wanted) }
            return word
        }
        let template = reader.take("text") { (value: TOMLValue) throws(UnfitValue) in
            let wanted = "a text such as \"{value:.3} {unit}\", with at most \(longestText) characters"
            let text = try value.text(wanted)
            guard text.count <= longestText else { throw UnfitValue(wanted) }
            do throws(ReadingTemplate.Fault) {
                return try ReadingTemplate(text)
            } catch {
                throw UnfitValue("\(wanted) (\(error.reason))")
            }
        }
        let moment = reader.take("type") { (value: TOMLValue) throws(UnfitValue) in
            let wanted = "one of \(Moment.allCases.map(\.rawValue).joined(separator: ", "))"
            guard let moment = Moment(rawValue: try value.text(wanted)) else { throw UnfitValue(wanted) }
            return moment
        }
        let quantity = reader.take("quantity") { (value: TOMLValue) throws(UnfitValue) in try value.word(longestWord) }
        let layout = word == numberWord ? NumberLayout.read(&reader, quantity ?? usualQuantity) : nil
        reader.end()
        faults += reader.faults
        guard reader.faults.isEmpty, let word else { return nil }
        return ValueSettings(
            layout.map { .number($0) } ?? formats.first { $0.key == word }?.value ?? .bthome,
            quantity: layout == nil ? quantity : nil,
            template: template ?? .usual,
            moment: moment ?? .stable
        )
    }

    /// The settings as lines of TOML that parse as the same settings.
    var lines: [String] {
        let word = Self.formats.first { $0.value == format }?.key ?? Self.numberWord
        var lines = ["format = \(quoted(word))"]
        if template != .usual { lines.append("text = \(quoted(template.description))") }
        if moment != .stable { lines.append("type = \(quoted(moment.rawValue))") }
        if let quantity { lines.append("quantity = \(quoted(quantity))") }
        guard case .number(let layout) = format else { return lines }
        if layout.quantity != Self.usualQuantity { lines.append("quantity = \(quoted(layout.quantity))") }
        return lines + layout.lines
    }
}

extension NumberLayout {
    private static let offsets = 0...255
    private static let usual = NumberLayout("")

    fileprivate static func read(_ reader: inout TOMLTableReader, _ quantity: String) -> NumberLayout {
        func flag(_ name: String) -> Flag? {
            reader.take(name) { (value: TOMLValue) throws(UnfitValue) in
                let wanted = "a byte and its bits, such as \"0:20\", or \"0:!20\" for clear bits"
                guard let flag = Flag(try value.text(wanted)) else { throw UnfitValue(wanted) }
                return flag
            }
        }
        var layout = usual
        layout.quantity = quantity
        let offset = reader.take("offset") { (value: TOMLValue) throws(UnfitValue) in try value.integer(offsets) }
        let form = reader.take("form") { (value: TOMLValue) throws(UnfitValue) in
            let wanted = "one of \(Form.allCases.map(\.rawValue).joined(separator: ", "))"
            guard let form = Form(rawValue: try value.text(wanted)) else { throw UnfitValue(wanted) }
            return form
        }
        layout.offset = offset ?? layout.offset
        layout.form = form ?? layout.form
        let length = reader.take("length") { (value: TOMLValue) throws(UnfitValue) in
            try value.integer(layout.form.lengths)
        }
        layout.length = length ?? layout.form.usualLength
        let isBigEndian = reader.take("high-first") { (value: TOMLValue) throws(UnfitValue) in try value.flag() }
        layout.isBigEndian = isBigEndian ?? layout.isBigEndian
        let exponent = reader.take("exponent") { (value: TOMLValue) throws(UnfitValue) in
            try value.integer(DecimalNumber.exponents)
        }
        layout.exponent = exponent ?? layout.exponent
        let unit = reader.take("unit") { (value: TOMLValue) throws(UnfitValue) in
            try value.word(ValueSettings.longestWord)
        }
        layout.unit = unit ?? layout.unit
        (layout.stable, layout.removed, layout.overload) = (flag("stable"), flag("removed"), flag("overload"))
        return layout
    }

    fileprivate var lines: [String] {
        var lines = ["offset = \(offset)", "form = \(quoted(form.rawValue))", "length = \(length)"]
        if isBigEndian { lines.append("high-first = true") }
        if exponent != 0 { lines.append("exponent = \(exponent)") }
        if !unit.isEmpty { lines.append("unit = \(quoted(unit))") }
        for (name, flag) in [("stable", stable), ("removed", removed), ("overload", overload)] {
            if let flag { lines.append("\(name) = \(quoted("\(flag)"))") }
        }
        return lines
    }
}

extension TOMLValue {
    /// Returns a text of 1 to `limit` characters.
    fileprivate func word(_ limit: Int) throws(UnfitValue) -> String {
        let wanted = "a text of 1 to \(limit) characters"
        let text = try text(wanted)
        guard (1...limit).contains(text.count) else { throw UnfitValue(wanted) }
        return text
    }
}

extension ReadingTemplate.Fault {
    fileprivate var reason: String {
        switch self {
        case .unpairedBrace(let place): "the brace at character \(place) has no counterpart"
        case .unknownField(let name): "{\(name)} is unknown"
        case .noValue: "{value} is missing"
        }
    }
}
