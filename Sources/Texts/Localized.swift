// SPDX-License-Identifier: GPL-2.0-or-later

// The table of texts: the folders `Tables` hold everything that the product says to people, in every language, and no
// other code has a text of its own (tests read the code and see to it). Most of them stand here; texts whose keys are
// the values of another module stand in that module. Each group of texts is an enum, whose cases the compiler wants in
// every language; a `TextTable` lists the groups.
//
// Not in the table, and English for everybody, on purpose:
//   - `--help`, the manual page, and what the parser of the command line says of a wrong one;
//   - what programs read: JSON, names of members, ids of findings, tab-separated lines, exit statuses;
//   - the journal of a daemon, which is read beside those of others, and what it tells the service manager;
//   - files that people edit, with the comments that come with them, and the faults that readers find in them: those
//     name a line and its grammar, as a compiler does;
//   - what the kernel, the C library or the Bluetooth modules say of an error. It stands behind a colon, as a detail of
//     a text that is in the table.

/// A group of texts, as an enum whose cases each have every language.
package protocol Localized: CaseIterable, RawRepresentable, Sendable where RawValue == String {
    /// The text in every language.
    var texts: LocalText { get }
    /// The remedy or the next step, with the same arguments; nil if there is none.
    var remedy: LocalText? { get }
}

extension Localized {
    package var remedy: LocalText? { nil }

    /// The text in one language, with the arguments in its places.
    package func text(_ language: Language, _ arguments: String...) -> String {
        texts.filled(language, with: arguments)
    }

    /// The text in one language, with the arguments of a list in its places.
    package func text(_ language: Language, with arguments: [String]) -> String {
        texts.filled(language, with: arguments)
    }

    /// The message of this text with its arguments, for every language.
    package func message(_ arguments: any MessageArgument...) -> Message { message(with: arguments) }

    /// The message of this text with the arguments of a list, for every language.
    package func message(with arguments: [any MessageArgument]) -> Message {
        Message(texts, id: id, arguments)
    }

    /// The message of the remedy or the next step, with the arguments of a list; nil if there is none.
    package func remedyMessage(with arguments: [any MessageArgument]) -> Message? {
        remedy.map { Message($0, id: remedyID, arguments) }
    }

    /// The id of the text, unique in the whole table, such as `AdapterFaultText.softBlocked`.
    package var id: String { "\(Self.self).\(rawValue)" }

    /// The id of the remedy.
    package var remedyID: String { id + ".remedy" }
}

/// A group of fault texts: each has a cause, and a remedy where one is known.
package protocol FaultText: Localized {
    /// The cause and the remedy, each in one sentence.
    var said: (cause: LocalText, remedy: LocalText?) { get }
    /// The kind of failure, where a program may go on from it; nil elsewhere.
    var kind: CommandFailure.Kind? { get }
}

extension FaultText {
    package var texts: LocalText { said.cause }
    package var kind: CommandFailure.Kind? { nil }
    package var remedy: LocalText? { said.remedy }
}
