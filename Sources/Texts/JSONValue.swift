// SPDX-License-Identifier: GPL-2.0-or-later

import CJansson

/// A JSON value that was parsed from an answer of the daemon or from a file (D-17).
///
/// The parser is Jansson (RFC 8259). It rejects duplicate member names in an object, text after the value, text that is
/// not UTF-8 and, unless it is allowed, the character U+0000.
package indirect enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// A number without a fraction or an exponent.
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([JSONValue])
    case object([(name: String, value: JSONValue)])

    /// The position and the reason of a syntax error.
    package struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        /// Line number, counted from 1.
        package var line: Int
        /// Column in the line, in characters, counted from 1.
        package var column: Int
        /// Reason in English, as reported by Jansson.
        package var reason: String

        /// One-line description: `line 3, column 8: '}' expected near ','`.
        package var description: String { "line \(line), column \(column): \(reason)" }
    }

    /// Maximum nesting depth; the inputs of this program have three levels.
    private static let deepest = 32

    /// Parses a value from UTF-8 text; U+0000 in a string is accepted only if `allowingNull` is true.
    package init(_ text: [UInt8], allowingNull: Bool = false) throws(Fault) {
        var error = json_error_t()
        let flags = allowingNull ? Self.flags | Int(JSON_ALLOW_NUL) : Self.flags
        let root = unsafe text.withUnsafeBytes { bytes in
            // Sound: Jansson reads the length of the array during the call, and writes the error into a local variable.
            let characters = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            return unsafe json_loadb(characters, bytes.count, flags, &error)
        }
        guard let root = unsafe root else { throw Fault(error) }
        // Sound: the reference that json_loadb returned is released here, once, after the value has been copied.
        defer { unsafe json_decref(root) }
        self = try unsafe Self.copy(root, depth: 0)
    }

    /// Value of the first member with this name; nil if there is none, or if this value is not an object.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    package var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    package var integer: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    package var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    package var array: [JSONValue]? {
        guard case .array(let values) = self else { return nil }
        return values
    }

    /// Returns true if both values are equal; the members of objects must be in the same order.
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.string(let left), .string(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.name == $1.name && $0.value == $1.value }
        default: false
        }
    }

    private static let flags = Int(JSON_REJECT_DUPLICATES | JSON_DECODE_ANY)

    /// Copies a Jansson value, which must exist during the call.
    private static func copy(_ value: UnsafeMutablePointer<json_t>, depth: Int) throws(Fault) -> JSONValue {
        guard depth < deepest else { throw Fault(line: 1, column: 1, reason: "nested deeper than \(deepest)") }
        // Sound, here and below: the value exists during the call, and so do its children; strings and names are copied
        // with the lengths that Jansson reports. Each function is called only for values of its type.
        switch unsafe value.pointee.type {
        case JSON_TRUE: return .bool(true)
        case JSON_FALSE: return .bool(false)
        case JSON_INTEGER: return unsafe .integer(Int64(json_integer_value(value)))
        case JSON_REAL: return unsafe .real(json_real_value(value))
        case JSON_STRING:
            return unsafe .string(text(json_string_value(value), json_string_length(value)))
        case JSON_ARRAY:
            var values: [JSONValue] = []
            for index in 0..<(unsafe json_array_size(value)) {
                guard let child = unsafe json_array_get(value, index) else { continue }
                values.append(try unsafe copy(child, depth: depth + 1))
            }
            return .array(values)
        case JSON_OBJECT:
            var members: [(name: String, value: JSONValue)] = []
            var next = unsafe json_object_iter(value)
            while let member = unsafe next {
                if let child = unsafe json_object_iter_value(member) {
                    let name = unsafe String(cString: json_object_iter_key(member))
                    members.append((name, try unsafe copy(child, depth: depth + 1)))
                }
                unsafe next = json_object_iter_next(value, member)
            }
            return .object(members)
        default: return .null
        }
    }

    private static func text(_ characters: UnsafePointer<CChar>?, _ length: Int) -> String {
        // Sound: Jansson's strings have the reported length, and are UTF-8 that Jansson has validated.
        guard let characters = unsafe characters else { return "" }
        let bytes = unsafe UnsafeRawBufferPointer(start: characters, count: length)
        return unsafe String(decoding: bytes, as: UTF8.self)
    }
}

extension JSONValue.Fault {
    fileprivate init(_ error: json_error_t) {
        // The text is a C array that ends with a zero byte.
        let reason = unsafe withUnsafeBytes(of: error.text) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        self.init(line: max(1, Int(error.line)), column: max(1, Int(error.column)), reason: reason)
    }
}

extension JSONValue {
    /// The value as one line of JSON; characters that must not be displayed unchanged (`PrintableScalars`) are escaped.
    package var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .string(let text): JSONObject.quoted(text)
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { JSONObject.quoted($0.name) + ":" + $0.value.text }.joined(separator: ",") + "}"
        }
    }
}
