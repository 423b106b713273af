// SPDX-License-Identifier: GPL-2.0-or-later

/// A table of groups of texts, in which each text is found by its id.
package struct TextTable: Sendable {
    /// One case of a group: its text, and the texts that belong to it and have the same arguments.
    package struct Entry: Sendable {
        package let id: String
        /// The texts of the case, with their ids.
        package let texts: [(id: String, text: LocalText)]

        package init(id: String, texts: [(id: String, text: LocalText)]) {
            self.id = id
            self.texts = texts
        }
    }

    package let groups: Set<String>
    package let entries: [Entry]
    private let texts: [String: LocalText]

    package init(_ groups: [any Localized.Type]) {
        self.init(Set(groups.map { "\($0)" }), groups.flatMap { Self.cases(of: $0) })
    }

    /// Makes a table, under one name, of cases that belong to no enum.
    package init(_ name: String, _ entries: [Entry]) { self.init([name], entries) }

    private init(_ groups: Set<String>, _ entries: [Entry]) {
        self.groups = groups
        self.entries = entries
        texts = Dictionary(entries.flatMap(\.texts), uniquingKeysWith: { first, _ in first })
    }

    /// The text with this id; nil if the table has none.
    package subscript(id: String) -> LocalText? { texts[id] }

    /// A table of the entries of both.
    package static func + (one: TextTable, other: TextTable) -> TextTable {
        TextTable(one.groups.union(other.groups), one.entries + other.entries)
    }

    private static func cases(of group: (some Localized).Type) -> [Entry] {
        group.allCases.map { text in
            Entry(id: text.id, texts: [(text.id, text.texts)] + (text.remedy.map { [(text.remedyID, $0)] } ?? []))
        }
    }

    /// The groups of this module.
    ///
    /// The groups whose cases or English are of another module are added by a module that sees both.
    package static let common = TextTable([
        LabelText.self, PlainText.self, PageText.self, TimeLabelText.self, KeyLabelText.self, GuideText.self,
        KeyboardFaultText.self, ControlFaultText.self, FileFaultText.self,
        CommandFaultText.self, RemedyText.self, ReasonText.self, LogText.self, SetupText.self, SetupFaultText.self,
        HookText.self, AccountText.self, DemoText.self, AllowanceText.self, BondText.self, BondFaultText.self,
        BeaconText.self, BeaconFaultText.self, BeaconRemedyText.self,
        BeaconServerText.self, BeaconServerFaultText.self,
    ])
}

/// The width of text on a terminal, in columns.
package enum DisplayWidth {
    /// The characters of two columns: those of East Asian Width Wide and Fullwidth that occur in names.
    ///
    /// Unicode 16.0, EastAsianWidth.txt, in whole blocks.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
        0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]

    /// The width of a character: 1 or 2 columns.
    package static func columns(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    package static func columns(of text: String) -> Int { text.reduce(0) { $0 + columns($1) } }

    /// The longest beginning of a text that fits into so many columns.
    package static func cut(_ text: String, to columns: Int) -> String {
        var rest = columns
        return String(
            text.prefix { character in
                rest -= Self.columns(character)
                return rest >= 0
            }
        )
    }

    /// A text cut, or filled with spaces, to exactly so many columns.
    package static func padded(_ text: String, to columns: Int) -> String {
        let visible = cut(text, to: columns)
        return visible + String(repeating: " ", count: columns - Self.columns(of: visible))
    }

    /// Rows of as many cells each as lines, with every column but the last as wide as its widest cell.
    package static func table(_ rows: [[String]]) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { columns(of: $0[column]) }.max() ?? 0 }
        return rows.map { row in
            (zip(row.dropLast(), widths).map { padded($0, to: $1) } + row.suffix(1)).joined(separator: "  ")
        }
    }
}
