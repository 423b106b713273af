// SPDX-License-Identifier: GPL-2.0-or-later

/// Position in a JSON text, and the value there.
final class JSONPlace {
    /// Value at a position.
    private enum Content {
        /// A number, `true`, `false` or `null`, as it is printed.
        case word(String)
        /// A string without quotes and escapes.
        case text(String)
        case array([JSONPlace])
        case object([String: JSONPlace])
    }

    private var content = Content.word("null")

    /// Sets the value.
    func put(_ value: some Encodable, at path: [any CodingKey]) throws {
        switch value {
        case let text as String: content = .text(text)
        case let flag as Bool: content = .word(flag ? "true" : "false")
        case let number as any FixedWidthInteger: content = .word("\(number)")
        default: try value.encode(to: JSONContainer(place: self, codingPath: path))
        }
    }

    /// Adds a member to the object, and returns its position.
    func member(_ name: String) -> JSONPlace {
        var members: [String: JSONPlace] = [:]
        if case .object(let present) = content { members = present }
        let place = JSONPlace()
        members[name] = place
        content = .object(members)
        return place
    }

    /// Appends an element to the array, and returns its position.
    func element() -> JSONPlace {
        let place = JSONPlace()
        content = .array(elements + [place])
        return place
    }

    /// Positions of the array's elements; empty if the value is not an array.
    var elements: [JSONPlace] {
        if case .array(let places) = content { places } else { [] }
    }

    /// Sets the value to an empty array or object.
    func begin(array: Bool) { content = array ? .array([]) : .object([:]) }

    /// Appends the value to the text.
    ///
    /// - Parameter indentation: A line break and the indentation of the value's first line.
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
