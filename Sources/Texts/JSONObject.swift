// SPDX-License-Identifier: GPL-2.0-or-later

/// One JSON object on one line, its members in the order in which they were added.
///
/// RFC 8259. Control characters and everything that a terminal could act on are escaped.
package struct JSONObject: Sendable {
    private var members = ""

    /// `{}`.
    package init() {}

    /// Adds a text; nil adds nothing.
    package mutating func add(_ name: String, _ value: String?) {
        if let value { append(name, Self.quoted(value)) }
    }

    /// Adds a whole number; nil adds nothing.
    package mutating func add(_ name: String, _ value: (some BinaryInteger)?) {
        if let value { append(name, String(value)) }
    }

    /// Adds true or false.
    package mutating func add(_ name: String, _ value: Bool) {
        append(name, value ? "true" : "false")
    }

    /// Adds a list of texts.
    package mutating func add(_ name: String, _ values: [String]) {
        append(name, "[" + values.map(Self.quoted).joined(separator: ",") + "]")
    }

    /// Adds a list of objects.
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

    /// Adds the members of another object behind these.
    package mutating func add(membersOf other: JSONObject) {
        guard !other.members.isEmpty else { return }
        members += (members.isEmpty ? "" : ",") + other.members
    }

    /// Whether nothing was added.
    package var isEmpty: Bool { members.isEmpty }

    /// The object, without a line's end.
    package var text: String { "{" + members + "}" }

    private mutating func append(_ name: String, _ value: String) {
        if !members.isEmpty { members += "," }
        members += Self.quoted(name) + ":" + value
    }

    /// A text in quotes, as TOML has it too.
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            // C0, DEL and C1: nothing that a terminal acts on leaves unescaped.
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
