// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

// Messages as members of requests and answers: each in English, and beside them all their forms.

extension JSONObject {
    /// The member that holds the forms of texts, by the names of the members that have them in English.
    package static let formsName = "texts"

    /// Adds the forms of messages that members have in English.
    package mutating func addForms(_ messages: [(name: String, message: Message?)]) {
        var forms = JSONObject()
        for (name, message) in messages { forms.add(name, message?.form) }
        if !forms.isEmpty { add(Self.formsName, forms) }
    }
}

extension JSONValue {
    /// The value without the forms of texts, at any depth.
    var withoutForms: JSONValue {
        switch self {
        case .object(let members):
            .object(members.filter { $0.name != JSONObject.formsName }.map { ($0.name, $0.value.withoutForms) })
        case .array(let values): .array(values.map(\.withoutForms))
        default: self
        }
    }

    /// The message in a member: the table's, or in English what another version of the daemon says.
    package func message(_ name: String) -> Message? {
        guard let text = self[name]?.string else { return nil }
        let message = self[JSONObject.formsName]?[name].flatMap { Message(form: $0, in: .daemon) }
        return message?.english == text ? message : Message(detail: text)
    }

    /// The reason in two members, the cause and the remedy; nil without a cause.
    package func reason(_ cause: String, _ remedy: String) -> Reason? {
        message(cause).map { Reason($0, remedy: message(remedy)) }
    }
}
