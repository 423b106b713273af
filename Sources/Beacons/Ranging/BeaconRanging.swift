// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import Glibc

/// The beacons of one region with their signal strengths and distances (SW-5).
///
/// A pure state machine with limited memory: `capacity` beacons with nine reports each. If the table is full, a new
/// beacon replaces a beacon with at most one report or with expired reports, if a few probes find such a beacon.
/// Otherwise the new beacon is not added, so that a flood of forged beacons cannot evict a real one. `take` returns
/// which of these has happened.
package struct BeaconRanging: Sendable {
    /// Maximum number of beacons of one region.
    package static let capacity = 256
    /// Age after which a report expires.
    package static let life = Duration.seconds(5)
    /// Maximum number of reports stored per beacon.
    static let mostReports = 9
    /// Number of places in a full table that are probed for a beacon to replace.
    private static let looks = 8

    package enum Outcome: Hashable, Sendable {
        /// The beacon is not in the region.
        case outside
        case taken
        /// The report was accepted, and its beacon has replaced a beacon that had a single report within the last 5 s.
        case displacing
        /// The beacon is new, and the table had no room for it.
        case leftOut
    }

    private struct Heard {
        var identity: BeaconIdentity
        var format: BeaconFrame.Format
        var measuredPower: Int8?
        /// Reports of the beacon, the newest last.
        var reports: [(time: Duration, rssi: Int8?)] = []
    }

    package let region: BeaconRegion
    package let exponent: Double

    private var heard: [Heard] = []
    private var index: [BeaconIdentity: Int] = [:]
    private var hand = 0

    package init(_ region: BeaconRegion, exponent: Double = 2) {
        self.region = region
        self.exponent = exponent
    }

    package var count: Int { heard.count }

    /// Adds a report of a beacon; ignores a beacon outside the region.
    @discardableResult
    package mutating func take(_ frame: BeaconFrame, rssi: Int8?, now: Duration) -> Outcome {
        guard region.contains(frame.identity) else { return .outside }
        let known = index[frame.identity].map { (place: $0, displaces: false) }
        guard let (place, displaces) = known ?? add(frame, now) else { return .leftOut }
        heard[place].format = frame.format
        heard[place].measuredPower = frame.measuredPower
        if heard[place].reports.count == Self.mostReports { heard[place].reports.removeFirst() }
        heard[place].reports.append((now, rssi))
        return displaces ? .displacing : .taken
    }

    private mutating func add(_ frame: BeaconFrame, _ now: Duration) -> (place: Int, displaces: Bool)? {
        let newcomer = Heard(identity: frame.identity, format: frame.format, measuredPower: frame.measuredPower)
        if heard.count < Self.capacity {
            index[frame.identity] = heard.count
            heard.append(newcomer)
            return (heard.count - 1, false)
        }
        for _ in 0..<Self.looks {
            let place = hand
            hand = (hand + 1) % Self.capacity
            let isOver = Self.isOver(heard[place], now)
            guard heard[place].reports.count <= 1 || isOver else { continue }
            index[heard[place].identity] = nil
            heard[place] = newcomer
            index[frame.identity] = place
            return (place, !isOver)
        }
        return nil
    }

    private static func isOver(_ beacon: Heard, _ now: Duration) -> Bool {
        beacon.reports.last.map { now - $0.time > life } ?? true
    }

    /// Returns the beacons that were received within the last 5 s, nearest first, and removes the other beacons.
    package mutating func list(now: Duration) -> [RangedBeacon] {
        for place in heard.indices { heard[place].reports.removeAll { now - $0.time > Self.life } }
        if heard.contains(where: \.reports.isEmpty) {
            heard.removeAll(where: \.reports.isEmpty)
            index = Dictionary(heard.indices.map { (heard[$0].identity, $0) }, uniquingKeysWith: { first, _ in first })
            hand = 0
        }
        return heard.map(ranged).sorted(by: RangedBeacon.isNearer)
    }

    private func ranged(_ beacon: Heard) -> RangedBeacon {
        let strengths = beacon.reports.compactMap(\.rssi).sorted()
        let median = strengths.isEmpty ? nil : strengths[strengths.count / 2]
        return RangedBeacon(
            identity: beacon.identity,
            format: beacon.format,
            rssi: median,
            measuredPower: beacon.measuredPower,
            reports: strengths.count,
            distance: BeaconDistance(
                rssi: median.map(Double.init),
                measuredPower: beacon.measuredPower,
                reports: strengths.count,
                exponent: exponent
            )
        )
    }
}

/// Estimated distance of a beacon (D-28).
package struct BeaconDistance: Equatable, Sendable {
    package enum Proximity: String, Hashable, Sendable {
        /// The beacon is less than half a metre away.
        case immediate
        /// The beacon is less than three metres away.
        case near
        /// The beacon is three metres away or more.
        case far
        case unknown
    }

    /// Minimum number of reports that a distance estimate requires.
    package static let leastReports = 3
    private static let immediateEnd = 0.5
    private static let nearEnd = 3.0

    package let proximity: Proximity
    /// Estimated distance in metres; nil if unknown.
    ///
    /// It can be wrong by a factor of two or more if a person is in the path of the signal.
    package let metres: Double?

    /// Estimates the distance with the log-distance path loss model: 10^((measured − received) / (10 · exponent))
    /// metres.
    ///
    /// `rssi` and `measuredPower` are in dBm. Typical exponents are 2 in free space, 1.5 in a corridor, and 3 or more
    /// in a room with people.
    package init(rssi: Double?, measuredPower: Int8?, reports: Int, exponent: Double) {
        guard let rssi, let measuredPower, reports >= Self.leastReports, exponent > 0 else {
            proximity = .unknown
            metres = nil
            return
        }
        let metres = pow(10, (Double(measuredPower) - rssi) / (10 * exponent))
        self.metres = metres
        proximity = metres < Self.immediateEnd ? .immediate : metres < Self.nearEnd ? .near : .far
    }
}

/// A beacon in the list of a ranged region (SW-5).
package struct RangedBeacon: Equatable, Sendable {
    package let identity: BeaconIdentity
    package let format: BeaconFrame.Format
    /// Signal strength in dBm: the median of at most nine reports within the last 5 s.
    ///
    /// It is nil if the controller reported no signal strength.
    package let rssi: Int8?
    /// Signal strength at one metre in dBm, as claimed by the beacon; nil if it claims no plausible value.
    package let measuredPower: Int8?
    /// Number of reports from which `rssi` is computed.
    package let reports: Int
    package let distance: BeaconDistance

    /// Returns true if `one` precedes `other` in a list ordered by distance.
    ///
    /// Beacons at an unknown distance come last, the strongest first. The identity decides between equal beacons.
    static func isNearer(_ one: RangedBeacon, _ other: RangedBeacon) -> Bool {
        switch (one.distance.metres, other.distance.metres) {
        case (let left?, let right?) where left != right: return left < right
        case (_?, nil): return true
        case (nil, _?): return false
        default: break
        }
        let (left, right) = (one.rssi.map(Int.init) ?? .min, other.rssi.map(Int.init) ?? .min)
        return left == right ? one.identity.description < other.identity.description : left > right
    }
}

/// Collects sightings of one region's beacons until there are enough for a track (SW-7, D-26).
///
/// A pure state machine. Each call of `take` adds a list from `BeaconRanging`; each beacon in the list counts as one
/// sighting.
package struct BeaconTrack: Sendable {
    package struct Sighted: Equatable, Sendable {
        package var identity: BeaconIdentity
        /// Key code of the beacon; nil if it has none.
        package var keyCode: String?
        /// Times of the sightings, each with the signal strength in dBm; nil if it is unknown.
        package var sightings: [(time: Duration, rssi: Int8?)]

        package static func == (one: Sighted, other: Sighted) -> Bool {
            one.identity == other.identity && one.keyCode == other.keyCode
                && one.sightings.elementsEqual(other.sightings, by: ==)
        }
    }

    /// Number of sightings that complete a track.
    package static let enough = 5
    package static let timeLimit = Duration.seconds(15)

    package let region: BeaconRegion
    private var began: Duration?
    private var total = 0
    private var sighted: [Sighted] = []

    package init(_ region: BeaconRegion) {
        self.region = region
    }

    /// Adds a list of beacons, and returns the sightings if the track is complete.
    ///
    /// The result is empty if the time limit has passed first. It is nil while the track is incomplete, if the region
    /// is not static, and before the first beacon. After a result other than nil, a new track starts.
    package mutating func take(_ beacons: [RangedBeacon], in catalogue: RegionCatalogue, now: Duration) -> [Sighted]? {
        guard catalogue.isStatic(region) else { return nil }
        if began == nil {
            guard !beacons.isEmpty else { return nil }
            began = now
        }
        guard let began, now - began < Self.timeLimit else {
            self = BeaconTrack(region)
            return []
        }
        for beacon in beacons where region.contains(beacon.identity) { take(beacon, catalogue, now) }
        guard total >= Self.enough else { return nil }
        let answer = sighted
        self = BeaconTrack(region)
        return answer
    }

    private mutating func take(_ beacon: RangedBeacon, _ catalogue: RegionCatalogue, _ now: Duration) {
        total &+= 1
        if let place = sighted.firstIndex(where: { $0.identity == beacon.identity }) {
            sighted[place].sightings.append((now, beacon.rssi))
        } else {
            let code = catalogue.keyCode(of: beacon.identity)
            sighted.append(Sighted(identity: beacon.identity, keyCode: code, sightings: [(now, beacon.rssi)]))
        }
    }
}
