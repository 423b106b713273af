// SPDX-License-Identifier: GPL-2.0-or-later

/// A value that can be an argument of a message.
package protocol MessageArgument: Sendable {
    /// The value in the form in which a message stores it.
    var argument: Message.Argument { get }
}

/// A text for people and its arguments, which is translated only when it is output.
///
/// Two messages are equal if their English texts are equal. Programs, journals and the control socket receive the
/// English text. On the socket, the text's identifier and the arguments are sent too, so that a client can translate
/// the message.
package struct Message: Hashable, Sendable, CustomStringConvertible, MessageArgument {
    package enum Argument: Sendable, MessageArgument {
        case plain(String)
        /// A message, which is translated together with the text.
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

    /// Creates a message from a text and its arguments.
    ///
    /// Without an `id`, only the English text is sent on the control socket.
    package init(_ texts: LocalText, id: String?, _ arguments: [any MessageArgument] = []) {
        self.texts = texts
        self.id = id
        self.arguments = arguments.map(\.argument)
    }

    /// Creates a message from a string that is the same in all languages, such as a name or a system error.
    package init(detail text: String) {
        self.init(LocalText("{1}", "{1}"), id: nil, [text])
    }

    package func text(_ language: Language) -> String {
        texts.filled(language, with: arguments.map { $0.text(language) })
    }

    package var english: String { text(.english) }

    package var description: String { english }

    package var argument: Argument { .message(self) }

    package static func == (one: Message, other: Message) -> Bool { one.english == other.english }

    package func hash(into hasher: inout Hasher) { hasher.combine(english) }

    /// Returns true if the message was created from this text, with any arguments.
    package func says(_ text: some Localized) -> Bool { id == text.id }

    /// Creates a list of names, which are joined as is usual in each language.
    package static func list(_ names: [String]) -> Message {
        guard let first = names.first else { return Message(detail: "") }
        return names.dropFirst().reduce(Message(detail: first)) { PlainText.and.message($0, $1) }
    }

    /// Creates a list of examples, which are joined as is usual in each language.
    package static func listed(_ examples: [Message]) -> Message {
        guard let first = examples.first else { return Message(detail: "") }
        return examples.dropFirst().reduce(first) { PlainText.listed.message($0, $1) }
    }

    package func followed(by other: Message?) -> Message {
        other.map { PlainText.inBrackets.message(self, $0) } ?? self
    }

    /// The first line of the message; a message about a file has one line for each fault in the file.
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
    /// The message's identifier and arguments as JSON, such as `["AdapterFaultText.softBlocked","hci0"]`.
    ///
    /// Nil if the message has no identifier.
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

    /// Parses an array that `form` has created.
    ///
    /// The result is nil if the array is malformed, or if the table has no text with the identifier.
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
    /// Adds the English text of a message; does nothing if the message is nil.
    package mutating func add(_ name: String, _ message: Message?) { add(name, message?.english) }
}
