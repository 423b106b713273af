// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE

/// What the daemon answers to `status`, as lines for people.
///
/// The state comes first, in one sentence, and then everything else that the answer has, in its order: a newer daemon may
/// say more than this knows.
package enum StatusText {
    /// The members that the first line tells.
    private static let told: Set<String> = ["ok", "version", "state", "reason", "remedy", "device"]

    /// The lines of an answer.
    package static func lines(_ answer: JSONValue) -> [String] {
        guard case .object(let members) = answer else { return [] }
        var rows: [(name: String, text: String)] = []
        for (name, value) in members where !told.contains(name) {
            if let text = text(value) { rows.append((words(name), text)) }
        }
        let width = rows.map(\.name.count).max() ?? 0
        return [sentence(answer)]
            + rows.map { "  \($0.name)\(String(repeating: " ", count: width - $0.name.count))  \($0.text)" }
    }

    /// The answer without what time alone changes, to see whether anything else has.
    package static func lasting(_ answer: JSONValue) -> JSONValue {
        switch answer {
        case .object(let members):
            .object(members.filter { !ages.contains($0.name) }.map { ($0.name, lasting($0.value)) })
        case .array(let values): .array(values.map(lasting))
        default: answer
        }
    }

    /// Members that say how long ago something was.
    private static let ages: Set<String> = ["since", "seconds", "secondsAgo"]

    private static func sentence(_ answer: JSONValue) -> String {
        func text(_ name: String) -> String? { answer[name]?.string.map(LocalName.printable) }
        let name = text("state") ?? "unknown"
        // A newer daemon may have another state.
        guard let state = Session.State(rawValue: name) else { return name }
        let reason = text("reason").map { Reason($0, remedy: text("remedy")) }
        return state.sentence(text("device").flatMap(DeviceChoice.init), reason)
    }

    /// One value in one line; nil for what says nothing.
    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .null: return nil
        case .bool(let value): return value ? "yes" : "no"
        case .integer(let number): return "\(number)"
        case .real(let number): return "\(number)"
        case .string(let text): return LocalName.printable(text)
        case .array(let values):
            let texts = values.compactMap(text)
            return texts.isEmpty ? nil : texts.joined(separator: ", ")
        case .object(let members):
            // Of many counts only those that count something.
            let texts = members.compactMap { member -> String? in
                guard member.value != .integer(0) else { return nil }
                return text(member.value).map { "\(words(member.name)) \($0)" }
            }
            return texts.isEmpty ? nil : texts.joined(separator: ", ")
        }
    }

    /// `lastReceived` as words: `last received`.
    private static func words(_ name: String) -> String {
        LocalName.printable(name).map { $0.isUppercase ? " \($0.lowercased())" : String($0) }.joined()
    }
}
