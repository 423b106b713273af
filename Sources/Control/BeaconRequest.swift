// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
package import Texts

/// Beacon request: the words after `beacons` in a control line.
///
///     beacons status                          beacons designate A17C 00010003 region UUID on-entry on-exit
///     beacons watch initial on-entry          beacons range static 5 without-designated
///     beacons advertise UUID/1/2 ibeacon -59  beacons update A17C switcher on
package enum BeaconRequest: Equatable, Sendable {
    /// Regions whose beacons are ranged.
    package enum Place: Hashable, Sendable {
        case statics
        case dynamics
        case region(BeaconRegion)
    }

    /// Report the watched regions, the entered regions, the advertised beacon, and the counts.
    case status
    /// List the known regions, with their kinds.
    case regions
    case watch(BeaconMonitor.Group, WatchOptions)
    case unwatch(BeaconMonitor.Group)
    /// List the beacons heard within this number of seconds.
    case range(Place, seconds: Int, withoutDesignated: Bool)
    case designate([String], in: BeaconRegion?, WatchOptions)
    case designated
    case update([String], isSwitcher: Bool)
    case release(String)
    case advertise(BeaconFrame)
    case stopAdvertising
    /// Forget the designated beacons, and stop watching.
    case clear
    /// Report the result of a server's contact check for this region to the daemon's clients (SW-19).
    case contact(BeaconRegion, ContactResult)

    /// Default duration of `range`, in seconds.
    package static let usualRangeTime = 3
    /// Permitted durations of `range`, in seconds.
    package static let rangeTimes = 1...60
    package static let mostCodes = 100

    var isChange: Bool {
        switch self {
        case .status, .regions, .range, .designated: false
        case .watch, .unwatch, .designate, .update, .release, .advertise, .stopAdvertising, .clear, .contact: true
        }
    }
}
