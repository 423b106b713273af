// SPDX-License-Identifier: GPL-2.0-or-later

import Printable

/// A JSON object on one line, whose members are in the order in which they were added (RFC 8259).
///
/// Characters that must not be displayed unchanged (`PrintableScalars`) are escaped.
package struct JSONObject: Sendable {
    /// Text of the members, in UTF-8.
    private var members: [UInt8] = []

    package init() {}

    /// Adds a string; does nothing if it is nil.
    package mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        begin(name)
        Self.append(value, to: &members)
    }

    // There is one overload of `add` for each type, because a generic function would look up protocol conformances at
    // run time, for every barcode.

    /// Adds an integer; does nothing if it is nil.
    package mutating func add(_ name: String, _ value: Int?) { add(name, value.map(Int64.init)) }
    package mutating func add(_ name: String, _ value: Int8?) { add(name, value.map(Int64.init)) }
    package mutating func add(_ name: String, _ value: Int32?) { add(name, value.map(Int64.init)) }

    package mutating func add(_ name: String, _ value: Int64?) {
        if let value { add(name, magnitude: value.magnitude, isNegative: value < 0) }
    }
    package mutating func add(_ name: String, _ value: UInt8?) { add(name, value.map(UInt64.init)) }
    package mutating func add(_ name: String, _ value: UInt16?) { add(name, value.map(UInt64.init)) }
    package mutating func add(_ name: String, _ value: UInt32?) { add(name, value.map(UInt64.init)) }
    package mutating func add(_ name: String, _ value: UInt?) { add(name, value.map(UInt64.init)) }

    package mutating func add(_ name: String, _ value: UInt64?) {
        if let value { add(name, magnitude: value, isNegative: false) }
    }

    private mutating func add(_ name: String, magnitude: UInt64, isNegative: Bool) {
        begin(name)
        if isNegative { members.append(UInt8(ascii: "-")) }
        let start = members.count
        var rest = magnitude
        repeat {
            members.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        members[start...].reverse()
    }

    package mutating func add(_ name: String, _ value: Bool) {
        begin(name)
        members += (value ? "true" : "false").utf8
    }

    package mutating func add(_ name: String, _ values: [String]) {
        addArray(name, values) { Self.append($0, to: &$1) }
    }

    package mutating func add(_ name: String, _ values: [JSONObject]) {
        addArray(name, values) { $0.append(to: &$1) }
    }

    /// Adds an object; does nothing if it is nil.
    package mutating func add(_ name: String, _ value: JSONObject?) {
        guard let value else { return }
        begin(name)
        value.append(to: &members)
    }

    /// Adds a value; does nothing if it is nil.
    package mutating func add(_ name: String, _ value: JSONValue?) {
        guard let value else { return }
        begin(name)
        members += value.text.utf8
    }

    /// Appends all members of another object.
    package mutating func add(membersOf other: JSONObject) {
        guard !other.isEmpty else { return }
        if !isEmpty { members.append(UInt8(ascii: ",")) }
        members += other.members
    }

    package var isEmpty: Bool { members.isEmpty }

    /// The object as text, without a line feed.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The object as a line in UTF-8, with a line feed.
    package var line: [UInt8] { bytes + [UInt8(ascii: "\n")] }

    private var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(members.count + 3)
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "{"))
        bytes += members
        bytes.append(UInt8(ascii: "}"))
    }

    /// Writes the name of a member; the caller must then write its value.
    private mutating func begin(_ name: String) {
        if !members.isEmpty { members.append(UInt8(ascii: ",")) }
        Self.append(name, to: &members)
        members.append(UInt8(ascii: ":"))
    }

    private mutating func addArray<Element>(
        _ name: String,
        _ values: [Element],
        _ append: (Element, inout [UInt8]) -> Void
    ) {
        begin(name)
        members.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { members.append(UInt8(ascii: ",")) }
            append(value, &members)
        }
        members.append(UInt8(ascii: "]"))
    }

    /// Writes a quoted string.
    private static func append(_ text: String, to bytes: inout [UInt8]) {
        // Handle text that needs no escaping separately, because almost no text needs it.
        let isPlain = text.utf8.allSatisfy {
            (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        guard isPlain else {
            bytes += quoted(text).utf8
            return
        }
        bytes.append(UInt8(ascii: "\""))
        bytes += text.utf8
        bytes.append(UInt8(ascii: "\""))
    }

    /// The notations for quoted strings.
    package enum Notation {
        /// The notation of RFC 8259, in which characters above U+FFFF are escaped as two surrogates.
        case json
        /// The notation of TOML 1.0, in which characters above U+FFFF are escaped as eight digits.
        case toml
    }

    /// Returns the text as a quoted string, in which all characters that must not be displayed unchanged are escaped.
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
