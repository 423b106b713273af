// SPDX-License-Identifier: GPL-2.0-or-later

import Printable

/// A JSON object on one line, with its members in the order in which they were added.
///
/// What must not be shown to people as it is (`PrintableScalars`) is escaped. RFC 8259.
package struct JSONObject: Sendable {
    private var members = ""

    /// Makes an empty object.
    package init() {}

    /// Adds a string; nil adds nothing.
    package mutating func add(_ name: String, _ value: String?) {
        if let value { append(name, Self.quoted(value)) }
    }

    /// Adds an integer; nil adds nothing.
    package mutating func add(_ name: String, _ value: (some BinaryInteger)?) {
        if let value { append(name, String(value)) }
    }

    /// Adds true or false.
    package mutating func add(_ name: String, _ value: Bool) {
        append(name, value ? "true" : "false")
    }

    /// Adds an array of strings.
    package mutating func add(_ name: String, _ values: [String]) {
        append(name, "[" + values.map { Self.quoted($0) }.joined(separator: ",") + "]")
    }

    /// Adds an array of objects.
    package mutating func add(_ name: String, _ values: [JSONObject]) {
        append(name, "[" + values.map(\.text).joined(separator: ",") + "]")
    }

    /// Adds an object; nil adds nothing.
    package mutating func add(_ name: String, _ value: JSONObject?) {
        if let value { append(name, value.text) }
    }

    /// Adds a value; nil adds nothing.
    package mutating func add(_ name: String, _ value: JSONValue?) {
        if let value { append(name, value.text) }
    }

    /// Appends the members of another object.
    package mutating func add(membersOf other: JSONObject) {
        guard !other.members.isEmpty else { return }
        members += (members.isEmpty ? "" : ",") + other.members
    }

    /// True if the object has no members.
    package var isEmpty: Bool { members.isEmpty }

    /// The object as text, without a line feed.
    package var text: String { "{" + members + "}" }

    private mutating func append(_ name: String, _ value: String) {
        if !members.isEmpty { members += "," }
        members += Self.quoted(name) + ":" + value
    }

    /// The notations of strings in quotes.
    package enum Notation {
        /// RFC 8259: what lies above U+FFFF is escaped as two surrogates.
        case json
        /// TOML 1.0: what lies above U+FFFF is escaped as eight digits.
        case toml
    }

    /// A string in quotes, with everything escaped that must not be shown to people as it is.
    package static func quoted(_ text: String, as notation: Notation = .json) -> String {
        var scalars = PrintableScalars()
        var result = "\""
        for scalar in text.unicodeScalars {
            let isShown = scalars.shows(scalar)
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isShown: result.unicodeScalars.append(scalar)
            default:
                switch notation {
                case .json: for unit in String(scalar).utf16 { result += escaped("u", UInt32(unit), 4) }
                case .toml where scalar.value > 0xFFFF: result += escaped("U", scalar.value, 8)
                case .toml: result += escaped("u", scalar.value, 4)
                }
            }
        }
        return result + "\""
    }

    private static func escaped(_ letter: Character, _ value: UInt32, _ count: Int) -> String {
        let digits = String(value, radix: 16)
        return "\\\(letter)" + String(repeating: "0", count: count - digits.count) + digits
    }
}
