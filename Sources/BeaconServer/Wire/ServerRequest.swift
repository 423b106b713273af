// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// What a server of beacons is asked (D-27); the article `Wire` of the documentation has examples.
package enum ServerRequest: Hashable, Sendable {
    /// What happened at a region (SW-11).
    package enum Event: String, Hashable, Sendable, CaseIterable {
        /// It was entered.
        case enter
        /// It was left.
        case exit
        /// It is around us.
        case inside
        /// It is not around us.
        case outside
    }

    /// The managed regions of the application (SW-10).
    case regions(RegionScope)
    /// A track, to be recorded (SW-7).
    case track(TrackRecord)
    /// An event, to be logged in test mode, at so many seconds since 1970-01-01 00:00:00 UTC (SW-11).
    case testLog(ServerRegion, Event, seconds: Int)
    /// Whether a one-time beacon is what it says (SW-14).
    case validate(OnetimeBeacon)

    /// What stands behind the server's address.
    package var path: String {
        switch self {
        case .regions: "regions"
        case .track: "track"
        case .testLog: "test-log"
        case .validate: "validate"
        }
    }

    /// What is sent, exactly.
    package var members: JSONObject {
        var object = JSONObject()
        switch self {
        case .regions(let scope):
            object.add("type", scope.word)
            object.add("beacons", scope.variety?.rawValue)
        case .track(let record):
            return record.members
        case .testLog(let region, let event, let seconds):
            object.add("region", region.members)
            object.add("event", event.rawValue)
            object.add("at", seconds)
        case .validate(let beacon):
            object = ServerRegion.uuid(beacon.uuid, major: beacon.major, minor: beacon.minor).members
        }
        return object
    }

    /// What is sent, as UTF-8.
    package var body: [UInt8] { Array(members.text.utf8) }
}
