// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Configuration
import Daemon
import LinuxIO
import Setup
import Texts

struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Print a manual page.",
        discussion: """
            The page blewedge(1) contains the help text of every command. The page blewedge.toml(5) describes all \
            settings.

            EXAMPLES:
              blewedge manual | man -l -
              blewedge manual blewedge.toml | man -l -
              blewedge manual > /usr/local/share/man/man1/blewedge.1
            """
    )

    enum Page: String, ExpressibleByArgument, CaseIterable {
        case commands = "blewedge"
        case configuration = "blewedge.toml"
    }

    @Argument(
        help: ArgumentHelp(
            "Page to print (default: blewedge).",
            valueName: Page.allCases.map(\.rawValue).joined(separator: "|")
        )
    )
    var page: Page?

    func run() throws {
        let text =
            switch page ?? .commands {
            case .commands: try Self.page()
            case .configuration: ManualText.configurationPage(version: BlewedgeCommand.programVersion)
            }
        try StandardStream.output.write(text)
    }

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
        text.seeAlso(others)
        return text.lines.joined(separator: "\n") + "\n"
    }

    /// Returns the manual page of the configuration file, which is generated from the table of its keys.
    static func configurationPage(version: String) -> String {
        var text = ManualText(common: [])
        text.macro("TH", ["BLEWEDGE.TOML", "5", "", "blewedge \(version)", "File Formats"])
        text.macro("SH", ["NAME"])
        text.text("blewedge.toml - configuration of blewedge")
        text.macro("SH", ["SYNOPSIS"])
        text.text("/etc/blewedge/blewedge.toml")
        text.macro("PP", [])
        text.text("~/.config/blewedge/blewedge.toml")
        text.macro("SH", ["DESCRIPTION"])
        text.prose(
            """
            The file contains the settings of blewedge, in TOML. Users other than root have a file of their own. Every \
            key and the file itself are optional. Options of a command take precedence over the file.

            `blewedge config check` finds mistakes in the file. A running daemon applies a changed file after \
            `blewedge reload`. `blewedge config show --commented` prints all settings as a file with comments.

            The value of a key is shown with its default. A key without a default is shown with an example. A time is \
            a text with the unit ms or s, such as "50ms". Keys of a table are written below a line with the table's \
            name in square brackets, and keys of no table before the first of these lines.
            """.split(separator: "\n", omittingEmptySubsequences: false)
        )
        text.macro("SH", ["KEYS OF NO TABLE"])
        var section = ""
        for key in ConfigurationKey.all {
            if key.section != section {
                if section.isEmpty { text.macro("SH", ["TABLES"]) }
                section = key.section
                text.macro("SS", ["[\(section)]"])
            }
            text.macro("TP", [])
            text.macro("B", [key.name + (key.defaultText.map { " = \($0)" } ?? "")])
            text.text(key.summary)
            guard key.defaultText == nil else { continue }
            text.macro("br", [])
            text.text("Example: \(key.name) = \(key.example)")
        }
        text.macro("SH", ["TABLES WITH NAMES"])
        for (index, example) in Configuration.tableExamples.enumerated() {
            if index > 0 { text.macro("PP", []) }
            text.commentedExample(example)
        }
        text.macro("SH", ["FILES"])
        text.entries([
            "  /etc/blewedge/blewedge.toml          Settings of the service, and of commands that root runs.",
            "  ~/.config/blewedge/blewedge.toml     Settings of another user.",
            "  /usr/share/doc/blewedge/examples     Complete examples, in the Debian package.",
        ])
        text.macro("SH", ["EXAMPLES"])
        text.prose([
            "Type barcodes with a German keyboard layout, and only barcodes of at least 8 bytes:", "",
            "  layout = \"de\"", "  ", "  [scan-mode]", "  on = true", "  min-length = 8",
        ])
        text.seeAlso([("blewedge", 1), ("xkeyboard-config", 7)])
        return text.lines.joined(separator: "\n") + "\n"
    }

    /// Appends a text of comment lines: sentences up to an empty comment, and then an example.
    private mutating func commentedExample(_ example: String) {
        let lines = example.split(separator: "\n")
        let sentences = lines.prefix { $0 != "#" }
        for sentence in sentences { text(String(sentence.dropFirst().drop { $0 == " " })) }
        macro("PP", [])
        macro("EX", [])
        for line in lines.dropFirst(sentences.count + 1) {
            self.lines.append("  " + Self.plain(String(line.dropFirst())))
        }
        macro("EE", [])
    }

    private mutating func seeAlso(_ pages: [(name: String, section: Int)]) {
        macro("SH", ["SEE ALSO"])
        for (index, page) in pages.enumerated() {
            macro("BR", [page.name, "(\(page.section))" + (index == pages.count - 1 ? "" : ",")])
        }
    }

    /// Titles in the program's description that become sections of the page, in this order.
    private static let titles = ["FILES", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES"]

    private static let others: [(name: String, section: Int)] = [
        ("btmon", 1), ("journalctl", 1), ("systemctl", 1), ("blewedge.toml", 5), ("xkeyboard-config", 7), ("rfkill", 8),
        ("udevadm", 8),
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
