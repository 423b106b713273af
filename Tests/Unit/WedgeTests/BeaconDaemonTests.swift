// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Keystrokes
import LinuxIO
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Texts
import Typing

@testable import Configuration
@testable import Control
@testable import Daemon
@testable import Devices

@Suite("Beacons and the daemon", .virtualTime, .serialized, .timeLimit(.minutes(10)))
struct BeaconDaemonTests {
    private static let badges = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    private static let gates = "11111111-DFFB-48D2-B060-D0F5A71096E0"
    private static let regions = """
        static \(badges) Badges
        static \(gates) Gates
        key \(badges)/1/2 A17C
        """
    private static let sender = BluetoothAddress(rawValue: 0xC6C7_C8C9_CACB)

    private static func region(_ text: String) throws -> BeaconRegion { try #require(BeaconRegion(text)) }

    private static func advertisement(_ text: String) throws -> [UInt8] {
        let identity = try #require(BeaconIdentity(text))
        let frame = try #require(BeaconFrame(.iBeacon, identity, measuredPower: -59))
        return try AdvertisementLayout(frame.content(), canBeAsked: false).data
    }

    private static func action(_ text: String, _ deed: BeaconAction.Deed) throws -> BeaconAction {
        BeaconAction(name: deed.rawValue, region: try region(text), deed: deed)
    }

    /// Lets the daemon receive a beacon twice.
    private static func see(_ text: String, _ bench: DaemonBench) throws {
        for _ in 0..<2 { bench.radio.advertise(sender, try advertisement(text)) }
    }

    @Test("D-30: entering a region types the beacon's key code once, as a barcode, and counts it")
    func typing() throws {
        let bench = try DaemonBench()
        var settings = BeaconConfiguration()
        settings.actions = [try Self.action(Self.badges, .type)]
        let daemon = try bench.make(beacons: settings, regions: Self.regions)
        daemon.start { _ in }
        #expect(try bench.until { bench.radio.listening == 1 })
        for _ in 0..<3 { try Self.see(Self.badges + "/1/2", bench) }
        #expect(try bench.types("A17C\n"))
        #expect(daemon.service.counts.bytes.received == 5 && daemon.service.counts.bytes.typed == 5)
        #expect(daemon.status.object.text.contains("\"codesTaken\":1"))
        #expect(daemon.status.object.text.contains("\"unauthenticatedActions\":[\"type\"]"))
        #expect(daemon.status.allows?.english.contains("anyone can copy, trigger beacons.actions.type") == true)
        try bench.end()
    }

    @Test("D-30: where a link has to be secured, what a beacon says is not typed, and that is counted")
    func secured() throws {
        let bench = try DaemonBench()
        var settings = BeaconConfiguration()
        settings.actions = [try Self.action(Self.badges, .type)]
        let choice = DeviceSelector.address(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5))
        let daemon = try bench.make(device: choice, security: .encrypted, beacons: settings, regions: Self.regions)
        daemon.start { _ in }
        #expect(try bench.until { bench.radio.listening == 1 })
        try Self.see(Self.badges + "/1/2", bench)
        #expect(try bench.until { daemon.status.object.text.contains("\"codesDropped\":1") })
        #expect(daemon.service.counts.bytes.received == 0)
        try bench.end()
    }

    @Test("D-30: a gate of beacons is closed until one is near, and a pause stays a pause")
    func gate() throws {
        let bench = try DaemonBench()
        var settings = BeaconConfiguration()
        settings.actions = [try Self.action(Self.badges, .gate), try Self.action(Self.gates, .gate)]
        settings.exitSilence = .seconds(1)
        let daemon = try bench.make(beacons: settings, regions: Self.regions)
        daemon.start { _ in }
        #expect(try bench.until { bench.radio.listening == 1 })
        #expect(!daemon.service.keyboard.isGateOpen)
        #expect(bench.notes.contains { $0.contains("no beacon that opens the gate is nearby") })
        try Self.see(Self.gates + "/7/7", bench)
        #expect(daemon.service.keyboard.isGateOpen)
        _ = try bench.ask(.pause)
        #expect(!daemon.service.keyboard.isGateOpen)
        #expect(daemon.status.gate?.cause.english.hasPrefix("paused") == true)
        _ = try bench.ask(.resume)
        #expect(daemon.service.keyboard.isGateOpen)
        #expect(try bench.until { !daemon.service.keyboard.isGateOpen })
        try bench.end()
    }

    @Test("D-30: clients are told of what is watched, and the hook of the regions that are tied to it")
    func events() throws {
        let bench = try DaemonBench()
        var settings = BeaconConfiguration()
        settings.watched = [.initial]
        settings.exitSilence = .seconds(1)
        settings.actions = [try Self.action(Self.badges + "/1/2", .hook)]
        let daemon = try bench.make(beacons: settings, regions: Self.regions)
        var hooked: [String] = []
        daemon.onBeacon = { notice, code in hooked.append("\(notice.change.rawValue) \(code ?? "-")") }
        daemon.start { _ in }
        #expect(try bench.until { bench.radio.listening == 1 })
        try Self.see(Self.gates + "/1/2", bench)
        #expect(hooked.isEmpty)
        try Self.see(Self.badges + "/1/2", bench)
        #expect(hooked == ["entered A17C"])
        let status = try bench.ask(.beacons(.status)).get()
        #expect(status.text.contains("\"inside\":["))
        #expect(try bench.until { hooked == ["entered A17C", "left A17C"] })
        try bench.end()
    }

    @Test("SW-8: designated beacons are saved in the state directory; if that fails, nothing changes")
    func designating() throws {
        let bench = try DaemonBench()
        let daemon = try bench.make(regions: Self.regions)
        daemon.start { _ in }
        let badges = try Self.region(Self.badges)
        let designate = ControlRequest.beacons(.designate(["A17C"], in: badges, .usual))
        #expect(try bench.ask(designate).get().text.contains("\"answer\":1"))
        #expect(try DesignatedStore(bench.paths.designated).read().beacons.map(\.keyCode) == ["A17C"])
        #expect(try bench.until { bench.radio.listening == 1 })
        // The file cannot be replaced, because there is a directory in its place.
        try FileSystem.remove(bench.paths.designated)
        try FileSystem.makeDirectory(bench.paths.designated.appending("in-the-way"), mode: 0o755)
        #expect(throws: CommandFailure.self) { try bench.ask(.beacons(.release("A17C"))).get() }
        #expect(throws: CommandFailure.self) { try bench.ask(.beacons(.release("nobody"))).get() }
        let more = ControlRequest.beacons(.designate(["00010003"], in: badges, .usual))
        #expect(try bench.ask(more).get().text.contains("\"answer\":-7"))
        let list = try bench.ask(.beacons(.designated)).get().text
        #expect(list.contains("A17C") && !list.contains("00010003"))
        try bench.end()
    }

    @Test("SW-2, SW-8: without an adapter, `designate` answers -1")
    func noAdapter() throws {
        let bench = try DaemonBench()
        var opened: ((Result<any LowEnergyAdapter, AdapterError>) -> Void)?
        let core = AdapterCore(bench.loop) { _, completion in opened = completion }
        try bench.make(regions: Self.regions, opening: core).start { _ in }
        #expect(try bench.until { opened != nil })
        // While the adapter is being opened, there may be one.
        let badges = try Self.region(Self.badges)
        let first = ControlRequest.beacons(.designate(["00010003"], in: badges, .usual))
        #expect(try bench.ask(first).get().text.contains("\"answer\":1"))
        opened?(.failure(.noAdapter))
        let designate = ControlRequest.beacons(.designate(["A17C"], in: badges, .usual))
        #expect(try bench.ask(designate).get().text.contains("\"answer\":-1"))
        try bench.end()
    }

    @Test(
        "SW-20: `regions` has the type, the beacons and the last update of each managed region, also of one fetched since"
    )
    func managed() throws {
        let bench = try DaemonBench()
        let kept = bench.paths.state.appending("fetched").string
        let entries = try ["/7", "/8", "/9"].map {
            ManagedRegions.Entry(try Self.region(Self.gates + $0), type: "owned")
        }
        let managed = ManagedRegions(
            Array(entries.prefix(2)),
            new: [entries[1].region],
            abandoned: [entries[2]],
            result: "has-new-and-abandoned"
        )
        try bench.make(regions: "", managed: { FileSystem.exists(kept) ? managed : nil }).start { _ in }
        let listed = { try JSONValue(Array(bench.ask(.beacons(.regions)).get().text.utf8)) }
        #expect(try listed()["regions"]?.array == [])
        try FileSystem.makeDirectory(FilePath(kept), mode: 0o755)
        let answer = try listed()
        let updates = answer["regions"]?.array?.compactMap { $0["update"]?.string }
        #expect(updates == ["unchanged", "new"] && answer["update"]?.string == "has-new-and-abandoned")
        let abandoned = try #require(answer["abandoned"]?.array?.first)
        #expect(abandoned["region"]?.string == Self.gates + "/9" && abandoned["type"]?.string == "owned")
        #expect(abandoned["beacons"]?.string == "static" && abandoned["update"]?.string == "abandoned")
        try bench.end()
    }

    @Test("SW-19: the server's result for a track is an event of the daemon")
    func contact() throws {
        let bench = try DaemonBench()
        try bench.make(regions: Self.regions).start { _ in }
        let client = try ControlPeer(bench.paths.controlSocket.string, on: bench.loop)
        try client.send("events\n")
        #expect(try bench.until { client.values.contains { $0["event"]?.string == "gate" } })
        _ = try bench.ask(.beacons(.contact(try Self.region(Self.gates), .partBlocked))).get()
        #expect(try bench.until { client.values.contains { $0["event"]?.string == "contact" } })
        let event = try #require(client.values.first { $0["event"]?.string == "contact" })
        #expect(event["region"]?.string == Self.gates && event["result"]?.string == "part-blocked")
        #expect(event["name"]?.string == "Gates")
        try bench.end()
    }

    @Test(
        "SW-12: clearing removes the designated beacons, the server's regions and its files, and where that fails nothing"
    )
    func clearing() throws {
        let failing = try DaemonBench()
        let refusal = CommandFailure(.permission, Message(detail: "read-only"))
        let entry = ManagedRegions.Entry(try Self.region(Self.gates + "/7"), name: "Rented", type: "owned")
        let managed = ManagedRegions([entry])
        let daemon = try failing.make(
            regions: Self.regions,
            managed: { managed },
            removeServerFiles: { () throws(CommandFailure) in throw refusal }
        )
        daemon.start { _ in }
        #expect(throws: refusal) { try failing.ask(.beacons(.clear)).get() }
        #expect(try failing.ask(.beacons(.regions)).get().text.contains(Self.gates + "/7"))
        try failing.end()

        let bench = try DaemonBench()
        let counter = Mutex(0)
        try bench.make(
            regions: Self.regions,
            managed: { counter.withLock { $0 } == 0 ? managed : ManagedRegions() },
            removeServerFiles: { counter.withLock { $0 += 1 } }
        ).start { _ in }
        let designate = ControlRequest.beacons(.designate(["A17C"], in: try Self.region(Self.badges), .usual))
        #expect(try bench.ask(designate).get().text.contains("\"answer\":1"))
        #expect(try bench.ask(.beacons(.regions)).get().text.contains("Rented"))
        _ = try bench.ask(.beacons(.clear)).get()
        #expect(counter.withLock { $0 } == 1)
        #expect(!FileSystem.exists(bench.paths.designated.string))
        let regions = try bench.ask(.beacons(.regions)).get().text
        #expect(!regions.contains(Self.gates + "/7") && !regions.contains("/1/2") && regions.contains("Gates"))
        #expect(try bench.ask(.beacons(.status)).get().text.contains("\"watched\":[]"))
        try bench.end()
    }

    @Test(
        "SW-4, D-24: entered regions are reported after the first sightings, and when the gate's terminal comes to the foreground"
    )
    func display() throws {
        let bench = try DaemonBench()
        var settings = BeaconConfiguration()
        settings.watched = [.initial]
        settings.options = .entryStateOnDisplay
        bench.radio.saysThatItScans = true
        let daemon = try bench.make(beacons: settings, regions: Self.regions)
        let client = try ControlPeer(bench.paths.controlSocket.string, on: bench.loop)
        try client.send("events\n")
        #expect(try bench.until { client.values.contains { $0["event"]?.string == "gate" } })
        let told = { client.values.filter { $0["event"]?.string == "region" } }
        daemon.start { _ in }
        #expect(try bench.until { bench.radio.listening == 1 })
        try Self.see(Self.badges + "/1/2", bench)
        #expect(try bench.until { told().count == 1 })
        daemon.gate.onFront?()
        #expect(try bench.until { told().count == 2 })
        #expect(told().allSatisfy { $0["change"]?.string == "inside" && $0["region"]?.string == Self.badges })
        try bench.end()
    }

    @Test("A beacon is heard while another scan runs, and the radio is left alone when nothing is watched any more")
    func sharedScan() throws {
        let bench = try DaemonBench()
        let choice = DeviceSelector.address(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5))
        let daemon = try bench.make(device: choice, regions: Self.regions)
        daemon.start { _ in }
        #expect(try bench.until { bench.radio.listening == 1 })
        #expect(try bench.ask(.beacons(.watch(.initial, .usual))).get().text.contains("\"regions\":2"))
        try Self.see(Self.badges + "/1/2", bench)
        #expect(try bench.ask(.beacons(.status)).get().text.contains("\"heard\":2"))
        _ = try bench.ask(.disconnect)
        #expect(try bench.until { bench.radio.scans > 1 })
        try Self.see(Self.badges + "/1/2", bench)
        #expect(try bench.ask(.beacons(.status)).get().text.contains("\"heard\":4"))
        #expect(try bench.ask(.beacons(.unwatch(.all))).get().text.contains("\"regions\":2"))
        #expect(try bench.until { bench.radio.listening == 0 })
        try bench.end()
    }

    @Test(
        "SW-13: the daemon advertises the configured beacon, and refuses to stop advertising if it does not advertise"
    )
    func advertising() throws {
        let bench = try DaemonBench()
        var settings = BeaconConfiguration()
        settings.advertised = BeaconIdentity(Self.gates + "/1/2")
        let daemon = try bench.make(beacons: settings)
        daemon.start { _ in }
        #expect(try bench.until { daemon.status.object.text.contains("\"advertising\":true") })
        #expect(bench.radio.advertised == [try Self.advertisement(Self.gates + "/1/2")])
        _ = try bench.ask(.beacons(.stopAdvertising)).get()
        #expect(bench.radio.advertised.isEmpty)
        #expect(throws: CommandFailure.self) { try bench.ask(.beacons(.stopAdvertising)).get() }
        try bench.end()
    }

    @Test("a beacon is designated, made a switcher and released, and another is advertised on request")
    func requests() throws {
        let bench = try DaemonBench()
        let daemon = try bench.make(regions: Self.regions)
        daemon.start { _ in }
        #expect(try bench.until { daemon.service.adapter != nil })
        _ = try bench.ask(.beacons(.designate(["A17C"], in: try Self.region(Self.badges), .usual))).get()
        let updated = try bench.ask(.beacons(.update(["A17C"], isSwitcher: true))).get().text
        let listed = try bench.ask(.beacons(.designated)).get().text
        #expect(updated == listed && listed.contains("A17C"))
        #expect(try DesignatedStore(bench.paths.designated).read().beacons.map(\.isSwitcher) == [true])
        #expect(try bench.ask(.beacons(.release("A17C"))).get().text == #"{"designated":[]}"#)
        #expect(try DesignatedStore(bench.paths.designated).read().beacons.isEmpty)
        let identity = try #require(BeaconIdentity(Self.gates + "/3/4"))
        let frame = try #require(BeaconFrame(.iBeacon, identity, measuredPower: -59))
        #expect(try bench.ask(.beacons(.advertise(frame))).get().text.contains(Self.gates))
        #expect(try bench.until { !bench.radio.advertised.isEmpty })
        #expect(bench.radio.advertised == [try Self.advertisement(Self.gates + "/3/4")])
        try bench.end()
    }
}
