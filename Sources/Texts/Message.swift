// SPDX-License-Identifier: GPL-2.0-or-later

/// What a text of the table can be told of.
package protocol MessageArgument: Sendable {
    /// The argument as a message holds it.
    var argument: Message.Argument { get }
}

/// Something that is said to people, before it is known in which language they read it.
///
/// Messages are the same when they say the same in English, which every message is said in. Programs, journals and the
/// control socket have the English; beside it the socket has the text's id and what it is told of, so that a client
/// says it in its own language.
package struct Message: Hashable, Sendable, CustomStringConvertible, MessageArgument {
    /// What a text is told of.
    package enum Argument: Sendable, MessageArgument {
        /// The same in all languages.
        case plain(String)
        /// Something that is said in one.
        case message(Message)

        package var argument: Argument { self }

        fileprivate func text(_ language: Language) -> String {
            switch self {
            case .plain(let text): text
            case .message(let message): message.text(language)
            }
        }
    }

    private let texts: LocalText
    private let id: String?
    private let arguments: [Argument]

    /// A text of the table with what it is told of; without an `id` the socket carries its English alone.
    package init(_ texts: LocalText, id: String?, _ arguments: [any MessageArgument] = []) {
        self.texts = texts
        self.id = id
        self.arguments = arguments.map(\.argument)
    }

    /// What is no text of the product: a name, a file's fault, an error of the system.
    package init(detail text: String) {
        self.init(LocalText("{1}", "{1}"), id: nil, [text])
    }

    /// The message in one language.
    package func text(_ language: Language) -> String {
        texts.filled(language, with: arguments.map { $0.text(language) })
    }

    /// The message in English.
    package var english: String { text(.english) }

    package var description: String { english }

    package var argument: Argument { .message(self) }

    package static func == (one: Message, other: Message) -> Bool { one.english == other.english }

    package func hash(into hasher: inout Hasher) { hasher.combine(english) }

    /// Several names in a row.
    package static func list(_ names: [String]) -> Message {
        guard let first = names.first else { return Message(detail: "") }
        return names.dropFirst().reduce(Message(detail: first)) { PlainText.and.message($0, $1) }
    }

    /// Several examples in a row.
    package static func listed(_ examples: [Message]) -> Message {
        guard let first = examples.first else { return Message(detail: "") }
        return examples.dropFirst().reduce(first) { PlainText.listed.message($0, $1) }
    }

    /// A message with another in brackets behind it.
    package func followed(by other: Message?) -> Message {
        other.map { PlainText.inBrackets.message(self, $0) } ?? self
    }

    /// The first line of what may be several faults of a file.
    package var firstLine: Message {
        let lines = english.split(separator: "\n", maxSplits: 1)
        return lines.count > 1 ? Message(detail: String(lines[0])) : self
    }
}

extension String: MessageArgument {
    package var argument: Message.Argument { .plain(self) }
}

// MARK: On the control socket

extension Message {
    /// The text's id and what it is told of, such as `["AdapterFaultText.softBlocked","hci0"]`; nil where it has no id.
    package var form: JSONValue? {
        guard let id else { return nil }
        return .array(
            [.string(id)]
                + arguments.map { argument in
                    switch argument {
                    case .plain(let text): .string(text)
                    case .message(let message): message.form ?? .string(message.english)
                    }
                }
        )
    }

    /// Reads such a form; nil where the table has no such text.
    package init?(form: JSONValue, in table: TextTable) {
        guard case .array(let parts) = form, let id = parts.first?.string, let texts = table[id] else { return nil }
        var arguments: [Argument] = []
        for part in parts.dropFirst() {
            if let text = part.string {
                arguments.append(.plain(text))
            } else if let message = Message(form: part, in: table) {
                arguments.append(.message(message))
            } else {
                return nil
            }
        }
        self.init(texts, id: id, arguments)
    }
}

extension JSONObject {
    /// Adds a message in English; nil adds nothing.
    package mutating func add(_ name: String, _ message: Message?) { add(name, message?.english) }
}
