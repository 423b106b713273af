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
            The types are service (the official ones of the server's operator), test, owned (the application's own) and \
            third-party. What is fetched is sorted into what was known, what is new and what is abandoned, and kept; what is watched \
            stays as it is. Within the interval after a fetch nobody is asked (error 1500). Where the server has no \
            regions for the application (1400), or fails, what was kept stays.

            EXAMPLES:
              blewedge beacons fetch --server https://beacons.example --token-file token
              blewedge beacons fetch owned --beacons dynamic --json
              blewedge beacons fetch service --beacons static
            """
    )

    @Argument(help: ArgumentHelp("Which regions: \(RegionScope.words.joined(separator: ", ")).", valueName: "type"))
    var type = RegionScope.whole.word

    @Option(
        "Of service or owned regions, only those of such beacons.",
        value: ManagedRegion.Variety.allCases.map(\.rawValue).joined(separator: "|")
    )
    var beacons: ManagedRegion.Variety?

    @Option(
        "The hours after a fetch in which the server is not asked again (default: the configuration's).",
        value: "hours"
    )
    var updateInterval: Int?

    @OptionGroup var server: ServerOptions

    func validate() throws {
        guard RegionScope.words.contains(type) else {
            throw ValidationError("fetch wants one of \(RegionScope.words.joined(separator: ", ")).")
        }
        if RegionScope(type, beacons: beacons) == nil {
            throw ValidationError("--beacons is for service and owned regions.")
        }
        if let updateInterval, !(0...8760).contains(updateInterval) {
            throw ValidationError("The hours are from 0 to 8760.")
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
        abstract: "Have the server log an event of a region, in test mode.",
        usage: "blewedge beacons test-log <region> <event> [<options>]",
        discussion: """
            EXAMPLES:
              blewedge beacons test-log 4A1C0D9E-5B8F-4E57-9B7E-1C2D3E4F5A6B/12 enter
            """
    )

    @Argument(help: ArgumentHelp("UUID[/MAJOR[/MINOR]], or eddystone:NAMESPACE[/INSTANCE].", valueName: "region"))
    var region: String

    @Argument(
        help: ArgumentHelp(
            "What happened there.",
            valueName: ServerRequest.Event.allCases.map(\.rawValue).joined(separator: "|")
        )
    )
    var event: ServerRequest.Event

    @Flag(help: "This is a test, whatever the configuration's test-mode says.")
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
        abstract: "Ask the server whether a one-time beacon is what it says.",
        usage: "blewedge beacons validate <uuid> <major> <minor> [<options>]",
        discussion: """
            Ends with 0 for a valid beacon, with 77 for an invalid one. The errors 2001 to 2005 are the application's, the \
            region's, the beacon's, the server's, and that it cannot be reached.

            EXAMPLES:
              blewedge beacons validate 4A1C0D9E-5B8F-4E57-9B7E-1C2D3E4F5A6B 12 3456 --json
            """
    )

    @Argument(help: ArgumentHelp("The beacon's UUID.", valueName: "uuid"))
    var uuid: String

    @Argument(help: ArgumentHelp("The first of its numbers.", valueName: "major"))
    var major: UInt16

    @Argument(help: ArgumentHelp("The second of its numbers.", valueName: "minor"))
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
        abstract: "Send the tracks that wait.",
        usage: "blewedge beacons send [<options>]",
        discussion: """
            Each is sent once, and after a failure at most three times again, 2, 4 and 8 s later; then it is given up and \
            counted. Where nobody answers, the others wait for the next run. What the server has made of each is printed, and told \
            to the clients of a daemon that runs.

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
        abstract: "Print the tracks that wait, exactly as they would be sent, and the last one that was.",
        discussion: """
            EXAMPLES:
              blewedge beacons show-record
            """
    )

    @Flag(help: "Print one JSON object.")
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
