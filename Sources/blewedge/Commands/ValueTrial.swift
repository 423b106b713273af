// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Configuration
import SensorValues
import Texts

/// Payloads of a scale or sensor that are decoded one after another for `blewedge value try`.
struct ValueTrial {
    /// Payload with its values.
    struct Result {
        var payload: [UInt8]
        /// Values of the payload; nil if it has none.
        var values: SensorValues?
        /// Reason why the payload has no usable value; nil if it has one.
        var fault: Message?
        var outcome: ValueOutcome
        var text: [UInt8]
    }

    private let rules: ValueSettings
    private var reader: ValueReader

    init(_ rules: ValueSettings, isAdvertised: Bool) {
        self.rules = rules
        reader = ValueReader(rules, isAdvertised: isAdvertised)
    }

    mutating func read(_ payload: [UInt8]) -> Result {
        let (outcome, text) = reader.receive(payload.span)
        do throws(SensorFault) {
            let values = try rules.decode(payload.span)
            let fault = rules.reading(of: values) == nil ? lack(values) : nil
            return Result(payload: payload, values: values, fault: fault, outcome: outcome, text: text)
        } catch {
            return Result(payload: payload, fault: error.message, outcome: outcome, text: text)
        }
    }

    private func lack(_ values: SensorValues) -> Message {
        let names = values.readings.map(\.quantity).joined(separator: ", ")
        return ValueFaultText.noQuantity.message(rules.quantity ?? "", names)
    }
}

extension ValueTrial.Result {
    /// The payload, its values, and the text or the reason why there is none.
    var line: String {
        var parts: [String] = []
        if let values {
            parts.append(values.readings.map(\.line).joined(separator: ", "))
            if let isStable = values.isStable { parts.append((isStable ? ValueText.stable : .unstable).text(.current)) }
            if values.isRemoved == true { parts.append(ValueText.removed.text(.current)) }
        }
        if let fault {
            parts.append(ValueText.refused.text(.current, fault.text(.current)))
        } else if outcome == .typed {
            parts.append(ValueText.text.text(.current, JSONObject.quoted(typed)))
        } else {
            let outcome = ValueOutcomeText(rawValue: "\(outcome)")?.text(.current) ?? ""
            parts.append(ValueText.notTyped.text(.current, outcome))
        }
        return "\(Hexadecimal.text(payload)): \(parts.joined(separator: "; "))"
    }

    var object: JSONObject {
        var object = JSONObject()
        object.add("payload", Hexadecimal.text(payload))
        object.add("readings", (values?.readings ?? []).map(\.object))
        if let isStable = values?.isStable { object.add("stable", isStable) }
        if let isRemoved = values?.isRemoved { object.add("removed", isRemoved) }
        object.add("packet", values?.packet)
        object.add("outcome", "\(outcome)")
        if outcome == .typed { object.add("text", typed) }
        object.add("fault", fault)
        return object
    }

    /// The typed text, without the carriage return at its end.
    private var typed: String { String(decoding: text.dropLast(), as: UTF8.self) }
}

extension SensorReading {
    fileprivate var line: String {
        "\(quantity) \(LocalName.printable(written))\(unit.isEmpty ? "" : " \(unit)")"
    }

    fileprivate var object: JSONObject {
        var object = JSONObject()
        object.add("quantity", quantity)
        object.add("value", written)
        if !unit.isEmpty { object.add("unit", unit) }
        return object
    }

    private var written: String {
        switch value {
        case .number(let number): number.text()
        case .word(let word): word
        }
    }
}

extension SensorFault {
    fileprivate var message: Message {
        switch self {
        case .tooShort(let length, let least): ValueFaultText.tooShort.message("\(length)", "\(least)")
        case .encrypted: ValueFaultText.encrypted.message()
        case .unknownVersion(let version): ValueFaultText.unknownVersion.message("\(version)")
        case .unknownObject(let type, let place):
            ValueFaultText.unknownObject.message(Hexadecimal.text([type]), "\(place)")
        case .overload: ValueFaultText.overload.message()
        case .notMeasured: ValueFaultText.notMeasured.message()
        case .empty: ValueFaultText.empty.message()
        }
    }
}
