// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE

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

    /// What has come of a report.
    package enum Outcome: Hashable, Sendable {
        /// It is of a beacon of another region.
        case outside
        /// It is in the list.
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

    /// The region.
    package let region: BeaconRegion
    /// The path loss exponent.
    package let exponent: Double

    private var heard: [Heard] = []
    private var index: [BeaconIdentity: Int] = [:]
    private var hand = 0

    /// An empty list.
    package init(_ region: BeaconRegion, exponent: Double = 2) {
        self.region = region
        self.exponent = exponent
    }

    /// The number of beacons in the table.
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
            index = Dictionary(
                heard.indices.map { (heard[$0].identity, $0) },
                uniquingKeysWith: { first, _ in first }
            )
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
