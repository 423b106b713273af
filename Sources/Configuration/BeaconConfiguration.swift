// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons

/// The tables `[beacons]` and `[beacons.actions.NAME]` of the configuration (SW-1).
package struct BeaconConfiguration: Equatable, Sendable {
    /// The file of regions and key codes; nil for none.
    package var regionsFile: String?
    /// The groups that the daemon watches from its start.
    package var watched: [BeaconMonitor.Group] = []
    /// What is told of their regions.
    package var options = WatchOptions.usual
    /// The longest time between the two sightings that enter a region.
    package var entryWindow = RegionWatch.Settings().entryWindow
    /// The silence after which a region is left.
    package var exitSilence = RegionWatch.Settings().exitSilence
    /// The exponent of the path loss, by which distances are estimated.
    package var pathLoss = 2.0
    /// The most designated beacons.
    package var mostDesignated = DesignatedBeacons.usualLimit
    /// The hours between two fetches of the server's regions.
    package var updateInterval = 12
    /// Whether the server is told that this is a test.
    package var isTest = true
    /// The kind of program that the server is told of.
    package var edition = "SWAMP"
    /// The version that the server is told of.
    package var version = "1.3.0"
    /// The file of the token that the server knows this board by; nil for none.
    package var appCodeFile: String?
    /// The server's address; nil for none, and then nothing is ever sent.
    package var server: String?
    /// The beacon that the daemon is; nil for none.
    package var advertised: BeaconIdentity?
    /// The frame in which it is that.
    package var advertisedFormat = BeaconFrame.Format.iBeacon
    /// Its strength at one metre in dBm, as it is told.
    package var advertisedPower = -59
    /// What beacons do.
    package var actions: [BeaconAction] = []

    /// The defaults.
    package init() {}

    /// The path loss exponents that are allowed.
    static let pathLosses = 1.0...6.0
    /// The hours between two fetches that are allowed: at most a year.
    static let updateIntervals = 1...8760

    /// The times and counts of the watch.
    package var settings: RegionWatch.Settings {
        var settings = RegionWatch.Settings()
        settings.entryWindow = entryWindow
        settings.exitSilence = exitSilence
        return settings
    }

    /// True where the daemon has something to listen for.
    package var isWatching: Bool { !watched.isEmpty || !actions.isEmpty }
}
