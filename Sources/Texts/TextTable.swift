// SPDX-License-Identifier: GPL-2.0-or-later

/// Groups of texts, and every text in them by its id.
package struct TextTable: Sendable {
    /// One case of a group: its text, and what goes with it and is told of the same.
    package struct Entry: Sendable {
        /// What it is called.
        package let id: String
        /// Its texts, by their ids.
        package let texts: [(id: String, text: LocalText)]

        /// A case with its texts.
        package init(id: String, texts: [(id: String, text: LocalText)]) {
            self.id = id
            self.texts = texts
        }
    }

    /// The names of the groups' types.
    package let groups: Set<String>
    /// Every case of every group.
    package let entries: [Entry]
    private let texts: [String: LocalText]

    /// A table of groups.
    package init(_ groups: [any Localized.Type]) {
        self.init(Set(groups.map { "\($0)" }), groups.flatMap { Self.cases(of: $0) })
    }

    /// A table of cases that are no group of their own.
    package init(_ name: String, _ entries: [Entry]) { self.init([name], entries) }

    private init(_ groups: Set<String>, _ entries: [Entry]) {
        self.groups = groups
        self.entries = entries
        texts = Dictionary(entries.flatMap(\.texts), uniquingKeysWith: { first, _ in first })
    }

    /// The text of that id; nil where the table has none.
    package subscript(id: String) -> LocalText? { texts[id] }

    /// Both tables in one.
    package static func + (one: TextTable, other: TextTable) -> TextTable {
        TextTable(one.groups.union(other.groups), one.entries + other.entries)
    }

    private static func cases(of group: (some Localized).Type) -> [Entry] {
        group.allCases.map { text in
            Entry(
                id: text.id,
                texts: [(text.id, text.texts)] + (text.remedy.map { [(text.remedyID, $0)] } ?? [])
            )
        }
    }
}

extension TextTable {
    /// The groups beside this file: all but those whose cases or English are of another module.
    package static let common = TextTable([
        LabelText.self, PlainText.self, PageText.self, TimeLabelText.self, KeyLabelText.self, GuideText.self,
        KeyboardFaultText.self, ControlFaultText.self, FileFaultText.self,
        CommandFaultText.self, RemedyText.self, ReasonText.self, NoteText.self, SetupText.self, SetupFaultText.self,
        HookText.self, AccountText.self, DemoText.self,
    ])
}
