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
            The page contains the help of every command.

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

/// Manual page generated from the output of `--help`, so that both always agree; man(7), groff_man(7).
struct ManualText {
    private var lines: [String] = []

    /// Returns the page of a program from its help as JSON: commands with their arguments and descriptions.
    static func page(ofHelp help: JSONValue, version: String) -> String {
        var text = ManualText()
        let command = help["command"] ?? .null
        let name = command["commandName"]?.string ?? ""
        text.macro("TH", [name.uppercased(), "1", "", "\(name) \(version)", "User Commands"])
        text.macro("SH", ["NAME"])
        text.text("\(name) - \(command["abstract"]?.string ?? "")")
        text.macro("SH", ["SYNOPSIS"])
        text.macro("B", [name])
        text.text("[COMMAND] [OPTIONS]")
        text.macro("SH", ["DESCRIPTION"])
        text.discussion(of: command)
        text.macro("SH", ["COMMANDS"])
        text.commands(command, path: name)
        return text.lines.joined(separator: "\n") + "\n"
    }

    private mutating func commands(_ command: JSONValue, path: String) {
        for command in command["subcommands"]?.array ?? [] where command["shouldDisplay"]?.bool == true {
            let path = "\(path) \(command["commandName"]?.string ?? "")"
            guard command["commandName"]?.string != "help" else { continue }
            let arguments = (command["arguments"]?.array ?? []).filter { $0["shouldDisplay"]?.bool == true }
            macro("SS", [path])
            text(command["abstract"]?.string ?? "")
            let positional = arguments.filter { $0["kind"]?.string == "positional" }.map(Self.synopsis)
            if !positional.isEmpty {
                macro("PP", [])
                text("Usage: " + ([path] + positional).joined(separator: " "))
            }
            for argument in arguments {
                macro("TP", [])
                macro("B", [Self.names(argument)])
                text(argument["abstract"]?.string ?? "")
                if let standard = argument["defaultValue"]?.string { text("(default: \(standard))") }
            }
            // Without this macro, the text would belong to the last option.
            macro("PP", [])
            discussion(of: command)
            commands(command, path: path)
        }
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

    /// Appends the long part of a command's help: titled sections, sentences, and preformatted lines.
    private mutating func discussion(of command: JSONValue) {
        var isTable = false
        for line in (command["discussion"]?.string ?? "").split(separator: "\n", omittingEmptySubsequences: false) {
            let isIndented = line.hasPrefix("  ")
            if isIndented != isTable { macro(isIndented ? "EX" : "EE", []) }
            isTable = isIndented
            if line.allSatisfy({ $0 == " " }) {
                if !isTable { macro("PP", []) }
            } else if line.hasSuffix(":"), line.allSatisfy({ $0.isUppercase || " :".contains($0) }) {
                macro("PP", [])
                macro("B", [String(line)])
                macro("br", [])
            } else {
                text(String(line))
            }
        }
        if isTable { macro("EE", []) }
    }

    private mutating func macro(_ name: String, _ arguments: [String]) {
        // A quotation mark within an argument is doubled.
        let words = arguments.map { "\"" + Self.plain($0).map { $0 == "\"" ? "\"\"" : "\($0)" }.joined() + "\"" }
        lines.append(([".\(name)"] + words).joined(separator: " "))
    }

    private mutating func text(_ text: String) {
        guard !text.isEmpty else { return }
        // A full stop or an apostrophe at the start of a line would begin a request.
        lines.append((text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" : "") + Self.plain(text))
    }

    /// Escapes a text for roff; an escaped hyphen can be copied into a shell.
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
        abstract: "Print a shell's completion script.",
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

    @Argument(help: ArgumentHelp("Shell to use.", valueName: Shell.allCases.map(\.rawValue).joined(separator: "|")))
    var shell: Shell

    func run() throws {
        try StandardStream.output.write(Self.script(for: shell))
    }

    /// Returns the completion script for a shell.
    static func script(for shell: Shell) -> String { BlewedgeCommand.completionScript(for: shell.completion) + "\n" }
}
