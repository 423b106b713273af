// SPDX-License-Identifier: GPL-2.0-or-later

extension JSONValue {
    /// The value as one line of JSON.
    ///
    /// What must not be shown to people as it is (`PrintableScalars`) is escaped.
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
