// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothAdapters
import RadioMeasuring
import TestSupport
import Testing

@Suite("Beacons in hostile air", .timeLimit(.minutes(10)))
struct BeaconFloodTests {
    private static let copied = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    private static let real = "0A1B2C3D-DFFB-48D2-B060-D0F5A71096E0"
    private static let file = """
        static \(copied)
        static \(copied)/1
        static \(copied)/1/2
        static \(copied)/2
        static \(real)
        """

    @Test(
        "In 10,000 hostile reports a second the tables keep their limits, all is counted, and a region is entered and left"
    )
    func flood() throws {
        var settings = RegionWatch.Settings()
        settings.exitSilence = .seconds(2)
        var monitor = BeaconMonitor(RegionCatalogue(try RegionFile(Self.file)), settings: settings)
        #expect(monitor.watch(.initial) == 5)
        let group = BeaconRegion.of(Self.copied).group
        #expect(monitor.range(BeaconRegion.of(Self.copied), now: .zero) == true)
        for major in 1..<BeaconMonitor.mostRanged {
            #expect(monitor.range(BeaconRegion(group, .major(UInt16(major))), now: .zero) == true)
        }
        var air = HostileBeacons(seed: 5, copying: [Self.copied])
        var told: [String] = []
        var largest = monitor.tables
        let badge = BeaconIdentity.of("\(Self.real)/1/1").advertisement
        // A thousand reports every tenth of a second, for six seconds; the real beacon is received after one second.
        for turn in 0..<60 {
            let now = Duration.milliseconds(100 * turn)
            let tell: (BeaconMonitor.Event) -> Void = { event in
                guard case .region(let notice) = event, notice.region == BeaconRegion.of(Self.real) else { return }
                told.append("\(notice.change.rawValue) at \(turn)")
            }
            let (bytes, lengths) = air.block(1_000)
            var start = 0
            for length in lengths {
                monitor.handle(bytes.span.extracting(start..<(start + Int(length))), now: now, tell: tell)
                start += Int(length)
            }
            if (10..<20).contains(turn) { monitor.take(badge.span, rssi: 127, now: now, tell: tell) }
            largest.beacons = max(largest.beacons, monitor.tables.beacons)
            largest.dues = max(largest.dues, monitor.tables.dues)
            monitor.expire(now: now, tell: tell)
        }
        #expect(told == ["entered at 11", "left at 39"])
        #expect(monitor.inside.contains(BeaconRegion.of("\(Self.copied)/1")))
        #expect(largest.watched == 5 && largest.ranged == BeaconMonitor.mostRanged)
        #expect(largest.beacons > BeaconRanging.capacity)
        #expect(largest.beacons <= BeaconMonitor.mostRanged * BeaconRanging.capacity)
        #expect(largest.dues <= 2 * 5 + 16)
        let counters = monitor.counters
        #expect(air.made.reports + air.made.badEvents == 60_000 && air.made.badEvents > 500)
        #expect(counters.reports == UInt64(air.made.reports + 10))
        #expect(counters.beacons == UInt64(air.made.beacons + 10))
        #expect(counters.badEvents == UInt64(air.made.badEvents))
        #expect(counters.displaced > 1_000)
    }

    @Test("Each beacon that found no place in a list, or lost it, is counted")
    func losses() throws {
        var monitor = BeaconMonitor(RegionCatalogue(try RegionFile(Self.file)))
        #expect(monitor.range(BeaconRegion.of(Self.copied), now: .zero) == true)
        let hear = { (monitor: inout BeaconMonitor, minors: Range<Int>, times: Int) in
            for minor in minors {
                let data = BeaconIdentity.of("\(Self.copied)/1/\(minor)").advertisement
                for _ in 0..<times { monitor.take(data.span, rssi: -60, now: .seconds(1)) { _ in } }
            }
        }
        hear(&monitor, 0..<1_000, 1)
        #expect(monitor.tables.beacons == 256)
        #expect(monitor.counters.displaced == 744 && monitor.counters.leftOut == 0)
        hear(&monitor, 744..<1_000, 1)
        hear(&monitor, 2_000..<2_300, 1)
        #expect(monitor.counters.displaced == 744 && monitor.counters.leftOut == 300)
        #expect(monitor.tables.beacons == 256)
    }

    @Test("Regions beyond the limit are not watched, and counted")
    func regions() throws {
        var monitor = BeaconMonitor(RegionCatalogue(try RegionFile(Self.file)))
        let group = BeaconRegion.of(Self.copied).group
        for number in 0..<RegionWatch.capacity {
            let region = BeaconRegion(group, .majorMinor(7, UInt16(truncatingIfNeeded: number)))
            #expect(monitor.watch(region) == true)
        }
        #expect(monitor.watch(.initial) == 0)
        #expect(monitor.counters.regionsLeftOut == 5 && monitor.tables.watched == RegionWatch.capacity)
        #expect(monitor.watch(BeaconRegion(group, .majorMinor(7, 1)), .onEntry) == true)
        #expect(monitor.counters.regionsLeftOut == 5)
    }

    @Test("A region that is watched anew again and again while its beacon is near takes no more memory")
    func anew() throws {
        var monitor = BeaconMonitor(RegionCatalogue(try RegionFile(Self.file)))
        let data = BeaconIdentity.of("\(Self.real)/1/1").advertisement
        var changes: [String] = []
        for turn in 0..<1_000 {
            #expect(monitor.watch(.initial) == 5)
            for _ in 0..<2 { monitor.take(data.span, rssi: -60, now: .milliseconds(turn)) { _ in } }
            #expect(monitor.tables.dues <= 2 * 5 + 16)
            if turn < 999 { #expect(monitor.unwatch(.initial) == 5) }
        }
        #expect(monitor.inside == [BeaconRegion.of(Self.real)])
        // Discarding the deadlines of another region must keep this region's deadline.
        let other = BeaconRegion.of(Self.copied)
        let otherData = BeaconIdentity.of("\(Self.copied)/1/1").advertisement
        for turn in 1_000..<1_100 {
            for _ in 0..<2 { monitor.take(otherData.span, rssi: -60, now: .milliseconds(turn)) { _ in } }
            #expect(monitor.unwatch(other) == true)
            #expect(monitor.watch(other) == true)
        }
        #expect(monitor.inside.contains(BeaconRegion.of(Self.real)))
        #expect(monitor.unwatch(other) == true)
        monitor.expire(now: .milliseconds(30_998)) { changes.append("\($0)") }
        #expect(changes.isEmpty)
        monitor.expire(now: .milliseconds(30_999)) { changes.append("\($0)") }
        #expect(changes.count == 1 && !monitor.inside.contains(BeaconRegion.of(Self.real)))
    }
}
