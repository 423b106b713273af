// SPDX-License-Identifier: GPL-2.0-or-later

/// A JSON object on one line, with its members in the order in which they were added.
///
/// Control characters, which a terminal could act on, are escaped. RFC 8259.
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
        append(name, "[" + values.map(Self.quoted).joined(separator: ",") + "]")
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

    /// A string in quotes, escaped as both JSON and TOML require.
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            // C0, DEL and C1 are escaped, because a terminal acts on them.
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
