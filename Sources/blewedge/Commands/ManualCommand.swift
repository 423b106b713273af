// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Daemon
import LinuxIO
import Setup
import Texts

struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Print the manual page.",
        discussion: """
            The manual page contains the help text of every command.

            EXAMPLES:
              blewedge manual | man -l -
              blewedge manual > /usr/local/share/man/man1/blewedge.1
            """
    )

    func run() throws { try StandardStream.output.write(try Self.page()) }

    static func page() throws(CommandFailure) -> String {
        do {
            let help = try JSONValue(Array(BlewedgeCommand._dumpHelp().utf8))
            return ManualText.page(ofHelp: help, version: BlewedgeCommand.programVersion)
        } catch {
            throw CommandFailure(.internal, CommandFaultText.noHelp, "\(error)")
        }
    }
}

/// The manual page, which is generated from the output of `--help`, so that the two always agree.
///
/// man(7), groff_man(7), man-pages(7).
struct ManualText {
    /// Number of commands that must share an option before it is described in the section on common options.
    private static let leastUses = 5

    private var lines: [String] = []
    /// Options that several commands have with the same description, so that they are described only once.
    private let common: [JSONValue]

    /// Returns the manual page of a program.
    ///
    /// `help` is the program's help as JSON: commands with their arguments and descriptions.
    static func page(ofHelp help: JSONValue, version: String) -> String {
        let command = help["command"] ?? .null
        var text = ManualText(common: commonOptions(of: command))
        let name = command["commandName"]?.string ?? ""
        text.macro("TH", [name.uppercased(), "1", "", "\(name) \(version)", "User Commands"])
        text.macro("SH", ["NAME"])
        let abstract = command["abstract"]?.string ?? ""
        text.text("\(name) - \(abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract)")
        text.macro("SH", ["SYNOPSIS"])
        text.macro("B", [name])
        text.text("[command] [options]")
        let sections = sections(of: command)
        text.macro("SH", ["DESCRIPTION"])
        for section in sections where section.title.map({ !titles.contains($0) }) ?? true { text.prose(section.lines) }
        text.macro("SH", ["OPTIONS"])
        text.text("The options of a command are listed below it. These options belong to all or to several commands:")
        for argument in text.common { text.argument(argument) }
        text.macro("PP", [])
        text.text("A <time> is a number with the unit ms or s; without a unit, it is in seconds.")
        text.macro("SH", ["COMMANDS"])
        text.commands(command, path: name)
        for title in titles {
            guard let section = sections.first(where: { $0.title == title }) else { continue }
            text.macro("SH", [title])
            if title == "EXAMPLES" { text.prose(section.lines) } else { text.entries(section.lines) }
        }
        text.macro("SH", ["SEE ALSO"])
        for (index, other) in others.enumerated() {
            text.macro("BR", [other.name, "(\(other.section))" + (index == others.count - 1 ? "" : ",")])
        }
        return text.lines.joined(separator: "\n") + "\n"
    }

    /// Titles in the program's description that become sections of the page, in this order.
    private static let titles = ["FILES", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES"]

    private static let others: [(name: String, section: Int)] = [
        ("btmon", 1), ("journalctl", 1), ("systemctl", 1), ("xkeyboard-config", 7), ("rfkill", 8), ("udevadm", 8),
    ]

    /// Returns the options that many commands have with the same description.
    private static func commonOptions(of program: JSONValue) -> [JSONValue] {
        var found: [(option: JSONValue, uses: Int, isSame: Bool)] = []
        func add(_ command: JSONValue) {
            for option in shown(command["arguments"]) where option["kind"]?.string != "positional" {
                if let index = found.firstIndex(where: { names($0.option) == names(option) }) {
                    found[index].uses += 1
                    if found[index].option["abstract"] != option["abstract"] { found[index].isSame = false }
                } else {
                    found.append((option, 1, true))
                }
            }
            for inner in shown(command["subcommands"]) where inner["commandName"]?.string != "help" { add(inner) }
        }
        add(program)
        return found.filter { $0.isSame && $0.uses >= leastUses }.map(\.option)
    }

    private static func shown(_ values: JSONValue?) -> [JSONValue] {
        (values?.array ?? []).filter { $0["shouldDisplay"]?.bool == true }
    }

    private mutating func commands(_ command: JSONValue, path: String) {
        for command in Self.shown(command["subcommands"]) where command["commandName"]?.string != "help" {
            let path = "\(path) \(command["commandName"]?.string ?? "")"
            let arguments = Self.shown(command["arguments"])
            macro("SS", [path])
            text(command["abstract"]?.string ?? "")
            macro("PP", [])
            let positional = arguments.filter { $0["kind"]?.string == "positional" }.map(Self.synopsis)
            text("Usage: " + ([path] + positional + ["[options]"]).joined(separator: " "))
            let sections = Self.sections(of: command)
            for section in sections where section.title == nil {
                macro("PP", [])
                prose(section.lines)
            }
            let known = common.map(Self.names)
            for argument in arguments where !known.contains(Self.names(argument)) { self.argument(argument) }
            let shared = arguments.map(Self.names).filter { known.contains($0) }.compactMap { name in
                name.split(separator: " ").first.map(String.init)
            }.filter { !["--version", "-h,"].contains($0) }
            if !shared.isEmpty {
                macro("PP", [])
                text("Common options: " + shared.joined(separator: ", ") + ".")
            }
            for section in sections {
                guard let title = section.title else { continue }
                macro("PP", [])
                macro("B", ["\(title):"])
                macro("br", [])
                prose(section.lines)
            }
            commands(command, path: path)
        }
    }

    private mutating func argument(_ argument: JSONValue) {
        macro("TP", [])
        macro("B", [Self.names(argument)])
        text(argument["abstract"]?.string ?? "")
        if let standard = argument["defaultValue"]?.string { text("(default: \(standard))") }
        text(argument["discussion"]?.string ?? "")
    }

    private static func synopsis(_ argument: JSONValue) -> String {
        let name = "<\(argument["valueName"]?.string ?? "")>" + (argument["isRepeating"]?.bool == true ? " ..." : "")
        return argument["isOptional"]?.bool == true ? "[\(name)]" : name
    }

    private static func names(_ argument: JSONValue) -> String {
        guard argument["kind"]?.string != "positional" else { return synopsis(argument) }
        let names = (argument["names"]?.array ?? []).map { name in
            (name["kind"]?.string == "long" ? "--" : "-") + (name["name"]?.string ?? "")
        }
        let value = argument["kind"]?.string == "option" ? " <\(argument["valueName"]?.string ?? "")>" : ""
        return names.joined(separator: ", ") + value
    }

    /// Splits the long part of a command's help at its titles; the title is nil for text before the first title.
    private static func sections(of command: JSONValue) -> [(title: String?, lines: [Substring])] {
        var sections: [(title: String?, lines: [Substring])] = [(nil, [])]
        for line in (command["discussion"]?.string ?? "").split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasSuffix(":"), line.allSatisfy({ $0.isUppercase || " :".contains($0) }) {
                sections.append((String(line.dropLast()), []))
            } else {
                sections[sections.count - 1].lines.append(line)
            }
        }
        for index in sections.indices {
            while sections[index].lines.last?.isEmpty == true { sections[index].lines.removeLast() }
        }
        return sections.filter { !$0.lines.isEmpty }
    }

    /// Appends a section as sentences; indented lines are preformatted text.
    private mutating func prose(_ section: [Substring]) {
        var isTable = false
        var isBreak = false
        for line in section {
            if line.allSatisfy({ $0 == " " }) {
                isBreak = true
                continue
            }
            let isIndented = line.hasPrefix("  ")
            if isTable, !isIndented || isBreak { macro("EE", []) }
            if isBreak { macro("PP", []) }
            if isIndented, !isTable || isBreak { macro("EX", []) }
            (isTable, isBreak) = (isIndented, false)
            text(String(line))
        }
        if isTable { macro("EE", []) }
    }

    /// Appends a section that lists terms and their descriptions, and any sentences after them.
    ///
    /// On each line, two or more spaces separate the term from its description.
    private mutating func entries(_ section: [Substring]) {
        for line in section {
            let words = line.dropFirst(2)
            let gap = words.indices.first { words[$0...].hasPrefix("  ") }
            if line.hasPrefix("  "), let gap {
                macro("TP", [])
                macro("B", [String(words[..<gap])])
                text(String(words[gap...].drop { $0 == " " }))
            } else {
                macro("PP", [])
                text(String(line))
            }
        }
    }

    private mutating func macro(_ name: String, _ arguments: [String]) {
        // In roff, a quotation mark within a quoted argument is doubled.
        let words = arguments.map { "\"" + Self.plain($0).map { $0 == "\"" ? "\"\"" : "\($0)" }.joined() + "\"" }
        lines.append(([".\(name)"] + words).joined(separator: " "))
    }

    private mutating func text(_ text: String) {
        guard !text.isEmpty else { return }
        // Escape a full stop or an apostrophe at the start of a line, because it would begin a roff request.
        lines.append((text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" : "") + Self.plain(text))
    }

    /// Escapes a text for roff; hyphens are escaped too, so that they can be copied into a shell.
    private static func plain(_ text: String) -> String {
        text.map { character in
            switch character {
            case "\\": "\\e"
            case "-": "\\-"
            case "\n": " "
            default: String(character)
            }
        }.joined()
    }
}

struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print the completion script for a shell.",
        discussion: """
            The script completes commands, options and values, such as the names of known devices, profiles, layouts \
            and tables.

            EXAMPLES:
              blewedge completions bash > /usr/share/bash-completion/completions/blewedge
              blewedge completions zsh > /usr/local/share/zsh/site-functions/_blewedge
              blewedge completions fish > ~/.config/fish/completions/blewedge.fish
            """
    )

    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash
        case zsh
        case fish

        var completion: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }

        var reader: HelpFile.Reader {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    @Argument(
        help: ArgumentHelp(
            "Shell that will load the completion script.",
            valueName: Shell.allCases.map(\.rawValue).joined(separator: "|")
        )
    )
    var shell: Shell

    func run() throws {
        try StandardStream.output.write(Self.script(for: shell))
    }

    /// Returns the completion script for a shell.
    static func script(for shell: Shell) -> String { BlewedgeCommand.completionScript(for: shell.completion) + "\n" }
}
