// SPDX-License-Identifier: GPL-2.0-or-later

/// Place in a JSON text that a value fills.
final class JSONPlace {
    /// What fills a place.
    private enum Content {
        /// A number, a truth value or null, as it is written.
        case word(String)
        /// A text, as it is before it is quoted.
        case text(String)
        case array([JSONPlace])
        case object([String: JSONPlace])
    }

    private var content = Content.word("null")

    /// Fills the place.
    func put(_ value: some Encodable, at path: [any CodingKey]) throws {
        switch value {
        case let text as String: content = .text(text)
        case let flag as Bool: content = .word(flag ? "true" : "false")
        case let number as any FixedWidthInteger: content = .word("\(number)")
        default: try value.encode(to: JSONContainer(place: self, codingPath: path))
        }
    }

    /// The place of an object's member.
    func member(_ name: String) -> JSONPlace {
        var members: [String: JSONPlace] = [:]
        if case .object(let present) = content { members = present }
        let place = JSONPlace()
        members[name] = place
        content = .object(members)
        return place
    }

    /// The place behind the last of an array.
    func element() -> JSONPlace {
        let place = JSONPlace()
        content = .array(elements + [place])
        return place
    }

    /// The places of an array; none if the place is no array.
    var elements: [JSONPlace] {
        if case .array(let places) = content { places } else { [] }
    }

    /// The place as an array without elements, or an object without members, until one comes.
    func begin(array: Bool) { content = array ? .array([]) : .object([:]) }

    /// Writes what fills the place.
    ///
    /// - Parameter indentation: A new line and the spaces before what begins there.
    func write(to text: inout String, indentation: String) {
        switch content {
        case .word(let word): text += word
        case .text(let content): Self.write(content, to: &text)
        case .array(let places):
            text += "["
            for (index, place) in places.enumerated() {
                text += (index > 0 ? "," : "") + indentation + "  "
                place.write(to: &text, indentation: indentation + "  ")
            }
            text += (places.isEmpty ? "" : indentation) + "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                text += (index > 0 ? "," : "") + indentation + "  "
                Self.write(member.key, to: &text)
                text += " : "
                member.value.write(to: &text, indentation: indentation + "  ")
            }
            text += (members.isEmpty ? "" : indentation) + "}"
        }
    }

    private static func write(_ content: String, to text: inout String) {
        text += "\""
        for scalar in content.unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
