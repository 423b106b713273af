// SPDX-License-Identifier: GPL-2.0-or-later

/// Text in which a sensor's reading is typed, such as `{value:.3} {unit}`.
///
/// `{value}` is the number or the word, `{value:.N}` the number with N decimal places (0 to 9), `{unit}` the unit and
/// `{quantity}` what is measured. `{{` and `}}` are braces.
package struct ReadingTemplate: Hashable, Sendable, CustomStringConvertible {
    package enum Fault: Error, Equatable, Sendable {
        /// The brace at this position, in characters from 1, has no counterpart.
        case unpairedBrace(at: Int)
        /// The field is none of those above.
        case unknownField(String)
        /// The template contains no `{value}`.
        case noValue
    }

    private enum Part: Hashable {
        case text(String)
        case value(places: Int?)
        case unit, quantity
    }

    /// Default: the value without its unit.
    package static let usual = ReadingTemplate([.value(places: nil)])

    private let parts: [Part]

    private init(_ parts: [Part]) { self.parts = parts }

    package init(_ template: String) throws(Fault) {
        let characters = Array(template)
        var parts: [Part] = []
        var text = ""
        var index = 0
        while index < characters.count {
            let character = characters[index]
            if (character == "{" || character == "}"), index + 1 < characters.count, characters[index + 1] == character
            {
                text.append(character)
                index += 2
                continue
            }
            guard character == "{" else {
                if character == "}" { throw .unpairedBrace(at: index + 1) }
                text.append(character)
                index += 1
                continue
            }
            guard let end = characters[index...].firstIndex(of: "}") else { throw .unpairedBrace(at: index + 1) }
            if !text.isEmpty { parts.append(.text(text)) }
            text = ""
            parts.append(try Self.part(String(characters[(index + 1)..<end])))
            index = end + 1
        }
        if !text.isEmpty { parts.append(.text(text)) }
        let hasValue = parts.contains { part in if case .value = part { true } else { false } }
        guard hasValue else { throw .noValue }
        self.parts = parts
    }

    private static func part(_ field: String) throws(Fault) -> Part {
        switch field {
        case "value": return .value(places: nil)
        case "unit": return .unit
        case "quantity": return .quantity
        default:
            let bytes = Array(field.utf8)
            guard bytes.count == 8, field.hasPrefix("value:."), let digit = bytes.last, 0x30...0x39 ~= digit else {
                throw .unknownField(field)
            }
            return .value(places: Int(digit - 0x30))
        }
    }

    /// The template as text that `init` parses.
    package var description: String {
        parts.map { part in
            switch part {
            case .text(let text): text.map { $0 == "{" || $0 == "}" ? "\($0)\($0)" : "\($0)" }.joined()
            case .value(nil): "{value}"
            case .value(let places?): "{value:.\(places)}"
            case .unit: "{unit}"
            case .quantity: "{quantity}"
            }
        }.joined()
    }

    /// Returns the text for a reading; a word has no decimal places.
    package func text(_ reading: SensorReading) -> String {
        parts.map { part in
            switch (part, reading.value) {
            case (.text(let text), _): text
            case (.unit, _): reading.unit
            case (.quantity, _): reading.quantity
            case (.value(let places), .number(let number)): number.text(places: places)
            case (.value, .word(let word)): word
            }
        }.joined()
    }
}
