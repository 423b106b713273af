// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BeaconServer
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import Texts

// Subcommands of `blewedge beacons` that use a server.

struct BeaconsFetchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Fetch the managed regions from the server.",
        usage: "blewedge beacons fetch [<type>] [<options>]",
        discussion: """
            The type `service` means official regions of the server's operator, and the type `owned` means regions of \
            the application. The type `whole` means all regions, including regions of the types `test` and \
            `third-party`. The command marks each fetched or saved region as new, known or abandoned, and saves the \
            result. Fetching does not change which regions are watched. A second fetch within the update interval is \
            not sent, and fails with error 1500. If the server fails or has no regions for the application (error \
            1400), the saved regions are kept.

            EXAMPLES:
              blewedge beacons fetch --server https://beacons.example --token-file token
              blewedge beacons fetch owned --beacons dynamic --json
              blewedge beacons fetch service --beacons static
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Type of the regions to fetch: \(RegionScope.words.joined(separator: ", ")).",
            valueName: "type"
        )
    )
    var type = RegionScope.whole.word

    @Option(
        "For the types service and owned, fetch only regions with this kind of beacon.",
        value: ManagedRegion.Variety.allCases.map(\.rawValue).joined(separator: "|")
    )
    var beacons: ManagedRegion.Variety?

    @Option(
        "Minimum time between two fetches, in hours (default: beacons.update-interval in the configuration).",
        value: "hours"
    )
    var updateInterval: Int?

    @OptionGroup var server: ServerOptions

    func validate() throws {
        guard RegionScope.words.contains(type) else {
            throw ValidationError("fetch requires one of \(RegionScope.words.joined(separator: ", ")).")
        }
        if RegionScope(type, beacons: beacons) == nil {
            throw ValidationError("--beacons is only for service and owned regions.")
        }
        if let updateInterval, !(0...8760).contains(updateInterval) {
            throw ValidationError("The hours must be 0 to 8760.")
        }
    }

    func run() throws {
        guard let scope = RegionScope(type, beacons: beacons) else {
            throw CommandFailure(.usage, BeaconServerFaultText.scopeWithoutVariety)
        }
        try server.perform(hours: updateInterval) { try $0.fetch(scope) }
    }
}

struct BeaconsTestLogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test-log",
        abstract: "Send a test event for a region to the server's log.",
        usage: "blewedge beacons test-log <region> <event> [<options>]",
        discussion: """
            EXAMPLES:
              blewedge beacons test-log 4A1C0D9E-5B8F-4E57-9B7E-1C2D3E4F5A6B/12 enter
            """
    )

    @Argument(help: ArgumentHelp("UUID[/MAJOR[/MINOR]] or eddystone:NAMESPACE[/INSTANCE].", valueName: "region"))
    var region: String

    @Argument(
        help: ArgumentHelp(
            "Event to log.",
            valueName: ServerRequest.Event.allCases.map(\.rawValue).joined(separator: "|")
        )
    )
    var event: ServerRequest.Event

    @Flag(help: "Use test mode, even if test-mode is off in the configuration.")
    var testMode = false

    @OptionGroup var server: ServerOptions

    func run() throws {
        guard let region = ServerRegion(region) else {
            throw CommandFailure(.usage, BeaconServerFaultText.regionMalformed, region)
        }
        try server.perform(isTestMode: testMode) { try $0.log(event, of: region) }
    }
}

struct BeaconsValidateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Ask the server whether a one-time beacon is valid.",
        usage: "blewedge beacons validate <uuid> <major> <minor> [<options>]",
        discussion: """
            The exit status is 0 for a valid beacon, and 77 for an invalid beacon. Error 2001 means that the \
            application is not registered for one-time beacons. Error 2002 means that the beacon is outside the \
            application's regions, and error 2003 means that the beacon is not in use. Error 2004 means that the \
            server failed, and error 2005 means that the server cannot be reached.

            EXAMPLES:
              blewedge beacons validate 4A1C0D9E-5B8F-4E57-9B7E-1C2D3E4F5A6B 12 3456 --json
            """
    )

    @Argument(help: ArgumentHelp("UUID of the beacon.", valueName: "uuid"))
    var uuid: String

    @Argument(help: ArgumentHelp("Major number of the beacon.", valueName: "major"))
    var major: UInt16

    @Argument(help: ArgumentHelp("Minor number of the beacon.", valueName: "minor"))
    var minor: UInt16

    @OptionGroup var server: ServerOptions

    func run() throws {
        guard let uuid = ServerUUID(uuid) else {
            throw CommandFailure(.usage, BeaconServerFaultText.uuidMalformed, uuid)
        }
        try server.perform { try $0.validate(OnetimeBeacon(uuid, major: major, minor: minor)) }
    }
}

struct BeaconsSendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send the queued tracks to the server.",
        usage: "blewedge beacons send [<options>]",
        discussion: """
            If a track cannot be sent, the command retries after 2, 4 and 8 s, and then drops and counts the track. If \
            the server does not answer, the remaining tracks stay in the queue. The command prints the server's result \
            for each track, and a running daemon reports the result to its clients.

            EXAMPLES:
              blewedge beacons send --server https://beacons.example --token-file token
            """
    )

    @OptionGroup var server: ServerOptions

    func run() throws { try server.perform { try $0.send() } }
}

struct BeaconsShowRecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show-record",
        abstract: "Print the queued tracks exactly as they would be sent, and the last track that was sent.",
        discussion: """
            EXAMPLES:
              blewedge beacons show-record
            """
    )

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    func run() throws {
        do {
            let file = try DaemonPaths.current().configurationFile
            let configured = try reporting(Configuration.read(_:mustExist:), file, false).beacons
            try ServerRun.showRecords(in: try .current(), of: configured.userID, ServerOutput(isJSON: json))
        } catch let failure as ServerFile.Failure {
            throw CommandFailure(failure)
        }
    }
}

extension ManagedRegion.Variety: ExpressibleByArgument {}

extension ServerRequest.Event: ExpressibleByArgument {}
