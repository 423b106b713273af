// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothAdapters
import TestSupport
import Testing

@Suite("Beacons that are ranged", .timeLimit(.minutes(10)))
struct BeaconRangingTests {
    private static let region = BeaconRegion.of("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")

    private static func frame(_ minor: Int, power: Int8? = -59) -> BeaconFrame {
        let identity = BeaconIdentity(region.group, major: 1, minor: UInt16(minor))
        return identity.frame(power: power)
    }

    /// Returns the list after reports of one beacon at intervals of a tenth of a second.
    private static func list(_ strengths: [Int8?], power: Int8? = -59, exponent: Double = 2) -> RangedBeacon? {
        var ranging = BeaconRanging(region, exponent: exponent)
        for (index, rssi) in strengths.enumerated() {
            ranging.take(frame(1, power: power), rssi: rssi, now: .milliseconds(100 * index))
        }
        return ranging.list(now: .milliseconds(100 * strengths.count)).first
    }

    @Test(
        "D-28: metres come from path loss, and the words from the metres",
        arguments: [
            (-59, 1.0, "near"), (-53, 0.501, "near"), (-52, 0.447, "immediate"), (-68, 2.818, "near"),
            (-69, 3.162, "far"),
            (-79, 10, "far"), (-99, 100, "far"),
        ] as [(Int8, Double, String)]
    )
    func distances(rssi: Int8, metres: Double, word: String) throws {
        let beacon = try #require(Self.list([rssi, rssi, rssi]))
        let distance = try #require(beacon.distance.metres)
        #expect(abs(distance - metres) < 0.001 * metres)
        #expect(beacon.distance.proximity.rawValue == word)
    }

    @Test("D-28: the exponent is settable")
    func exponent() throws {
        let metres = try #require(Self.list([-89, -89, -89], exponent: 3)?.distance.metres)
        #expect(abs(metres - 10) < 0.01)
    }

    @Test("D-28: without a measured power, and with fewer than three reports, the distance is unknown")
    func unknown() throws {
        #expect(
            Self.list([-59, -59])?.distance == BeaconDistance(rssi: nil, measuredPower: nil, reports: 0, exponent: 2)
        )
        #expect(Self.list([-59, -59, -59], power: nil)?.distance.metres == nil)
        #expect(Self.list([nil, nil, nil, nil])?.distance.proximity == .unknown)
        #expect(Self.list([nil, nil, nil, nil])?.rssi == nil)
        #expect(Self.list([nil, -50, -59, -59])?.distance.proximity == .near)
    }

    @Test("SW-5: the strength is the median of the last nine reports of 5 s")
    func median() {
        #expect(Self.list([-50, -90, -60])?.rssi == -60)
        #expect(Self.list([-20, -20, -20, -20, -20, -70, -70, -70, -70, -70, -70])?.rssi == -70)
        var ranging = BeaconRanging(Self.region)
        for time in [0, 1, 2] { ranging.take(Self.frame(1), rssi: -40, now: .seconds(time)) }
        ranging.take(Self.frame(1), rssi: -80, now: .milliseconds(6_500))
        let beacon = ranging.list(now: .milliseconds(6_600)).first
        #expect(beacon?.reports == 2 && beacon?.rssi == -40)
        #expect(ranging.list(now: .milliseconds(11_501)).isEmpty && ranging.count == 0)
    }

    @Test("SW-5: beacons are sorted by distance, unknown distances last")
    func order() {
        var ranging = BeaconRanging(Self.region)
        let strengths: [(Int, Int8)] = [(1, -80), (2, -50), (3, -65)]
        for time in 0..<3 {
            for (minor, rssi) in strengths { ranging.take(Self.frame(minor), rssi: rssi, now: .milliseconds(time)) }
        }
        ranging.take(Self.frame(4), rssi: -30, now: .zero)
        ranging.take(Self.frame(5), rssi: nil, now: .zero)
        let minors = ranging.list(now: .milliseconds(5)).map(\.identity.number)
        #expect(minors == [2, 3, 1, 4, 5].map { .majorMinor(1, $0) })
    }

    @Test("A beacon of another region is not listed")
    func others() {
        var ranging = BeaconRanging(BeaconRegion(Self.region.group, .major(2)))
        ranging.take(Self.frame(1), rssi: -40, now: .zero)
        #expect(ranging.count == 0)
    }

    @Test("Beacons that are made up by the thousand take no more room, and do not push out one that is there")
    func flood() {
        var ranging = BeaconRanging(Self.region)
        for time in 0..<3 { ranging.take(Self.frame(0xFFFF), rssi: -50, now: .milliseconds(time)) }
        for index in 0..<100_000 {
            let minor = index % 60_000
            ranging.take(Self.frame(minor), rssi: -30, now: .milliseconds(10 + index / 10))
            if index % 1_000 == 0 { ranging.take(Self.frame(0xFFFF), rssi: -50, now: .milliseconds(10 + index / 10)) }
        }
        #expect(ranging.count == BeaconRanging.capacity)
        let list = ranging.list(now: .milliseconds(10_010))
        #expect(list.count <= BeaconRanging.capacity)
        #expect(list.contains { $0.identity == Self.frame(0xFFFF).identity })
    }

    @Test("If each listed beacon was heard twice, new beacons are left out and counted")
    func refused() {
        var ranging = BeaconRanging(Self.region)
        for round in 0..<2 {
            for minor in 0..<BeaconRanging.capacity {
                ranging.take(Self.frame(minor), rssi: -50, now: .milliseconds(round))
            }
        }
        let outcomes = (1_000..<1_010).map { ranging.take(Self.frame($0), rssi: -20, now: .milliseconds(3)) }
        #expect(outcomes.allSatisfy { $0 == .leftOut })
        // Beacons that have not been received for long are replaced.
        #expect(ranging.take(Self.frame(2_000), rssi: -20, now: .seconds(10)) == .taken)
        #expect(ranging.list(now: .seconds(10)).map(\.identity) == [Self.frame(2_000).identity])
    }

    /// Straightforward model of the list: stores all reports, and examines all of them each time.
    private struct Model {
        var reports: [(identity: BeaconIdentity, rssi: Int8?, time: Duration)] = []

        func list(_ now: Duration) -> [BeaconIdentity: (reports: Int, rssi: Int8?)] {
            var list: [BeaconIdentity: (reports: Int, rssi: Int8?)] = [:]
            for identity in Set(reports.map(\.identity)) {
                let last = reports.filter { $0.identity == identity }.suffix(9).filter { now - $0.time <= .seconds(5) }
                guard !last.isEmpty else { continue }
                let known = last.compactMap(\.rssi).sorted()
                list[identity] = (known.count, known.isEmpty ? nil : known[known.count / 2])
            }
            return list
        }
    }

    @Test("Traces by chance have the lists that a slow model has")
    func model() {
        let count = RunCount.from("BLEWEDGE_BEACON_TRACES", usual: 2_000)
        var random = SeededGenerator(seed: 5)
        for trace in 0..<count {
            var ranging = BeaconRanging(Self.region)
            var model = Model()
            var now = Duration.zero
            for _ in 0..<20 {
                now += .milliseconds([0, 1, 100, 900, 2_500, 5_000, 5_001][Int.random(in: 0..<7, using: &random)])
                let frame = Self.frame(Int.random(in: 0..<3, using: &random))
                let rssi: Int8? =
                    Int.random(in: 0..<4, using: &random) == 0 ? nil : Int8.random(in: -99 ... -30, using: &random)
                ranging.take(frame, rssi: rssi, now: now)
                model.reports.append((frame.identity, rssi, now))
                guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
                let list = ranging.list(now: now)
                let expected = model.list(now)
                let isSame =
                    list.count == expected.count
                    && list.allSatisfy { beacon in
                        expected[beacon.identity].map { $0.reports == beacon.reports && $0.rssi == beacon.rssi } == true
                    }
                if !isSame { Issue.record("trace \(trace) at \(now)") }
            }
        }
    }
}

@Suite("A track of sightings", .timeLimit(.minutes(10)))
struct BeaconTrackTests {
    private static let region = BeaconRegion.of("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")

    private func beacons(_ minors: [UInt16], _ region: BeaconRegion = region) -> [RangedBeacon] {
        var ranging = BeaconRanging(region)
        for minor in minors {
            let identity = BeaconIdentity(region.group, major: 0, minor: minor)
            ranging.take(identity.frame(), rssi: -60, now: .zero)
        }
        return ranging.list(now: .zero)
    }

    @Test("SW-7, D-26: a track is nil before five sightings, then lists each with its time, and then starts again")
    func complete() throws {
        let catalogue = RegionCatalogue(try RegionFile("static \(Self.region)"))
        var track = BeaconTrack(Self.region)
        #expect(track.take([], in: catalogue, now: .zero) == nil)
        #expect(track.take(beacons([1, 2]), in: catalogue, now: .seconds(100)) == nil)
        #expect(track.take([], in: catalogue, now: .seconds(105)) == nil)
        #expect(track.take(beacons([1]), in: catalogue, now: .seconds(110)) == nil)
        let whole = track.take(beacons([1, 3]), in: catalogue, now: .milliseconds(114_999))
        let answer = try #require(whole)
        #expect(answer.map(\.keyCode) == ["00000001", "00000002", "00000003"])
        let times: [[Duration]] = [
            [.seconds(100), .seconds(110), .milliseconds(114_999)], [.seconds(100)], [.milliseconds(114_999)],
        ]
        #expect(answer.map { $0.sightings.map(\.time) } == times)
        #expect(track.take(beacons([1]), in: catalogue, now: .seconds(115)) == nil)
    }

    @Test("D-26: after 15 s without enough of them the list is empty, and it begins anew")
    func timeOut() throws {
        let catalogue = RegionCatalogue(try RegionFile("static \(Self.region)"))
        var track = BeaconTrack(Self.region)
        #expect(track.take(beacons([1, 2, 3, 4]), in: catalogue, now: .seconds(1)) == nil)
        #expect(track.take([], in: catalogue, now: .seconds(16)) == [])
        #expect(track.take([], in: catalogue, now: .seconds(17)) == nil)
    }

    @Test("D-26: of a region that is not static nothing is tracked")
    func notStatic() throws {
        let catalogue = RegionCatalogue(try RegionFile("dynamic \(Self.region)"))
        var track = BeaconTrack(Self.region)
        for time in 0..<20 {
            #expect(track.take(beacons([1, 2, 3, 4, 5, 6]), in: catalogue, now: .seconds(time)) == nil)
        }
    }
}
