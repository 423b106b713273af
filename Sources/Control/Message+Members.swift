// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

// Messages as members of requests and answers: the English texts, and the forms that clients translate.

extension JSONObject {
    /// Name of the member that contains the translatable forms of all messages.
    ///
    /// Each form has the same name as the member with its English text.
    package static let formsName = "texts"

    /// Adds the translatable forms of messages whose English texts are in other members.
    package mutating func addForms(_ messages: [(name: String, message: Message?)]) {
        var forms = JSONObject()
        for (name, message) in messages { forms.add(name, message?.form) }
        if !forms.isEmpty { add(Self.formsName, forms) }
    }
}

extension JSONValue {
    /// Copy of the value without the translatable forms of messages, at every depth.
    package var withoutForms: JSONValue {
        switch self {
        case .object(let members):
            .object(members.filter { $0.name != JSONObject.formsName }.map { ($0.name, $0.value.withoutForms) })
        case .array(let values): .array(values.map(\.withoutForms))
        default: self
        }
    }

    /// Returns the message in a member.
    ///
    /// It is the translatable message or, if the daemon has another version of the message, its English text.
    package func message(_ name: String) -> Message? {
        guard let text = self[name]?.string else { return nil }
        let message = self[JSONObject.formsName]?[name].flatMap { Message(form: $0, in: .daemon) }
        return message?.english == text ? message : Message(detail: text)
    }

    /// Returns the reason from two members, the cause and the remedy; nil if there is no cause.
    package func reason(_ cause: String, _ remedy: String) -> Reason? {
        message(cause).map { Reason($0, remedy: message(remedy)) }
    }
}
