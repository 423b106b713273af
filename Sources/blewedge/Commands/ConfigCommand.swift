// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Configuration
import Control
import Daemon
import Devices
import Keystrokes
import LinuxIO
import SystemPackage
import Texts

/// `blewedge config`.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Check or show the configuration.",
        subcommands: [ConfigCheckCommand.self, ConfigShowCommand.self]
    )
}

/// Where the configuration is looked for.
enum ConfigurationPlace {
    /// The path that the user gave, or that of the file which a daemon of this user reads.
    static func path(_ file: String?) throws(CommandFailure) -> FilePath {
        if let file { return FilePath(file) }
        return try DaemonPaths.current().configurationFile
    }
}

/// `blewedge config check`.
struct ConfigCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract:
            "Check a configuration, with the table, layout, profiles and regions that it names; nothing is changed.",
        discussion: """
            Without a file, the one that a daemon of this user reads: /etc/blewedge/blewedge.toml for root. Every fault is \
            named with its line, and ends the command with status 78.

            EXAMPLES:
              blewedge config check
              blewedge config check new.toml &&
                  sudo install -m 644 new.toml /etc/blewedge/blewedge.toml
            """
    )

    @Argument(help: ArgumentHelp("A configuration file.", valueName: "file"))
    var file: String?

    func run() throws {
        let path = try ConfigurationPlace.path(file)
        let isThere = FileSystem.exists(path.string)
        let configuration = try Configuration.read(path, mustExist: file != nil)
        if isThere { try report(faults(of: configuration, in: path)) }
        // The device is nothing that the configuration says.
        let settings = try configuration.settings(device: .name("-"))
        let profiles = settings.profiles.count == 1 ? settings.profiles.first?.name : Configuration.anyProfile
        try StandardStream.output.write(
            (isThere ? NoteText.configurationCorrect : .configurationMissing).text(
                .current,
                "\(path)",
                profiles ?? "-",
                configuration.layout,
                configuration.pace.rawValue
            ) + "\n"
        )
    }
}

extension ConfigCheckCommand {
    /// Faults of a configuration that could be read, each with the line of its key.
    private func faults(of configuration: Configuration, in path: FilePath) throws -> [CommandFailure] {
        let text = try FileSystem.textContents(of: path.string, limit: Configuration.largestText)
        let lines = Configuration.lines(of: String(decoding: text, as: UTF8.self))
        var faults = configuration.faults(lines)
        if let hook = configuration.hook {
            do throws(CommandFailure) {
                try HookRunner.check(hook, named: "hook")
                try DaemonPaths.check(FilePath(hook))
            } catch {
                faults.append((["hook"], error))
            }
        }
        return faults.map { keys, failure in
            let line = keys.compactMap { lines[$0] }.first
            let cause =
                line.map { FileFaultText.inLine.message("\(path)", "\($0)", failure.cause) }
                ?? FileFaultText.faulty.message("\(path)", failure.cause)
            return CommandFailure(failure.status, cause, remedy: failure.remedy)
        }
    }

    /// Reports all faults; the last one ends the command.
    private func report(_ faults: [CommandFailure]) throws {
        for fault in faults.dropLast() { Console.report(fault) }
        if let last = faults.last { throw last }
    }
}

/// `blewedge config show`.
struct ConfigShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the configuration that is in force, as a file that says the same.",
        discussion: """
            EXAMPLES:
              blewedge config show
              blewedge config show --commented | sudo tee /etc/blewedge/blewedge.toml
            """
    )

    @Argument(help: ArgumentHelp("A configuration file.", valueName: "file"))
    var file: String?

    @Flag(help: "Explain every key; those that are as without a file are comments.")
    var commented = false

    func run() throws {
        let configuration = try Configuration.read(try ConfigurationPlace.path(file), mustExist: file != nil)
        try StandardStream.output.write(configuration.text(isCommented: commented))
    }
}
