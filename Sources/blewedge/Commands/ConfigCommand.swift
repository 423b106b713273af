// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import Keystrokes
import LinuxIO
import SystemPackage
import Texts

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Check or show the configuration.",
        subcommands: [ConfigCheckCommand.self, ConfigShowCommand.self]
    )
}

/// Returns the given path or, if there is none, the path of the file that this user's daemon reads.
func configurationPath(_ file: String?) throws(CommandFailure) -> FilePath {
    if let file { return FilePath(file) }
    return try DaemonPaths.current().configurationFile
}

struct ConfigCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract:
            "Check a configuration file, and the table, layout, profiles and regions that it names.",
        discussion: """
            The command does not change the configuration. Without a file, the command checks the configuration file \
            of the current user. The configuration file of root is /etc/blewedge/blewedge.toml. Each error is reported \
            with its line number. If there are errors, the exit status is 78.

            EXAMPLES:
              blewedge config check
              blewedge config check new.toml &&
                  sudo install -m 644 new.toml /etc/blewedge/blewedge.toml
            """
    )

    @Argument(help: ArgumentHelp("Configuration file.", valueName: "file"), completion: .file())
    var file: String?

    func run() throws {
        let path = try configurationPath(file)
        let isThere = FileSystem.exists(path.string)
        let configuration = try reporting(Configuration.read(_:mustExist:), path, file != nil)
        if isThere { try report(faults(of: configuration, in: path)) }
        // The device is not part of the configuration, so use any name here.
        let settings = try reporting(configuration.settings(device:), .name("-"))
        let profiles = settings.profiles.count == 1 ? settings.profiles.first?.name : Configuration.anyProfile
        try StandardStream.output.write(
            (isThere ? LogText.configurationCorrect : .configurationMissing).text(
                .current,
                "\(path)",
                profiles ?? "-",
                configuration.layout,
                configuration.pace.rawValue
            ) + "\n"
        )
    }

    /// Returns the faults of a parsed configuration, each with the number of the line that contains its key.
    private func faults(of configuration: Configuration, in path: FilePath) throws -> [CommandFailure] {
        let text = try FileSystem.textContents(of: path.string, limit: Configuration.largestText)
        let lines = Configuration.lines(of: String(decoding: text, as: UTF8.self))
        var faults = configuration.faults(lines).map { ($0.keys, CommandFailure($0.error)) }
        if let hook = configuration.hook {
            do throws(CommandFailure) {
                try HookRunner.check(hook, named: "hook")
                try reporting { () throws(DaemonPaths.Refusal) in try DaemonPaths.check(FilePath(hook)) }
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

    /// Prints all faults except the last, and throws the last.
    private func report(_ faults: [CommandFailure]) throws {
        for fault in faults.dropLast() { Console.report(fault) }
        if let last = faults.last { throw last }
    }
}

struct ConfigShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the current configuration in the format of the configuration file.",
        discussion: """
            EXAMPLES:
              blewedge config show
              blewedge config show --commented | sudo tee /etc/blewedge/blewedge.toml
            """
    )

    @Argument(help: ArgumentHelp("Configuration file.", valueName: "file"), completion: .file())
    var file: String?

    @Flag(help: "Explain every key, and comment out the keys that have their default values.")
    var commented = false

    func run() throws {
        let configuration = try reporting(Configuration.read(_:mustExist:), configurationPath(file), file != nil)
        try StandardStream.output.write(configuration.text(isCommented: commented))
    }
}

struct ProfilesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profiles",
        abstract: "List the device profiles, or print one of them.",
        discussion: """
            By default (`profile = "auto"`), blewedge uses the first profile in the list whose service the device \
            offers. The profiles in the configuration come before the built-in profiles in the list. To change a \
            profile, save it in a file, edit the file, and set `profile` in the configuration to the path of the file.

            EXAMPLES:
              blewedge profiles
              blewedge profiles nordic > /etc/blewedge/mine.toml
            """
    )

    @Argument(
        help: ArgumentHelp("Name of a built-in profile or of a profile in the configuration.", valueName: "name"),
        completion: Completion.profiles
    )
    var name: String?

    @Option("Configuration file that contains additional profiles.", value: "file", completion: .file())
    var file: String?

    @Flag(help: "Print the output as JSON, with one object per line.")
    var json = false

    func run() throws {
        var configuration = try reporting(Configuration.read(_:mustExist:), configurationPath(file), file != nil)
        let all = configuration.ownProfiles + Profile.builtIn
        guard let name else {
            try StandardStream.output.write(all.map { line($0) + "\n" }.joined())
            return
        }
        configuration.profile = name
        let found = try reporting(configuration.profiles)
        let text = found.map { json ? object($0) : "# \($0.name)\n" + $0.text() }.joined(separator: "\n")
        try StandardStream.output.write(json ? text + "\n" : text)
    }

    private func line(_ profile: Profile) -> String {
        guard !json else { return object(profile) }
        let (name, title) = (LocalName.printable(profile.name), LocalName.printable(profile.title))
        let place = profile.advertised.map { "\($0)" } ?? "\(profile.service)"
        return "\(DisplayWidth.padded(name, to: 17))  \(DisplayWidth.padded(place, to: 36))  \(title)"
    }

    private func object(_ profile: Profile) -> String {
        var object = JSONObject()
        object.add("name", profile.name)
        object.add("title", profile.title)
        if let advertised = profile.advertised {
            object.add("advertised", "\(advertised)")
        } else {
            object.add("service", "\(profile.service)")
            object.add("fromDevice", "\(profile.fromPeripheral)")
            object.add("toDevice", "\(profile.toPeripheral)")
        }
        object.add("handshake", profile.handshake.count)
        object.add("framing", profile.framing != nil)
        object.add("value", profile.values != nil)
        object.add("table", profile.table)
        object.add("security", profile.security.word)
        return object.text
    }
}
