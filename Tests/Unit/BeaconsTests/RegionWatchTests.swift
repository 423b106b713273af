// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import TestSupport
import Testing

@Suite("Regions that are watched", .timeLimit(.minutes(10)))
struct RegionWatchTests {
    private let badge = BeaconIdentity.of("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2")

    /// Returns the changes caused by a sequence of sightings, with their times; the watch is also called at the
    /// deadlines that it requests.
    private func changes(
        _ times: [Int],
        until end: Int,
        _ options: WatchOptions = .usual,
        _ settings: RegionWatch.Settings = .init()
    ) -> [String] {
        var watch = RegionWatch(settings)
        watch.watch(BeaconRegion(badge).whole, options)
        var told: [String] = []
        var now = Duration.zero
        let tell = { (notice: RegionWatch.Notice) in told.append("\(notice.change.rawValue) \(now.inMilliseconds)") }
        for time in times.map({ Duration.milliseconds($0) }) + [.milliseconds(end)] {
            while let deadline = watch.deadline, deadline <= time {
                now = deadline
                watch.expire(now: now, tell: tell)
            }
            now = time
            if time != .milliseconds(end) { watch.sight(badge, now: now, tell: tell) }
        }
        return told
    }

    @Test("D-23: a region is entered by two sightings within 2 s, and left after 30 s without one")
    func entryAndExit() {
        #expect(changes([0, 2_000], until: 31_999) == ["entered 2000"])
        #expect(changes([0, 2_000], until: 32_001) == ["entered 2000", "left 32000"])
        #expect(changes([0, 2_001, 4_002], until: 60_000).isEmpty)
        #expect(changes([0], until: 60_000).isEmpty)
    }

    @Test("D-23: gaps shorter than the silence do not leave it, and one sighting after it does not enter it")
    func gaps() {
        let gaps = [0, 100, 30_099, 60_098, 90_000]
        #expect(changes(gaps, until: 119_999) == ["entered 100"])
        #expect(
            changes(gaps + [120_001, 121_000], until: 125_000) == ["entered 100", "left 120000", "entered 121000"]
        )
        #expect(changes(gaps + [120_001], until: 125_000) == ["entered 100", "left 120000"])
    }

    @Test("D-23: both times, and the number of sightings, can be set")
    func settings() {
        var settings = RegionWatch.Settings()
        (settings.entryWindow, settings.sightings, settings.exitSilence) = (.seconds(5), 3, .seconds(10))
        #expect(changes([0, 5_000, 10_000], until: 20_000, .usual, settings) == ["entered 10000", "left 20000"])
        // Sightings before an exit must not count after it.
        (settings.entryWindow, settings.sightings, settings.exitSilence) = (.seconds(60), 2, .seconds(1))
        #expect(changes([0, 1, 3_000], until: 3_500, .usual, settings) == ["entered 1", "left 1001"])
        settings.sightings = 1
        #expect(changes([0], until: 1, .usual, settings) == ["entered 0"])
    }

    @Test("SW-4: entry, exit, and the state when the display goes on are reported if requested")
    func options() {
        #expect(changes([0, 1], until: 60_000, .onEntry) == ["entered 1"])
        #expect(changes([0, 1], until: 60_000, .onExit) == ["left 30001"])
        var watch = RegionWatch()
        watch.watch(BeaconRegion(badge), .entryStateOnDisplay)
        watch.watch(BeaconRegion(badge).whole, .usual)
        var told: [RegionWatch.Notice] = []
        watch.displayCameOn { told.append($0) }
        for time in [0, 1] { watch.sight(badge, now: .milliseconds(time)) { told.append($0) } }
        #expect(told.map(\.change) == [.entered])
        watch.displayCameOn { told.append($0) }
        #expect(told.map(\.change) == [.entered, .inside])
        #expect(told.last?.region == BeaconRegion(badge))
    }

    @Test(
        "SW-4, D-24: a region first sighted within the exit time after the display went on counts as inside"
    )
    func displayStart() {
        let regions = [BeaconRegion(badge), BeaconRegion(badge).whole]
        for (time, expected) in [(29_999, [RegionWatch.Change.inside, .entered]), (30_000, [.entered])] {
            var watch = RegionWatch()
            watch.watch(regions[0], .entryStateOnDisplay)
            watch.watch(regions[1], .usual)
            watch.displayStarted(now: .zero)
            var told: [RegionWatch.Notice] = []
            for time in [time - 1, time, time + 1] {
                watch.sight(badge, now: .milliseconds(time)) { told.append($0) }
            }
            #expect(Set(told.map(\.change)) == Set(expected) && told.count == expected.count, "\(time): \(told)")
            #expect(told.allSatisfy { $0.region == ($0.change == .inside ? regions[0] : regions[1]) })
        }
    }

    @Test("Of the regions that are watched those inside are told first, then those heard last, then the others")
    func sightings() {
        let numbers = ["1/1", "1/2", "1/3", "1/4"]
        let beacons = numbers.map { BeaconIdentity.of("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/" + $0) }
        var watch = RegionWatch()
        for beacon in beacons { watch.watch(BeaconRegion(beacon)) }
        watch.sight(beacons[1], now: .seconds(7)) { _ in }
        watch.sight(beacons[2], now: .seconds(9)) { _ in }
        for time in [1, 2] { watch.sight(beacons[3], now: .seconds(time)) { _ in } }
        let all = watch.sightings(most: 10)
        #expect(all.map(\.region) == [3, 2, 1, 0].map { BeaconRegion(beacons[$0]) })
        #expect(all.map(\.isInside) == [true, false, false, false])
        #expect(all.map(\.beacon) == [beacons[3], beacons[2], beacons[1], nil])
        #expect(all.prefix(3).map(\.last) == [.seconds(2), .seconds(9), .seconds(7)])
        #expect(watch.sightings(most: 2) == Array(all.prefix(2)) && watch.sightings(most: 0).isEmpty)
        #expect(watch.sightings(most: 3) == Array(all.prefix(3)))
    }

    @Test("A region that is watched no more tells nothing, and begins anew")
    func unwatching() {
        var watch = RegionWatch()
        let region = BeaconRegion(badge)
        var told: [RegionWatch.Change] = []
        let tell = { (notice: RegionWatch.Notice) in told.append(notice.change) }
        for round in 0..<100 {
            watch.watch(region)
            let start = Duration.seconds(round)
            watch.sight(badge, now: start, tell: tell)
            watch.sight(badge, now: start + .milliseconds(1), tell: tell)
            #expect(watch.isInside(region) == true)
            #expect([watch.unwatch(region), watch.unwatch(region)] == [true, false])
            #expect(watch.isInside(region) == false)
        }
        watch.expire(now: .seconds(1_000), tell: tell)
        #expect(told == Array(repeating: .entered, count: 100))
        #expect(watch.deadline == nil && watch.count == 0)
    }

    /// Straightforward model of a region's state: examines the whole history each time.
    private struct Model {
        var history: [BeaconRegion: [Duration]] = [:]
        var entered: [BeaconRegion: Bool] = [:]

        mutating func sight(_ beacon: BeaconIdentity, _ regions: [BeaconRegion], _ now: Duration) -> [BeaconRegion] {
            var told: [BeaconRegion] = []
            for region in regions where region.contains(beacon) {
                history[region, default: []].append(now)
                let times = history[region] ?? []
                guard entered[region] != true, times.count > 1,
                    times[times.count - 1] - times[times.count - 2] <= .seconds(2)
                else { continue }
                entered[region] = true
                told.append(region)
            }
            return told
        }

        mutating func expire(_ now: Duration) -> [BeaconRegion] {
            var told: [BeaconRegion] = []
            for (region, isInside) in entered where isInside && now - (history[region]?.last ?? now) >= .seconds(30) {
                entered[region] = false
                history[region] = []
                told.append(region)
            }
            return told
        }
    }

    @Test("Traces by chance have the changes that a slow model has")
    func model() {
        let regions = [
            "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1",
            "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2", "eddystone:00112233445566778899",
            "eddystone:00112233445566778899/AABBCCDDEEFF", "0A1B2C3D-DFFB-48D2-B060-D0F5A71096E0/7/8",
        ].map(BeaconRegion.of)
        let beacons = [
            "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/3",
            "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/2/2", "eddystone:00112233445566778899/AABBCCDDEEFF",
            "eddystone:00112233445566778899/000000000000", "0A1B2C3D-DFFB-48D2-B060-D0F5A71096E0/7/8",
        ].map(BeaconIdentity.of)
        let count = RunCount.from("BLEWEDGE_BEACON_TRACES", usual: 5_000)
        var random = SeededGenerator(seed: 23)
        for trace in 0..<count {
            var watch = RegionWatch()
            var model = Model()
            for region in regions { watch.watch(region) }
            var now = Duration.zero
            for _ in 0..<20 {
                now += .milliseconds(
                    [1, 500, 2_000, 2_001, 15_000, 29_999, 30_000][Int.random(in: 0..<7, using: &random)]
                )
                var told: Set<BeaconRegion> = []
                watch.expire(now: now) { if $0.change == .left { told.insert($0.region) } }
                if told != Set(model.expire(now)) { Issue.record("trace \(trace): exits at \(now)") }
                let beacon = beacons[Int.random(in: 0..<beacons.count, using: &random)]
                var entered: [BeaconRegion] = []
                watch.sight(beacon, now: now) { entered.append($0.region) }
                if Set(entered) != Set(model.sight(beacon, regions, now)) {
                    Issue.record("trace \(trace): entries at \(now)")
                }
            }
        }
    }
}

extension Duration {
    fileprivate var inMilliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
