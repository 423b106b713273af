// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

// Messages as members of requests and answers: in English, together with the forms that clients translate.

extension JSONObject {
    /// Member with the forms of all messages; each has the name of the member with the English text.
    package static let formsName = "texts"

    /// Adds the forms of messages whose English texts are in other members.
    package mutating func addForms(_ messages: [(name: String, message: Message?)]) {
        var forms = JSONObject()
        for (name, message) in messages { forms.add(name, message?.form) }
        if !forms.isEmpty { add(Self.formsName, forms) }
    }
}

extension JSONValue {
    /// Value without the forms of messages at any depth.
    var withoutForms: JSONValue {
        switch self {
        case .object(let members):
            .object(members.filter { $0.name != JSONObject.formsName }.map { ($0.name, $0.value.withoutForms) })
        case .array(let values): .array(values.map(\.withoutForms))
        default: self
        }
    }

    /// Returns the message in a member: from the table or, if the daemon has another version, its English text.
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
