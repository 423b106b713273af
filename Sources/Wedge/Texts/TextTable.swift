// SPDX-License-Identifier: GPL-2.0-or-later

/// The whole table of texts.
package enum TextTable {
    /// One case of a group: its text, and what goes with it and is told of the same.
    package struct Entry: Sendable {
        /// What it is called.
        package let id: String
        /// Its texts, by their ids.
        package let texts: [(id: String, text: LocalText)]
    }

    /// The groups.
    private static let groups: [any Localized.Type] = [
        Session.State.self, StateNameText.self, LabelText.self, PlainText.self, PageText.self, TimeLabelText.self,
        KeyLabelText.self,
        GuideText.self, AdapterFaultText.self, LinkFaultText.self, KeyboardFaultText.self, ControlFaultText.self,
        FileFaultText.self, CommandFaultText.self, RemedyText.self, ReasonText.self, NoteText.self, SetupText.self,
        SetupFaultText.self, HookText.self, DemoText.self,
        FindingPartText.self, Finding.Severity.self, AccountText.self,
    ]

    /// Every case of every group, and of the findings.
    package static let entries: [Entry] =
        groups.flatMap { cases(of: $0) }
        + Finding.Cause.allCases.map { cause in
            let text = cause.text
            return Entry(
                id: "Finding.\(cause)",
                texts: [("what", text.what), ("why", text.why), ("remedy", text.remedy)].map {
                    ("Finding.\(cause).\($0)", $1)
                }
            )
        }

    /// Every text by its id.
    static let texts = Dictionary(entries.flatMap(\.texts), uniquingKeysWith: { first, _ in first })

    private static func cases(of group: (some Localized).Type) -> [Entry] {
        group.allCases.map { text in
            Entry(
                id: text.id,
                texts: [(text.id, text.texts)] + (text.remedy.map { [(text.remedyID, $0)] } ?? [])
            )
        }
    }
}
