// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Beacons
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// `blewedge beacons`.
struct BeaconsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "beacons",
        abstract: "Watch beacons, range them, designate some, or be one.",
        discussion: """
            Beacons are iBeacon, AltBeacon and Eddystone-UID. A region is a UUID, with or without major and minor \
            (UUID/MAJOR/MINOR), or an Eddystone namespace, with or without an instance (eddystone:NAMESPACE/INSTANCE). A \
            region is entered by two sightings within 2 s, and left after 30 s without one. The configuration's [beacons] has \
            the file of the regions, and ties regions to actions: open the gate, type the beacon's key code, run the hook. \
            Anybody can copy a beacon: what it says proves nothing.

            fetch, validate, test-log and send ask a server, and nothing else ever does; show-record prints what would be sent.

            Where a daemon runs, it does what is asked; otherwise the command itself, until Ctrl-C where it goes on.

            EXAMPLES:
              blewedge beacons set-up                     Make the file of the regions.
              blewedge beacons range static               See who is near, and how near.
              blewedge beacons watch initial --json       Follow entries and exits.
              blewedge beacons designate A17C             Let this one of its region react.
              blewedge beacons advertise E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2
            """,
        subcommands: [
            BeaconsStatusCommand.self, BeaconsCheckCommand.self, BeaconsRegionsCommand.self, BeaconsWatchCommand.self,
            BeaconsUnwatchCommand.self, BeaconsRangeCommand.self, BeaconsTrackCommand.self,
            BeaconsDesignateCommand.self,
            BeaconsDesignatedCommand.self, BeaconsUpdateCommand.self, BeaconsReleaseCommand.self,
            BeaconsAdvertiseCommand.self, BeaconsFetchCommand.self, BeaconsValidateCommand.self,
            BeaconsTestLogCommand.self, BeaconsSendCommand.self, BeaconsShowRecordCommand.self,
            BeaconsSetUpCommand.self, BeaconsClearCommand.self,
        ]
    )
}

extension BeaconMonitor.Group: ExpressibleByArgument {}

extension BeaconFrame.Format: ExpressibleByArgument {}

extension BeaconRegion: ExpressibleByArgument {
    /// `UUID`, `UUID/MAJOR`, `UUID/MAJOR/MINOR`, `eddystone:NAMESPACE` or `eddystone:NAMESPACE/INSTANCE`.
    package init?(argument: String) {
        self.init(argument)
    }
}

extension BeaconIdentity: ExpressibleByArgument {
    /// `UUID/MAJOR/MINOR` or `eddystone:NAMESPACE/INSTANCE`.
    package init?(argument: String) {
        self.init(argument)
    }
}

extension BeaconRequest.Place: ExpressibleByArgument {
    /// `static`, `dynamic`, or a region.
    package init?(argument: String) {
        self.init(argument)
    }
}

/// What is told of the regions that are watched.
struct WatchOptionFlags: ParsableArguments {
    @Flag(help: "Do not tell of entries.")
    var noEntry = false

    @Flag(help: "Do not tell of exits.")
    var noExit = false

    @Flag(
        help: "Tell of what is inside when the gate's terminal comes to the front; without one, at the start."
    )
    var entryStateOnDisplay = false

    var options: WatchOptions {
        var options: WatchOptions = []
        if !noEntry { options.insert(.onEntry) }
        if !noExit { options.insert(.onExit) }
        if entryStateOnDisplay { options.insert(.entryStateOnDisplay) }
        return options
    }
}

/// What beacons are without a daemon: the configuration, its regions, and the designated beacons of the state directory.
struct BeaconsAlone {
    let configuration: Configuration
    var monitor: BeaconMonitor

    init() throws(CommandFailure) {
        let paths = try DaemonPaths.current()
        configuration = try Configuration.read(paths.configurationFile)
        let settings = configuration.beacons
        var regions = try configuration.regions()
        regions.setManaged(try ServerFiles.managed(in: paths.state))
        monitor = BeaconMonitor(
            regions,
            designated: try DesignatedStore(paths.designated).read(),
            limit: settings.mostDesignated,
            settings: settings.settings,
            exponent: settings.pathLoss
        )
    }

    /// Changes the designated beacons while no other command does.
    static func changing(_ body: (inout BeaconMonitor, DesignatedStore) throws -> JSONObject) throws -> JSONObject {
        let store = DesignatedStore(try DaemonPaths.current().designated)
        return try store.locked {
            var alone = try BeaconsAlone()
            return try body(&alone.monitor, store)
        }
    }
}

extension JSONObject {
    /// The object as whoever reads it sees it.
    var value: JSONValue { (try? JSONValue(Array(text.utf8))) ?? .null }
}
