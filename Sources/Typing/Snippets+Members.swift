// SPDX-License-Identifier: GPL-2.0-or-later

import Texts

// A snippet that is an object in the file.

extension Snippets {
    /// What such an object may say.
    enum Member: String, CaseIterable {
        case text, opening, closing, received

        /// All of them, for people.
        static var names: String { allCases.map { $0.rawValue.debugDescription }.joined(separator: ", ") }
    }

    /// The snippet that an object of the file means: a whole text, or two halves, each with its default where the title is
    /// built in.
    static func snippet(_ title: String, _ members: [(name: String, value: JSONValue)], _ value: JSONValue)
        throws(Fault)
        -> Snippet
    {
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
        let tag = tags.first { $0.title == title }
        return Snippet(
            title: title,
            opening: text(.opening) ?? tag?.opening ?? "",
            closing: text(.closing) ?? tag?.closing ?? "",
            received: received
        )
    }
}
