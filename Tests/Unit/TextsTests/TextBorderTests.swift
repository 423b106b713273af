// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

/// Separation between the tables of texts and the other code.
@Suite("Texts outside the table")
struct TextBorderTests {
    /// Texts that are intentionally outside the tables, as explained in `Localized.swift`.
    private enum Category: CaseIterable {
        case help, fault, command, name

        /// Calls whose arguments are texts of this category.
        var calls: Set<String> {
            switch self {
            // Texts for swift-argument-parser.
            case .help:
                [
                    "CommandConfiguration", "ArgumentHelp", "ValidationError", "@Flag", "@Option", "@Argument",
                    "@OptionGroup",
                ]
            // Errors in a text written by somebody, and their positions.
            case .fault: ["Fault", "SelectedDevice.Fault", "ServerAnswerFault", "fault"]
            case .command, .name: []
            }
        }

        /// Files that contain only texts of this category.
        var files: Set<String> {
            switch self {
            // The manual page, which contains the help of every command.
            case .help: ["ManualCommand.swift"]
            // Parsers of files, values and requests, and the reference of the configuration.
            case .fault:
                [
                    "BeaconConfiguration.swift", "BeaconRequest+Line.swift", "Configuration+Text.swift",
                    "Configuration.swift", "ConfigurationKey+Table.swift", "ConfigurationKey.swift",
                    "ConfigurationValue.swift", "OutputTable.swift", "ConfiguredDevice.swift", "ControlLine.swift",
                    "ControlRequest+Line.swift",
                    "ControlRequest.swift", "Framing.swift", "HexTemplate.swift", "JSONValue.swift",
                    "SelectedDevice.swift", "KeptRegions.swift", "ControlTalk.swift", "ProfileReader.swift",
                    "ValueTable.swift",
                    "ServerAnswer.swift", "ServerRegion.swift", "TOMLValue.swift", "TimeText.swift",
                    "TrackRecord.swift",
                ]
            case .command: []
            // Vendors' names of services.
            case .name: ["Profile.swift"]
            }
        }

        /// First words of shell commands.
        var firstWords: Set<String> {
            guard self == .command else { return [] }
            return [
                "blewedge", "sudo", "systemctl", "rc-service", "sv", "modprobe", "mknod", "rfkill", "rm", "chown",
                "echo",
            ]
        }

        /// Texts that belong to this category regardless of their context.
        var texts: Set<String> {
            guard self == .name else { return [] }
            let place = SourceLiterals.place
            return [
                // The keyboard's name in the kernel, programs, and parts of commands and requests.
                "blewedge keyboard", "bluetoothd (process \(place))", "snippet \(place)", "blewedge: \(place) ",
                // Names in the Core Specification, and names given by a vendor.
                "write without response", "signed write", "Data From Peripheral", "Data To Peripheral",
                // Comments in a table that is printed as a file.
                "# \(place), with layout \(place)", "rejected: the layout cannot type it",
                // Comments that mark the lines added by setup.
                "# blewedge: its own lines begin; `blewedge setup --remove` takes them away",
                "# blewedge: its own lines end",
                // Headings of a measurement.
                "uinput, queue of \(place): \(place) events/s, \(place) lost; write to read, µs: ",
                " (\(place) keystrokes)",
                // HTTP header of a request.
                "Authorization: Bearer ",
                // Line in the log of Xorg.
                "Using input driver 'evdev' for '\(place)'",
                // A unit.
                "\(place) dBm",
            ]
        }

        func allows(_ literal: SourceLiterals.Literal, in file: String) -> Bool {
            let first = literal.text.prefix { $0 != " " }
            return !calls.isDisjoint(with: literal.calls) || files.contains(file) || firstWords.contains(String(first))
                || texts.contains(literal.text)
        }
    }

    /// Modules of the program that contain messages for users.
    private static let modules = [
        "Texts", "Typing", "BeaconServer", "Devices", "Configuration", "Link", "Control", "Daemon", "Setup", "blewedge",
    ]

    /// Sentences in the code of the program, except in the tables.
    private static let sentences = Result<[(file: String, literal: SourceLiterals.Literal)], any Error> {
        try modules.flatMap { try SourceFiles.files(of: $0) }
            .filter { !$0.isTable }.flatMap { file in
                SourceLiterals(file.text).literals.filter(\.isSentence).map { (file.name, $0) }
            }
    }

    @Test("No text for people stands in the code outside the table")
    func nothingOutside() throws {
        let sentences = try Self.sentences.get()
        #expect(sentences.count > 300)
        for (file, literal) in sentences where !Category.allCases.contains(where: { $0.allows(literal, in: file) }) {
            Issue.record("\(file):\(literal.line) belongs into a table of texts: \(literal.text.debugDescription)")
        }
    }

    @Test("Every exception is needed")
    func nothingNeedless() throws {
        let sentences = try Self.sentences.get()
        for category in Category.allCases {
            for file in category.files { #expect(sentences.contains { $0.file == file }, "\(file)") }
            for text in category.texts { #expect(sentences.contains { $0.literal.text == text }, "\(text)") }
            for call in category.calls { #expect(sentences.contains { $0.literal.calls.contains(call) }, "\(call)") }
            for word in category.firstWords {
                #expect(sentences.contains { $0.literal.text.hasPrefix(word + " ") }, "\(word)")
            }
        }
    }

    /// Returns the sentences of these modules with their positions; interpolations and numbered placeholders are
    /// replaced with one character.
    private static func sentences(
        of modules: [String],
        where isMeant: (SourceFiles.File) -> Bool = { _ in true }
    ) throws -> [String: String] {
        var found: [String: String] = [:]
        for file in try modules.flatMap({ try SourceFiles.files(of: $0) }) where isMeant(file) {
            for literal in SourceLiterals(file.text).literals {
                // Tables use numbers in braces instead of interpolations.
                let text = (1...9).reduce(literal.text) { text, number in
                    text.split(separator: "{\(number)}", omittingEmptySubsequences: false)
                        .joined(separator: String(SourceLiterals.place))
                }
                let reading = SourceLiterals.Literal(line: literal.line, text: text, calls: literal.calls)
                if reading.isSentence { found[text] = "\(file.path):\(literal.line)" }
            }
        }
        return found
    }

    @Test("No sentence of the library stands a second time in a table, and none names the product")
    func once() throws {
        let library = ["BluetoothLE", "BluetoothHost", "BluetoothPackets", "LinuxIO"]
        let said = try Self.sentences(of: library)
        let tables = try Self.sentences(of: Self.modules) { $0.isTable }
        #expect(said.count > 100 && tables.count > 300)
        for (text, place) in tables {
            if let other = said[text] { Issue.record("\(text.debugDescription) stands in \(other) and in \(place)") }
        }
        for (text, place) in said {
            #expect(!text.contains("blewedge") && !text.contains("--"), "\(place) names the product's own")
        }
    }

    @Test("A text is found in every form of a literal, and what it is an argument of")
    func reading() {
        let source = ##"""
            // "no text" /* here */
            /* "nor here" */
            throw Failure(.usage, "cannot \(what("the inner one")) it", remedy: [a ?? "do this"].first)
            let text = """
                Some \(x.map { "a \($0) b" }) lines.
                """ + #"raw "text" \#(here) \(not here)"#
            f("one", "two-words", "\n two words")
            """##
        let literals = SourceLiterals(source).literals
        let place = SourceLiterals.place
        #expect(
            literals.map { $0.text.split(whereSeparator: \.isWhitespace).joined(separator: " ") } == [
                "the inner one", "cannot \(place) it", "do this", "a \(place) b", "Some \(place) lines.",
                #"raw "text" \#(place) \(not here)"#, "one", "two-words", "two words",
            ]
        )
        #expect(literals.map(\.line) == [3, 3, 3, 5, 4, 6, 7, 7, 7])
        #expect(literals.map(\.calls.first) == ["what", "Failure", "Failure", nil, nil, nil, "f", "f", "f"])
        #expect(literals.map(\.isSentence) == [true, true, true, false, true, false, false, false, true])
    }
}
