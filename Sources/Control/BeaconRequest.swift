// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons

/// A request about beacons, behind the word `beacons` of a control line.
///
///     beacons status                          beacons designate A17C 00010003 region UUID on-entry on-exit
///     beacons watch initial on-entry          beacons range static 5 without-designated
///     beacons advertise UUID/1/2 ibeacon -59  beacons update A17C switcher on
package enum BeaconRequest: Equatable, Sendable {
    /// Whose beacons are ranged or tracked.
    package enum Place: Hashable, Sendable {
        case statics
        case dynamics
        case region(BeaconRegion)
    }

    /// Tell what is watched, what is inside, what is advertised, and the counts.
    case status
    /// List the regions that are known, with their kinds.
    case regions
    case watch(BeaconMonitor.Group, WatchOptions)
    case unwatch(BeaconMonitor.Group)
    /// List the beacons that are heard in so many seconds.
    case range(Place, seconds: Int, withoutDesignated: Bool)
    case designate([String], in: BeaconRegion?, WatchOptions)
    case designated
    case update([String], isSwitcher: Bool)
    case release(String)
    case advertise(BeaconFrame)
    case stopAdvertising
    /// Forget the designated beacons, and watch nothing.
    case clear

    /// How long `range` listens unless told otherwise, in seconds.
    package static let usualRangeTime = 3
    /// How long it may listen, in seconds.
    package static let rangeTimes = 1...60
    package static let mostCodes = 100

    var isChange: Bool {
        switch self {
        case .status, .regions, .range, .designated: false
        case .watch, .unwatch, .designate, .update, .release, .advertise, .stopAdvertising, .clear: true
        }
    }
}
