// SPDX-License-Identifier: GPL-2.0-or-later

// Message table: the folders `Tables` contain all texts that the product shows to people, in every language. Tests
// verify that no other code contains such texts. Most groups are in this module; groups whose keys are the values of
// another module are in that module. Each group is an enum, and the compiler requires every case in every language; a
// `TextTable` lists the groups.
//
// The following texts are deliberately not in the table, and are in English only:
//   - `--help`, the manual page, and the parser's messages about a wrong command line;
//   - output for programs: JSON, names of members, ids of findings, tab-separated lines, exit statuses;
//   - the journal of a daemon, which is read together with those of other programs, and its messages to the service
//     manager;
//   - files that people edit, with their comments, and the faults found in them, which refer to a line and its grammar,
//     as those of a compiler do;
//   - error descriptions of the kernel, the C library or the Bluetooth modules, which follow a colon as a detail of a
//     text in the table.

/// A group of texts: an enum in which every case has a text in each language.
package protocol Localized: CaseIterable, RawRepresentable, Sendable where RawValue == String {
    var texts: LocalText { get }
    /// The remedy or next step, which takes the same arguments as the text; nil if there is none.
    var remedy: LocalText? { get }
}

extension Localized {
    package var remedy: LocalText? { nil }

    package func text(_ language: Language, _ arguments: String...) -> String {
        texts.filled(language, with: arguments)
    }

    package func text(_ language: Language, with arguments: [String]) -> String {
        texts.filled(language, with: arguments)
    }

    /// Creates a message, in every language, from this text and its arguments.
    package func message(_ arguments: any MessageArgument...) -> Message { message(with: arguments) }

    package func message(with arguments: [any MessageArgument]) -> Message {
        Message(texts, id: id, arguments)
    }

    /// Creates a message from the remedy or next step and its arguments; nil if there is none.
    package func remedyMessage(with arguments: [any MessageArgument]) -> Message? {
        remedy.map { Message($0, id: remedyID, arguments) }
    }

    /// Identifier of the text, unique in the whole table, such as `AdapterFaultText.softBlocked`.
    package var id: String { "\(Self.self).\(rawValue)" }

    package var remedyID: String { id + ".remedy" }
}

/// A group of texts for failures; each case has a cause, and a remedy if one is known.
package protocol FaultText: Localized {
    /// The cause and the remedy, each in one sentence.
    var said: (cause: LocalText, remedy: LocalText?) { get }
}

extension FaultText {
    package var texts: LocalText { said.cause }
    package var remedy: LocalText? { said.remedy }

    /// Creates a cause and its remedy in English and Japanese.
    func cause(
        _ english: String,
        _ japanese: String,
        fix: String,
        _ japaneseFix: String
    ) -> (cause: LocalText, remedy: LocalText?) {
        (LocalText(english, japanese), LocalText(fix, japaneseFix))
    }

    /// Creates a cause in English and Japanese; `fix` is its remedy, or nil if none is known.
    func cause(_ english: String, _ japanese: String, fix: LocalText? = nil) -> (cause: LocalText, remedy: LocalText?) {
        (LocalText(english, japanese), fix)
    }
}

/// A language of the program's texts.
package enum Language: String, Sendable, CaseIterable {
    /// English, which every terminal can display.
    case english = "en"
    case japanese = "ja"

    /// Name of the environment variable that sets the language, whatever the locale and the terminal are.
    package static let variable = "BLEWEDGE_LANG"

    /// Determines the language from the environment of a process.
    ///
    /// The locale of messages is the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is set and not empty:
    /// POSIX.1-2024, Base Definitions, 8.2. Japanese requires a UTF-8 locale, and a terminal other than the Linux
    /// console, whose fonts have at most 512 glyphs.
    package init(_ environment: (String) -> String?) {
        if let wanted = environment(Self.variable).flatMap(Language.init(rawValue:)) {
            self = wanted
            return
        }
        let locale = Self.first(of: ["LC_ALL", "LC_MESSAGES", "LANG"], environment) ?? ""
        // The locale's language may be written `ja`, `ja_JP.UTF-8` or `ja@…`; a longer name is another language.
        let name = locale.prefix { $0.isLetter && $0.isASCII }
        let canShow = Self.isUnicode(environment) && environment("TERM") != "linux"
        self = name == Language.japanese.rawValue && canShow ? .japanese : .english
    }

    /// Returns true if text is encoded in UTF-8 in this environment.
    ///
    /// The encoding is part of the locale, which is the first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set and not
    /// empty.
    package static func isUnicode(_ environment: (String) -> String?) -> Bool {
        let locale = first(of: ["LC_ALL", "LC_CTYPE", "LANG"], environment) ?? ""
        let encoding = locale.drop { $0 != "." }.dropFirst().prefix { $0 != "@" }
        return ["utf-8", "utf8"].contains(encoding.lowercased())
    }

    private static func first(of names: [String], _ environment: (String) -> String?) -> String? {
        names.compactMap { environment($0).flatMap { $0.isEmpty ? nil : $0 } }.first
    }
}
