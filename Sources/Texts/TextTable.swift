// SPDX-License-Identifier: GPL-2.0-or-later

/// A table that finds texts by their identifiers.
package struct TextTable: Sendable {
    /// One case of a group of texts: its main text, and its variants, which take the same arguments.
    package struct Entry: Sendable {
        package let id: String
        /// The main text and the variants, with their identifiers.
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

    /// Creates a table, with the given name, of entries that are not cases of an enum.
    package init(_ name: String, _ entries: [Entry]) { self.init([name], entries) }

    private init(_ groups: Set<String>, _ entries: [Entry]) {
        self.groups = groups
        self.entries = entries
        texts = Dictionary(entries.flatMap(\.texts), uniquingKeysWith: { first, _ in first })
    }

    /// The text with this identifier; nil if the table has none.
    package subscript(id: String) -> LocalText? { texts[id] }

    /// Returns a table with the entries of both tables.
    package static func + (one: TextTable, other: TextTable) -> TextTable {
        TextTable(one.groups.union(other.groups), one.entries + other.entries)
    }

    private static func cases(of group: (some Localized).Type) -> [Entry] {
        group.allCases.map { text in
            Entry(id: text.id, texts: [(text.id, text.texts)] + (text.remedy.map { [(text.remedyID, $0)] } ?? []))
        }
    }

    /// The table of the text groups in this module.
    ///
    /// Groups whose cases or English texts come from another module are added in a module that imports both.
    package static let common = TextTable([
        LabelText.self, PlainText.self, PageText.self, TimeLabelText.self, KeyLabelText.self, GuideText.self,
        KeyboardFaultText.self, ControlFaultText.self, FileFaultText.self,
        CommandFaultText.self, RemedyText.self, ReasonText.self, LogText.self, SetupText.self, SetupFaultText.self,
        HookText.self, AccountText.self, DemoText.self, DemoScriptText.self, AllowanceText.self, BondText.self,
        BondFaultText.self, BeaconText.self, BeaconFaultText.self, BeaconRemedyText.self, BeaconServerText.self,
        ManagedText.self, BeaconServerFaultText.self, ContactResult.self, HIDText.self, HIDOutcomeText.self,
        ValueText.self, ValueOutcomeText.self, ValueFaultText.self,
        HIDKindText.self,
        HIDFaultText.self, ReportMapText.self,
    ])
}

/// Measures text in terminal columns.
package enum DisplayWidth {
    /// Characters that are two columns wide, as far as they occur in names.
    ///
    /// They are the characters whose East Asian Width is Wide or Fullwidth. Unicode 16.0, EastAsianWidth.txt, in whole
    /// blocks.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
        0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]

    /// Returns the width of a character: 1 or 2 columns.
    package static func columns(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    package static func columns(of text: String) -> Int { text.reduce(0) { $0 + columns($1) } }

    /// Returns the longest prefix of a text that fits into this number of columns.
    package static func cut(_ text: String, to columns: Int) -> String {
        var rest = columns
        return String(
            text.prefix { character in
                rest -= Self.columns(character)
                return rest >= 0
            }
        )
    }

    /// Returns a text that is cut off, or padded with spaces, so that it is exactly this number of columns wide.
    package static func padded(_ text: String, to columns: Int) -> String {
        let visible = cut(text, to: columns)
        return visible + String(repeating: " ", count: columns - Self.columns(of: visible))
    }

    /// Formats the rows of a table, which have equally many cells, as lines.
    ///
    /// Every column except the last is as wide as its widest cell.
    package static func table(_ rows: [[String]]) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { columns(of: $0[column]) }.max() ?? 0 }
        return rows.map { row in
            (zip(row.dropLast(), widths).map { padded($0, to: $1) } + row.suffix(1)).joined(separator: "  ")
        }
    }
}
