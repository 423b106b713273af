// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothPackets
import TestSupport
import Testing

@Suite("Beacons, watched and designated", .timeLimit(.minutes(10)))
struct BeaconMonitorTests {
    private static let badges = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    private static let oneTime = "0A1B2C3D-DFFB-48D2-B060-D0F5A71096E0"
    private static let gates = "11111111-DFFB-48D2-B060-D0F5A71096E0"
    private static let file = """
        static \(badges)
        static \(gates)
        dynamic \(oneTime)
        key \(badges)/1/1 A
        key \(badges)/1/2 B
        key \(badges)/1/3 C
        """

    private static func monitor(limit: Int = 19) throws -> BeaconMonitor {
        BeaconMonitor(RegionCatalogue(try RegionFile(file)), limit: limit)
    }

    /// Lets the monitor receive a beacon twice, and returns the reported changes.
    private static func see(_ monitor: inout BeaconMonitor, _ text: String, at time: Int) -> [String] {
        var told: [String] = []
        for offset in [0, 100] {
            let data = BeaconIdentity.of(text).advertisement
            monitor.take(data.span, rssi: -60, now: .milliseconds(time + offset)) { told.append(say($0)) }
        }
        return told
    }

    private static func say(_ event: BeaconMonitor.Event) -> String {
        switch event {
        case .region(let notice): "\(notice.change.rawValue) \(short("\(notice.region)"))"
        case .switched(let beacon, let isOn, let regions): "switched \(isOn) \(short("\(beacon)")) \(regions)"
        case .ranged(let region, let beacons): "ranged \(short("\(region)")) \(beacons.count)"
        }
    }

    private static func short(_ text: String) -> String {
        [badges: "badges", oneTime: "one-time", gates: "gates"].reduce(text) { text, name in
            text.hasPrefix(name.key) ? name.value + text.dropFirst(name.key.count) : text
        }
    }

    private static func region(_ text: String) -> BeaconRegion { BeaconRegion.of(text) }

    @Test("SW-4: each group is watched, and stopping says how many stopped")
    func groups() throws {
        var monitor = try Self.monitor()
        #expect(monitor.isIdle)
        #expect(Self.see(&monitor, Self.badges + "/1/1", at: 0).isEmpty)
        #expect(monitor.watch(.initial) == 2 && monitor.watch(.dynamic) == 1 && monitor.watch(.managed) == 0)
        #expect(Self.see(&monitor, Self.badges + "/1/1", at: 10_000) == ["entered badges"])
        #expect(monitor.unwatch(.dynamic) == 1 && monitor.unwatch(.dynamic) == 0)
        #expect(Self.see(&monitor, Self.oneTime + "/1/1", at: 20_000).isEmpty)
        #expect(monitor.watch(.all) == 3)
        #expect(monitor.unwatch(.nonSwitchers) == 3)
        #expect(monitor.isIdle)
        #expect(monitor.counters.reports == 6 && monitor.counters.beacons == 6)
    }

    @Test("SW-8: each of the ten answers is given, and has its number and an exit status")
    func answers() throws {
        var monitor = try Self.monitor(limit: 2)
        let badges = Self.region(Self.badges)
        let ask = { (monitor: inout BeaconMonitor, codes: [String], region: BeaconRegion?, isKept: Bool) in
            monitor.designate(codes, in: region, keep: { _ in isKept }).rawValue
        }
        #expect(ask(&monitor, ["A"], nil, true) == -2)
        #expect(ask(&monitor, [], badges, true) == -3)
        #expect(ask(&monitor, ["A"], Self.region(Self.oneTime), true) == -4)
        #expect(ask(&monitor, ["A", "nobody"], badges, true) == -5)
        #expect(ask(&monitor, ["A"], badges, false) == -7)
        #expect(monitor.designate(["A"], in: badges, [], keep: { _ in true }).rawValue == -8)
        #expect(monitor.designate(["A"], in: badges, hasAdapter: false, keep: { _ in true }).rawValue == -1)
        #expect(monitor.designated.isEmpty)
        #expect(ask(&monitor, ["A"], badges, true) == 1)
        #expect(ask(&monitor, ["A", "A"], badges, true) == 1)
        #expect(ask(&monitor, ["B", "C"], badges, true) == 0)
        #expect(monitor.designated.beacons.map(\.keyCode) == ["A", "B"])
        #expect(ask(&monitor, ["C"], badges, true) == -6)
    }

    @Test("D-29: a designated beacon reacts, the others of its region do not; released, none of them does")
    func designated() throws {
        var monitor = try Self.monitor()
        #expect(monitor.watch(.initial) == 2)
        #expect(monitor.designate(["B"], in: Self.region(Self.badges), keep: { _ in true }) == .all)
        #expect(Self.see(&monitor, Self.badges + "/1/1", at: 0).isEmpty)
        #expect(Self.see(&monitor, Self.badges + "/1/2", at: 1_000) == ["entered badges/1/2"])
        #expect(Self.see(&monitor, Self.gates + "/1/2", at: 2_000) == ["entered gates"])
        // When the static regions are monitored again, the region of the designated beacon is excluded.
        #expect(monitor.watch(.initial) == 1)
        #expect(monitor.release("A", keep: { _ in true }) == false)
        #expect(monitor.release("B", keep: { _ in false }) == false)
        #expect(monitor.release("B", keep: { _ in true }) == true)
        #expect(monitor.watched == [Self.region(Self.gates)])
        #expect(Self.see(&monitor, Self.badges + "/1/2", at: 100_000).isEmpty)
        #expect(monitor.watch(.initial) == 2)
        #expect(Self.see(&monitor, Self.badges + "/1/1", at: 200_000) == ["entered badges"])
    }

    @Test("SW-15: sighting a switcher starts watching the other regions, and its exit stops it")
    func switchers() throws {
        var monitor = try Self.monitor()
        #expect(monitor.designate(["A"], in: Self.region(Self.badges), .onExit, keep: { _ in true }) == .all)
        #expect(monitor.update(["A", "B"], isSwitcher: true, keep: { _ in true }) == false)
        #expect(monitor.update([], isSwitcher: true, keep: { _ in true }) == false)
        #expect(monitor.update(["A"], isSwitcher: true, keep: { _ in false }) == false)
        #expect(monitor.update(["A"], isSwitcher: true, keep: { _ in true }) == true)
        #expect(Self.see(&monitor, Self.gates + "/1/1", at: 0).isEmpty)
        #expect(Self.see(&monitor, Self.badges + "/1/1", at: 1_000) == ["switched true badges/1/1 2"])
        #expect(Self.see(&monitor, Self.gates + "/1/1", at: 10_000) == ["entered gates"])
        var told: [String] = []
        while let deadline = monitor.deadline { monitor.expire(now: deadline) { told.append(Self.say($0)) } }
        #expect(told == ["left badges/1/1", "switched false badges/1/1 2"])
        #expect(Self.see(&monitor, Self.gates + "/1/1", at: 100_000).isEmpty)
        #expect(monitor.watched.count == 1)
    }

    @Test("SW-9: designated beacons are saved as text, completely or not at all")
    func text() throws {
        var monitor = try Self.monitor()
        #expect(monitor.designate(["A", "B"], in: Self.region(Self.badges), keep: { _ in true }) == .all)
        #expect(monitor.update(["B"], isSwitcher: true, keep: { _ in true }) == true)
        let text = monitor.designated.text
        #expect(try DesignatedBeacons(text: text) == monitor.designated)
        #expect(try DesignatedBeacons(text: DesignatedBeacons().text).isEmpty)
        for count in 0..<text.utf8.count - 1 {
            let part = String(text.prefix(count))
            #expect(throws: DesignatedBeacons.UnreadableLine.self) { try DesignatedBeacons(text: part) }
        }
        // An invalid identity, code and Boolean, a missing Boolean, and a duplicate beacon.
        let elements = text.split(separator: "\n")
        for (old, new) in [
            ("\(Self.badges)/1/2", "x"), (#""B""#, #""A!B""#), ("true", "1"), (#","switcher":true"#, ""),
            ("/1/2", "/1/1"),
        ] {
            let last = elements[2].split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
            #expect(last != elements[2])
            #expect(throws: DesignatedBeacons.UnreadableLine(line: 3)) {
                try DesignatedBeacons(text: "\(elements[0])\n\(elements[1])\n\(last)\n]}\n")
            }
        }
    }

    @Test("The designated beacons of an earlier version are read, whole or not at all")
    func earlierText() throws {
        let text = "blewedge designated beacons 1\nbeacon \(Self.badges)/1/1 A\nswitcher \(Self.badges)/1/2 B\n"
        let beacons = try DesignatedBeacons(text: text)
        #expect(beacons.beacons.map(\.keyCode) == ["A", "B"] && beacons.beacons.map(\.isSwitcher) == [false, true])
        #expect(throws: DesignatedBeacons.UnreadableLine.self) { try DesignatedBeacons(text: String(text.dropLast())) }
        for line in [
            "beacon x A", "beacon \(Self.badges)/1/1 A!B", "gate \(Self.badges)/1/1 A", "beacon \(Self.badges)/1/2 B",
        ] {
            #expect(throws: DesignatedBeacons.UnreadableLine(line: 4)) {
                try DesignatedBeacons(text: text + line + "\n")
            }
        }
    }

    @Test("SW-5: ranged regions are listed once a second, until they are ranged no more")
    func ranging() throws {
        var monitor = try Self.monitor()
        var told: [String] = []
        #expect(monitor.range(Self.region(Self.badges), now: .zero) == true)
        #expect(monitor.deadline == .seconds(1))
        _ = Self.see(&monitor, Self.badges + "/1/1", at: 100)
        for time in [999, 1_000, 1_500, 2_000, 60_000, 60_001, 60_999, 61_000] {
            monitor.expire(now: .milliseconds(time)) { told.append("\(time) \(Self.say($0))") }
        }
        // After a minute of sleep, there is a single list.
        #expect(
            told == ["1000 ranged badges 1", "2000 ranged badges 1", "60000 ranged badges 0", "61000 ranged badges 0"]
        )
        #expect(
            [monitor.unrange(Self.region(Self.badges)), monitor.unrange(Self.region(Self.badges))] == [true, false]
        )
        #expect(monitor.deadline == nil && monitor.isIdle)
        for index in 0...BeaconMonitor.mostRanged {
            let region = BeaconRegion(Self.region(Self.badges).group, .major(UInt16(index)))
            #expect(monitor.range(region, now: .zero) == (index < BeaconMonitor.mostRanged))
        }
    }

    @Test("Reports are read from the controller's packets; a packet that is wrong is counted")
    func packets() throws {
        var monitor = try Self.monitor()
        _ = monitor.watch(.initial)
        let data = BeaconIdentity.of(Self.badges + "/1/1").advertisement
        // LE Advertising Report: one report, ADV_NONCONN_IND, random address, RSSI 127.
        let parameters: [UInt8] = [0x02, 1, 3, 1, 1, 2, 3, 4, 5, 0xC6, UInt8(data.count)] + data + [0x7F]
        let packet: [UInt8] = [0x04, 0x3E, UInt8(parameters.count)] + parameters
        var told: [String] = []
        for time in 0..<2 { monitor.handle(packet.span, now: .seconds(time)) { told.append(Self.say($0)) } }
        #expect(told == ["entered badges"])
        let cut = Array(packet.dropLast())
        monitor.handle(cut.span, now: .seconds(2)) { told.append(Self.say($0)) }
        #expect(monitor.counters.badEvents == 1 && told.count == 1)
    }

    @Test("Ten thousand regions are watched at the cost of ten: each report is looked up, and entered is the right one")
    func manyRegions() throws {
        let uuids = (0..<10_000).map { BluetoothUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: UInt64($0)) }
        let text = uuids.map { "static \(BeaconRegion($0))" }.joined(separator: "\n")
        var monitor = BeaconMonitor(RegionCatalogue(try RegionFile(text)))
        #expect(monitor.watch(.initial) == 10_000)
        #expect(Self.see(&monitor, "\(BeaconRegion(uuids[9_999]))/1/2", at: 0).count == 1)
        #expect(monitor.inside == [BeaconRegion(uuids[9_999])])
        #expect(monitor.unwatch(.initial) == 10_000)
    }

    @Test("A new monitor has counted nothing, and is in no region before it has entered it")
    func beginning() throws {
        var monitor = try Self.monitor()
        #expect(integersOtherThanZero(in: monitor.counters).isEmpty)
        let badges = try #require(BeaconRegion(Self.badges))
        let unknown = BeaconRegion(BluetoothUUID(high: 1, low: 2))
        #expect(monitor.watch(.initial) > 0 && !monitor.isInside(badges) && !monitor.isInside(unknown))
        _ = Self.see(&monitor, Self.badges + "/1/1", at: 0)
        #expect(monitor.isInside(badges) && !monitor.isInside(unknown) && monitor.inside == [badges])
        #expect(monitor.counters.reports == 2 && monitor.counters.beacons == 2)
    }
}
