// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE

/// The sightings of one region's beacons, collected until there are enough of them (SW-7, D-26).
///
/// A pure state machine. Each call of `take` is a list of `BeaconRanging`; each beacon of it is a sighting.
package struct BeaconTrack: Sendable {
    /// A beacon that was sighted.
    package struct Sighted: Equatable, Sendable {
        /// What it says it is.
        package var identity: BeaconIdentity
        /// Its key code; nil where it has none.
        package var keyCode: String?
        /// How often it was sighted.
        package var sightings: Int
        /// Its strength in dBm, as it was told last.
        package var rssi: Int8?
    }

    /// The sightings that make a track.
    package static let enough = 5
    /// The time in which they have to come.
    package static let timeLimit = Duration.seconds(15)

    /// The region.
    package let region: BeaconRegion
    private var began: Duration?
    private var total = 0
    private var sighted: [Sighted] = []

    /// A track that has not begun.
    package init(_ region: BeaconRegion) {
        self.region = region
    }

    /// Takes a list of beacons: all that was collected when it is enough, an empty list when the time is over, nil before.
    ///
    /// Nil, too, for a region that is not static, and where no beacon was ever given. After an answer it begins anew.
    package mutating func take(
        _ beacons: [RangedBeacon],
        in catalogue: RegionCatalogue,
        now: Duration
    ) -> [Sighted]? {
        guard catalogue.isStatic(region) else { return nil }
        if began == nil {
            guard !beacons.isEmpty else { return nil }
            began = now
        }
        guard let began, now - began < Self.timeLimit else {
            self = BeaconTrack(region)
            return []
        }
        for beacon in beacons where region.contains(beacon.identity) { take(beacon, catalogue) }
        guard total >= Self.enough else { return nil }
        let answer = sighted
        self = BeaconTrack(region)
        return answer
    }

    private mutating func take(_ beacon: RangedBeacon, _ catalogue: RegionCatalogue) {
        total &+= 1
        if let place = sighted.firstIndex(where: { $0.identity == beacon.identity }) {
            sighted[place].sightings &+= 1
            sighted[place].rssi = beacon.rssi
        } else {
            let code = catalogue.keyCode(of: beacon.identity)
            sighted.append(Sighted(identity: beacon.identity, keyCode: code, sightings: 1, rssi: beacon.rssi))
        }
    }
}
