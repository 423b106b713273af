// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothAdapters
import BluetoothHost
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts

@Suite("Availability of beacons", .virtualTime, .serialized, .timeLimit(.minutes(10)))
struct BeaconAvailabilityTests {
    private static let badges = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

    /// Makes a daemon monitor a region, and returns a client that follows its events.
    private static func watching(_ bench: DaemonBench) throws -> ControlPeer {
        var settings = BeaconConfiguration()
        settings.watched = [.initial]
        _ = try bench.make(beacons: settings, regions: "static \(badges) Badges\n")
        return try follow(bench)
    }

    private static func follow(_ bench: DaemonBench) throws -> ControlPeer {
        let client = try ControlPeer(bench.paths.controlSocket.string, on: bench.loop)
        try client.send("events\n")
        #expect(try bench.until { client.values.contains { $0["event"]?.string == "gate" } })
        return client
    }

    /// Returns the beacon events that a client has received, in order.
    private static func told(_ client: ControlPeer) -> [JSONValue] {
        client.values.filter { $0["event"]?.string == "beaconAvailability" }
    }

    private static func words(_ client: ControlPeer) -> [String] {
        told(client).compactMap { $0["availability"]?.string }
    }

    /// Waits for an event that follows all beacon events sent until now.
    private static func settle(_ bench: DaemonBench, _ client: ControlPeer) throws {
        let before = client.values.count { $0["event"]?.string == "gate" }
        _ = try bench.ask(.pause)
        _ = try bench.ask(.resume)
        #expect(try bench.until { client.values.count { $0["event"]?.string == "gate" } == before + 2 })
    }

    private static func status(_ bench: DaemonBench) throws -> JSONValue {
        try JSONValue(Array(try bench.ask(.beacons(.status)).get().text.utf8))
    }

    @Test("SW-2: each change of the availability of beacons is reported once, and the current one to new clients")
    func changes() throws {
        let bench = try DaemonBench()
        let client = try Self.watching(bench)
        #expect(Self.words(client) == ["starting"])
        bench.daemon?.start { _ in }
        #expect(try bench.until { Self.words(client) == ["starting", "possible"] })
        #expect(try Self.status(bench)["available"]?.bool == true)
        // Changing the monitored regions in the meantime does not affect the availability.
        _ = try bench.ask(.beacons(.unwatch(.all)))
        _ = try bench.ask(.beacons(.watch(.initial, .usual)))
        bench.radio.onLoss?(.switchedOff("quiet0"))
        let later = try Self.follow(bench)
        #expect(Self.words(later) == ["off"])
        let status = try Self.status(bench)
        #expect(status["available"]?.bool == false && status["availability"]?.string == "off")
        #expect(status.message("availabilityCause")?.english.contains("quiet0") == true)
        #expect(try bench.until { Self.words(client).last == "possible" })
        try Self.settle(bench, client)
        #expect(Self.words(client) == ["starting", "possible", "off", "possible"])
        #expect(Self.words(later) == ["off", "possible"])
        let off = try #require(Self.told(client).first { $0["availability"]?.string == "off" })
        let last = try #require(Self.told(client).last)
        #expect(off["available"]?.bool == false && last["available"]?.bool == true)
        #expect(off.message("availabilityCause")?.text(.japanese) != off["availabilityCause"]?.string)
        #expect(last["availabilityCause"] == nil)
        try bench.end()
    }

    @Test("SW-2: repeated scan failures make beacons unavailable, which is reported once until a scan starts")
    func scan() throws {
        let bench = try DaemonBench()
        bench.radio.saysThatItScans = true
        let client = try Self.watching(bench)
        bench.daemon?.start { _ in }
        #expect(try bench.until { bench.radio.listening == 1 })
        bench.radio.saysThatItScans = false
        let scans = bench.radio.scans
        bench.radio.failScan(.unsupported)
        #expect(try bench.until { bench.radio.scans == scans + 1 })
        bench.radio.saysThatItScans = true
        bench.radio.failScan(.unsupported)
        #expect(try bench.until { bench.radio.scans == scans + 2 })
        try Self.settle(bench, client)
        #expect(Self.words(client) == ["starting", "possible", "unsupported", "possible"])
        try bench.end()
    }

    @Test(
        "SW-2: without configured regions, clients get no events about the radio, and status says how to configure regions"
    )
    func unconfigured() throws {
        let bench = try DaemonBench()
        let kept = bench.paths.state.appending("fetched").string
        let entry = ManagedRegions.Entry(try #require(BeaconRegion(Self.badges)), name: "Fetched", type: "test")
        _ = try bench.make(managed: { FileSystem.exists(kept) ? ManagedRegions([entry]) : nil })
        bench.daemon?.start { _ in }
        #expect(try bench.until { bench.states.contains("unselected") })
        let client = try Self.follow(bench)
        bench.radio.onLoss?(.switchedOff("quiet0"))
        let region = try #require(BeaconRegion(Self.badges))
        _ = try bench.ask(.beacons(.range(.region(region), seconds: 1, withoutDesignated: false)))
        try Self.settle(bench, client)
        #expect(Self.words(client) == [])
        let status = try Self.status(bench)
        #expect(status["availability"]?.string == "unconfigured")
        #expect(status.message("availabilityRemedy")?.english.contains("beacons set-up") == true)
        // Newly fetched regions are used the next time that monitoring starts.
        #expect(try bench.until { bench.daemon?.status.adapter != nil })
        try FileSystem.makeDirectory(FilePath(kept), mode: 0o755)
        _ = try bench.ask(.beacons(.watch(.managed, .usual)))
        try Self.settle(bench, client)
        #expect(Self.words(client) == ["possible"])
        try bench.end()
    }

    @Test("The article on the files has every word for whether beacons can be watched, and no other")
    func article() throws {
        let text = try RepositoryFiles.text("Sources/Beacons/Beacons.docc/Files.md")
        let rows = text.split(separator: "\n").drop { !$0.hasPrefix("| `availability`") }.dropFirst(2)
        let words = rows.prefix { $0.hasPrefix("| `") }.map { String($0.dropFirst(3).prefix { $0 != "`" }) }
        #expect(words == BeaconAvailability.State.allCases.map(\.rawValue))
    }

    @Test("SW-2, SW-22: each adapter fault has its own word: none, off, not permitted, not able, failed")
    func faults() throws {
        let errors: [(AdapterError, BeaconAvailability.State)] = [
            (.noAdapter, .noAdapter), (.noBluetoothInKernel, .noAdapter), (.notFound(.any, available: []), .noAdapter),
            (.blocked("hci0", isHard: true), .off), (.notPermitted(missing: []), .forbidden),
            (.system("opening", .permissionDenied), .forbidden), (.lowEnergyUnsupported("hci0"), .unsupported),
            (.refused("Reset", "0x03"), .failed), (.system("opening", .ioError), .failed),
        ]
        for (error, state) in errors {
            let availability = BeaconAvailability(error)
            #expect(availability.state == state && availability.reason?.cause == CommandFailure(error).cause)
        }
        #expect(BeaconAvailability(AdapterError.blocked("hci0", isHard: true)).conditions == (true, true, false))
        #expect(BeaconAvailability(AdapterError.notPermitted(missing: [])).conditions == (true, false, nil))
        #expect(BeaconAvailability(AdapterError.noAdapter).conditions == (false, false, false))
        #expect(BeaconAvailability(AdapterError.lowEnergyUnsupported("hci0")).conditions == (false, false, false))
        #expect(BeaconAvailability(AdapterError.refused("Reset", "0x03")).conditions == (nil, nil, nil))
        #expect(BeaconAvailability(AdapterLoss.removed("none")).state == .noAdapter)
        #expect(BeaconAvailability(AdapterLoss.switchedOff("none")).state == .off)
        #expect(BeaconAvailability(AdapterLoss.failed("none", cause: "it failed")).state == .failed)
        #expect(BeaconAvailability(ScanError.adapterGone) == nil)
        #expect(BeaconAvailability(ScanError.notPermitted(missing: []))?.state == .forbidden)
        #expect(BeaconAvailability(refused: CommandFailure(AdapterError.noAdapter)).state == .noAdapter)
        #expect(BeaconAvailability(refused: CommandFailure(AdapterError.notPermitted(missing: []))).state == .forbidden)
    }
}
