// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothLE
import Configuration
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// `blewedge profiles`.
struct ProfilesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profiles",
        abstract: "List the kinds of devices that are known, or show one.",
        discussion: """
            With `profile = "auto"`, the default, a device is used by the first of these that it offers: those of the \
            configuration, then the others in this order. What is shown of one can be saved and changed, and named in the configuration by its path.

            EXAMPLES:
              blewedge profiles
              blewedge profiles nordic > /etc/blewedge/mine.toml
            """
    )

    @Argument(help: ArgumentHelp("A profile: built in, or of the configuration.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("The configuration file to take profiles from too.", valueName: "file"))
    var file: String?

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func run() throws {
        var configuration = try Configuration.read(try ConfigurationPlace.path(file), mustExist: file != nil)
        let all = configuration.ownProfiles + Profile.builtIn
        guard let name else {
            try StandardStream.output.write(all.map { line($0) + "\n" }.joined())
            return
        }
        configuration.profile = name
        let found = try configuration.profiles()
        let text = found.map { json ? object($0) : "# \($0.name)\n" + $0.text() }.joined(separator: "\n")
        try StandardStream.output.write(json ? text + "\n" : text)
    }

    private func line(_ profile: Profile) -> String {
        guard !json else { return object(profile) }
        let (name, title) = (LocalName.printable(profile.name), LocalName.printable(profile.title))
        return "\(DisplayWidth.padded(name, to: 12))  \(profile.service)  \(title)"
    }

    private func object(_ profile: Profile) -> String {
        var object = JSONObject()
        object.add("name", profile.name)
        object.add("title", profile.title)
        object.add("service", "\(profile.service)")
        object.add("fromDevice", "\(profile.fromPeripheral)")
        object.add("toDevice", "\(profile.toPeripheral)")
        object.add("handshake", profile.handshake.count)
        object.add("framing", profile.framing != nil)
        object.add("table", profile.table)
        object.add("security", profile.security.word)
        return object.text
    }
}
