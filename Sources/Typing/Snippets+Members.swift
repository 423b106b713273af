// SPDX-License-Identifier: GPL-2.0-or-later

import Texts

// Snippets that are objects in the file.

extension Snippets {
    /// The members of such an object.
    enum Member: String, CaseIterable {
        case text, opening, closing, received

        /// The names of all members, separated by commas, for messages.
        static var names: String { allCases.map { $0.rawValue.debugDescription }.joined(separator: ", ") }
    }

    /// The snippet of an object in the file: one text, or an opening and a closing one.
    ///
    /// Each of the two has a default if the title is built in.
    ///
    /// Throws a `Fault` for an unknown member, a member that is not a string, or a text together with a half.
    static func snippet(
        _ title: String,
        _ members: [(name: String, value: JSONValue)],
        _ value: JSONValue,
        over set: BuiltIn
    ) throws(Fault) -> Snippet {
        let quoted = title.debugDescription
        if let other = members.first(where: { Member(rawValue: $0.name) == nil }) {
            throw Fault(
                description:
                    "snippet \(quoted): unknown member \(other.name.debugDescription); known are \(Member.names)"
            )
        }
        if let other = members.first(where: { $0.value.string == nil }) {
            throw Fault(description: "snippet \(quoted): \(other.name.debugDescription) is no text")
        }
        func text(_ member: Member) -> String? { value[member.rawValue]?.string }
        let received = text(.received).map { Array($0.utf8) }
        if let received, !(1...Snippet.longestReceived).contains(received.count) {
            throw Fault(
                description: "snippet \(quoted): \"received\" has \(received.count) bytes; 1 to "
                    + "\(Snippet.longestReceived) belong there"
            )
        }
        if let whole = text(.text) {
            guard text(.opening) == nil, text(.closing) == nil else {
                throw Fault(description: "snippet \(quoted): \"text\" is the whole of it; leave out the halves")
            }
            return Snippet(title: title, text: whole, received: received)
        }
        let tag = tags(set).first { $0.title == title }
        return Snippet(
            title: title,
            opening: text(.opening) ?? tag?.opening ?? "",
            closing: text(.closing) ?? tag?.closing ?? "",
            received: received
        )
    }
}
