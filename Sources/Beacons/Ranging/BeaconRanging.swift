// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Glibc

/// The beacons of one region, with their strengths and distances (SW-5).
///
/// A pure state machine of bounded memory: `capacity` beacons with nine reports each. A full table takes a newcomer in the
/// place of one that was heard once only, where it finds one soon; else the newcomer is left out, so that no flood of
/// made-up beacons pushes out one that is really there. `take` says which it was.
package struct BeaconRanging: Sendable {
    /// The most beacons of one region.
    package static let capacity = 256
    /// How long a report counts.
    package static let life = Duration.seconds(5)
    /// The most reports of a beacon that count.
    static let mostReports = 9
    /// How many places a newcomer looks at.
    private static let looks = 8

    package enum Outcome: Hashable, Sendable {
        /// It is of a beacon of another region.
        case outside
        case taken
        /// The same, and a beacon of the last 5 s that was heard once had to give way.
        case displacing
        /// There was no room for its beacon.
        case leftOut
    }

    private struct Heard {
        var identity: BeaconIdentity
        var format: BeaconFrame.Format
        var measuredPower: Int8?
        /// The newest last.
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

    /// Takes a report of a beacon; of one outside the region nothing.
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

    /// The beacons that were heard in the last 5 s, nearest first; the others are forgotten.
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

/// How far away a beacon seems to be (D-28).
package struct BeaconDistance: Equatable, Sendable {
    package enum Proximity: String, Hashable, Sendable {
        /// Less than half a metre.
        case immediate
        /// Less than three metres.
        case near
        /// Three metres and more.
        case far
        case unknown
    }

    /// The reports that a distance wants.
    package static let leastReports = 3
    private static let immediateEnd = 0.5
    private static let nearEnd = 3.0

    package let proximity: Proximity
    /// Metres: an estimate, wrong by a factor of two and more where somebody stands between; nil where it is unknown.
    package let metres: Double?

    /// The distance by the log-distance path loss: 10^((measured − heard) / (10 · exponent)) metres.
    ///
    /// `rssi` and `measuredPower` in dBm; an exponent of 2 is free space, 1.5 a corridor, 3 and more a room with people in it.
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

/// A beacon in the list of a region that is ranged (SW-5).
package struct RangedBeacon: Equatable, Sendable {
    package let identity: BeaconIdentity
    package let format: BeaconFrame.Format
    /// The strength in dBm: the median of the reports of the last 5 s, nine at most; nil where the controller told none.
    package let rssi: Int8?
    /// The strength at one metre in dBm, as the beacon says; nil where it tells none that can be.
    package let measuredPower: Int8?
    /// The number of reports that the strength is of.
    package let reports: Int
    package let distance: BeaconDistance

    /// Nearest first; those of unknown distance behind them, the strongest first; then by identity.
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

/// The sightings of one region's beacons, collected until there are enough of them (SW-7, D-26).
///
/// A pure state machine. Each call of `take` is a list of `BeaconRanging`; each beacon of it is a sighting.
package struct BeaconTrack: Sendable {
    package struct Sighted: Equatable, Sendable {
        package var identity: BeaconIdentity
        /// Its key code; nil where it has none.
        package var keyCode: String?
        package var sightings: Int
        /// Its strength in dBm, as it was told last.
        package var rssi: Int8?
    }

    /// The sightings that make a track.
    package static let enough = 5
    package static let timeLimit = Duration.seconds(15)

    package let region: BeaconRegion
    private var began: Duration?
    private var total = 0
    private var sighted: [Sighted] = []

    package init(_ region: BeaconRegion) {
        self.region = region
    }

    /// Takes a list of beacons: all that was collected when it is enough, an empty list when the time is over, nil before.
    ///
    /// Nil, too, for a region that is not static, and where no beacon was ever given. After an answer it begins anew.
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
