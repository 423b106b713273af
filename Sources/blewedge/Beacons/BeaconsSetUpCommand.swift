// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

struct BeaconsSetUpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-up",
        abstract: "Create the regions file, and agree to the use of the configured server.",
        usage: "blewedge beacons set-up [--agree] [<options>]",
        discussion: """
            The new regions file contains comments that explain its format. An existing regions file is not changed. \
            The setting beacons.regions in the configuration names the regions file; the default is the file `regions` \
            in the directory of the configuration. Without your agreement, blewedge sends nothing to the server. The \
            date and the text of the agreement are saved until you run `blewedge beacons clear`. After you have \
            agreed, the server's official regions are fetched once per boot.

            EXAMPLES:
              blewedge beacons set-up
              blewedge beacons set-up --agree --json
            """
    )

    @Flag(help: "Agree to the use of the server without being asked.")
    var agree = false

    @OptionGroup var server: ServerOptions

    func run() throws {
        let paths = try DaemonPaths.current()
        let configuration = try reporting(Configuration.read(_:mustExist:), paths.configurationFile, false)
        let path = configuration.beacons.regionsFile.map { FilePath($0) } ?? paths.configuration.appending("regions")
        let isNew = try Self.makeRegions(path, configuration)
        if !server.json {
            Console.note((isNew ? BeaconText.setUp : .setUpAlready).message("\(path)"))
            if configuration.beacons.regionsFile == nil {
                Console.note(BeaconText.setUpUnread.message("\(path)", "\(paths.configurationFile)"))
            }
        }
        var object = JSONObject()
        object.add("regions", "\(path)")
        object.add("made", isNew)
        if server.server ?? configuration.beacons.server != nil {
            try server.perform { run in try run.setUp(isAgreed: agree, ask: Self.question(server.json), &object) }
        }
        if server.json { try StandardStream.output.write(object.text + "\n") }
    }

    /// Creates the region file; returns false if the file already exists, in which case it must be valid.
    private static func makeRegions(_ path: FilePath, _ configuration: Configuration) throws(CommandFailure) -> Bool {
        guard !FileSystem.exists(path.string) else {
            _ = try reporting(configuration.regions)
            return false
        }
        do throws(Errno) {
            try FileSystem.makeDirectory(path.removingLastComponent(), mode: 0o755)
            try FileSystem.replace(path, with: Array(BeaconText.regionsExample.text(.current).utf8), mode: 0o644)
        } catch {
            throw CommandFailure(.inputOutput, FileFaultText.notKept, "\(path)", "\(error)")
        }
        return true
    }

    /// Returns a function that asks the user; nil if the user cannot be asked.
    private static func question(_ isJSON: Bool) -> (() throws -> Bool)? {
        guard Console.mayAsk(isJSON: isJSON) else { return nil }
        return { try Console.isYes(BeaconServerText.agree.text(.current)) }
    }
}
