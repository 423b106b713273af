// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import LinuxIO
import Setup

/// `blewedge completions`.
struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print what a shell needs to complete commands and options.",
        discussion: """
            EXAMPLES:
              blewedge completions bash > /usr/share/bash-completion/completions/blewedge
              blewedge completions zsh > /usr/local/share/zsh/site-functions/_blewedge
              blewedge completions fish > ~/.config/fish/completions/blewedge.fish
            """
    )

    /// A shell.
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

        /// What reads the file of its completions.
        var reader: HelpFile.Reader {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    @Argument(help: ArgumentHelp("The shell.", valueName: Shell.allCases.map(\.rawValue).joined(separator: "|")))
    var shell: Shell

    func run() throws {
        try StandardStream.output.write(Self.script(for: shell))
    }

    /// What a shell completes the program's commands and options with.
    static func script(for shell: Shell) -> String { BlewedgeCommand.completionScript(for: shell.completion) + "\n" }
}
