// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import Glibc
import Keystrokes
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts
import TextsSupport
import Typing

/// Daemon on an adapter that receives no devices, with an event loop on the test's thread.
@Suite("The daemon", .virtualTime, .serialized)
struct DaemonTests {
    private static let scanner = SelectedDevice(
        DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random),
        name: "A"
    )
    private static let other = SelectedDevice(
        DeviceAddress(BluetoothAddress(rawValue: 0xC0C1_C2C3_C4C5), .random),
        name: "B"
    )

    private typealias Bench = DaemonBench

    @Test("It takes up the choice that was kept, and follows each other one that is written")
    func followsChoice() throws {
        let bench = try Bench()
        try bench.store.write(Self.scanner)
        let daemon = try bench.make()
        daemon.start { _ in }
        #expect(try bench.until { bench.radio.listening == 1 })
        #expect(daemon.service.device.choice == .kept(Self.scanner))
        try bench.store.write(Self.other)
        #expect(try bench.until { daemon.service.device.choice == .kept(Self.other) && bench.radio.listening == 1 })
        try bench.store.forget()
        #expect(try bench.until { daemon.service.device.choice == nil && bench.radio.listening == 0 })
        #expect(bench.states.last == "unselected")
        try bench.end()
    }

    @Test("A choice that is garbled in mid-session is told, and the one before it stays in force")
    func garbledChoice() throws {
        let bench = try Bench()
        try bench.store.write(Self.scanner)
        let daemon = try bench.make()
        daemon.start { _ in }
        #expect(try bench.until { bench.radio.listening == 1 })
        try FileSystem.replace(bench.store.path, with: Array("address = what\n".utf8), mode: 0o644)
        #expect(try bench.until { !bench.notes.isEmpty })
        #expect(bench.notes.first?.contains("cannot determine the selected device") == true)
        #expect(daemon.service.device.choice == .kept(Self.scanner))
        #expect(bench.radio.listening == 1)
        #expect(daemon.status.object.text.contains("\"selectionFault\""))
        try bench.end()
    }

    @Test("Files of an earlier version are read at the start, and converted to JSON")
    func earlierFiles() throws {
        let bench = try DaemonBench()
        let beacon = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2"
        for (path, text) in [
            (bench.paths.choice, "address = F0:F1:F2:F3:F4:F5\ntype = random\nname = \"LINBLE-TEST\"\n"),
            (bench.paths.designated, "blewedge designated beacons 1\nswitcher \(beacon) A17C\n"),
        ] {
            try FileSystem.makeDirectory(path.removingLastComponent(), mode: 0o755)
            try FileSystem.replace(path, with: Array(text.utf8), mode: 0o644)
        }
        let daemon = try bench.make()
        daemon.start { _ in }
        let address = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
        #expect(daemon.service.device.choice == .kept(SelectedDevice(address, name: "LINBLE-TEST")))
        for path in [bench.paths.choice, bench.paths.designated] {
            let text = String(decoding: try FileSystem.contents(of: path.string, limit: 4096), as: UTF8.self)
            #expect(text.hasPrefix("{"), "\(path)")
        }
        #expect(try bench.store.read() == SelectedDevice(address, name: "LINBLE-TEST"))
        let beacons = try DesignatedStore(bench.paths.designated).read().beacons
        #expect(beacons.map(\.keyCode) == ["A17C"] && beacons.map(\.isSwitcher) == [true])
        try bench.end()
    }

    @Test("A choice that is garbled at the start is told, and the next good one is taken")
    func garbledAtStart() throws {
        let bench = try Bench()
        try bench.store.write(Self.scanner)
        try FileSystem.replace(bench.store.path, with: [0xFF], mode: 0o644)
        let daemon = try bench.make()
        daemon.start { _ in }
        #expect(try bench.until { !bench.notes.isEmpty })
        #expect(bench.states.first == "unselected")
        try bench.store.write(Self.scanner)
        #expect(try bench.until { daemon.service.device.choice == .kept(Self.scanner) })
        #expect(!daemon.status.object.text.contains("\"selectionFault\""))
        try bench.end()
    }

    @Test(
        "Clients disconnect, connect, pause, resume, forget; what another choice needs is asked for"
    )
    func requests() throws {
        let bench = try Bench()
        try bench.store.write(Self.scanner)
        let daemon = try bench.make()
        daemon.start { _ in }
        #expect(try bench.until { bench.radio.listening == 1 })
        #expect(throws: Never.self) { _ = try bench.ask(.disconnect).get() }
        #expect(daemon.service.device.state == .disconnected)
        #expect(throws: Never.self) { _ = try bench.ask(.connect).get() }
        #expect(daemon.service.device.state == .connecting)
        #expect(throws: Never.self) { _ = try bench.ask(.pause).get() }
        #expect(!daemon.service.keyboard.isGateOpen)
        #expect(daemon.status.gate?.cause == "paused")
        #expect(throws: Never.self) { _ = try bench.ask(.resume).get() }
        #expect(daemon.service.keyboard.isGateOpen)
        let refused = #expect(throws: CommandFailure.self) {
            _ = try bench.ask(.use(.name("B"), confirmed: false)).get()
        }
        #expect(refused?.status == .usage)
        #expect(try bench.store.read() == Self.scanner)
        let sent = #expect(throws: CommandFailure.self) { _ = try bench.ask(.send([1])).get() }
        #expect(sent?.status == .unavailable)
        #expect(throws: Never.self) { _ = try bench.ask(.forget).get() }
        #expect(try bench.store.read() == nil)
        #expect(daemon.service.device.state == .unselected)
        #expect(throws: CommandFailure.self) { _ = try bench.ask(.connect).get() }
        try bench.end()
    }

    /// Sends a request, lets a device advertise once the radio scans, and returns the answer.
    private func use(
        _ choice: DeviceSelector,
        _ bench: Bench,
        heard address: BluetoothAddress,
        _ data: [UInt8]
    ) throws -> Result<JSONObject, CommandFailure>? {
        var answer: Result<JSONObject, CommandFailure>?
        let scans = bench.radio.scans
        bench.daemon?.handle(.use(choice, confirmed: true, security: GATTLinkSecurity.Level.none)) { answer = $0 }
        #expect(try bench.until { bench.radio.scans > scans })
        bench.radio.advertise(address, data)
        #expect(try bench.until { answer != nil })
        return answer
    }

    @Test(
        "Use takes a device by the address in its manufacturer data, and keeps that one; one scan for one choice"
    )
    func useByAdvertisedAddress() throws {
        let printed = BluetoothAddress(rawValue: 0xC0FF_EE01_0203)
        let onAir = BluetoothAddress(rawValue: 0x4142_4344_4546)
        let data: [UInt8] = [0x09, 0xFF, 0x4C, 0x00, 0xC0, 0xFF, 0xEE, 0x01, 0x02, 0x03]
        let bench = try Bench()
        let daemon = try bench.make(advertisedAt: ManufacturerAddressField(offset: 2))
        daemon.start { _ in }
        #expect(try use(.address(printed), bench, heard: onAir, data)?.isSuccess == true)
        #expect(try bench.store.read() == SelectedDevice(DeviceAddress(printed, .random), name: nil))
        // The device was received just before, so the daemon connects without scanning again.
        #expect(try bench.until { bench.radio.attempted == [DeviceAddress(onAir, .random)] })
        #expect(bench.radio.scans == 1)
        try bench.end()
    }

    @Test(
        "A switch while another is looked for takes one scan more, and connects to the device that was heard"
    )
    func useWhileListening() throws {
        let bench = try Bench()
        try bench.store.write(Self.scanner)
        let daemon = try bench.make()
        daemon.start { _ in }
        #expect(try bench.until { bench.radio.listening == 1 })
        let other = Self.other.device
        #expect(try use(.address(other.address), bench, heard: other.address, [])?.isSuccess == true)
        #expect(try bench.until { bench.radio.attempted == [other] })
        #expect(bench.radio.scans == 2)
        try bench.end()
    }

    @Test("The daemon lists the devices of the last 60 s, and anew only those that are heard from then on")
    func list() throws {
        let bench = try Bench()
        let daemon = try bench.make()
        daemon.start { _ in }
        func scan(isAnew: Bool, _ heard: (address: UInt64, ago: Duration)...) throws -> [String] {
            var answer: Result<JSONObject, CommandFailure>?
            let scans = bench.radio.scans
            daemon.handle(.scan(for: .seconds(1), isAnew: isAnew)) { answer = $0 }
            #expect(try bench.until { bench.radio.scans > scans })
            for device in heard {
                bench.radio.advertise(BluetoothAddress(rawValue: device.address), [], ago: device.ago)
            }
            #expect(try bench.until { answer != nil })
            let value = try JSONValue(Array(try #require(answer).get().text.utf8))
            return (value["devices"]?.array ?? []).compactMap { $0["address"]?.string }
        }
        let (first, second) = ("00:00:00:00:00:01", "00:00:00:00:00:02")
        #expect(try scan(isAnew: false, (1, .seconds(30)), (2, .seconds(61))) == [first])
        #expect(try scan(isAnew: false, (2, .zero)) == [first, second])
        #expect(try scan(isAnew: true, (2, .zero)) == [second])
        try bench.end()
    }

    /// Requests a scan, which must be refused, and returns the cause.
    private func refusalOfScan(_ bench: Bench) throws -> String? {
        let answer = try bench.ask(.scan(for: .milliseconds(100), isAnew: true))
        guard case .failure(let refusal) = answer else { return nil }
        return refusal.cause.english
    }

    @Test("A scan that is requested while the adapter is being opened waits for it", arguments: [true, false])
    func opening(isUsable: Bool) throws {
        let bench = try Bench()
        var opened: ((Result<any LowEnergyAdapter, AdapterError>) -> Void)?
        let daemon = try bench.make(opening: AdapterCore(bench.loop) { _, completion in opened = completion })
        daemon.start { _ in }
        #expect(try bench.until { opened != nil })
        var answer: Result<JSONObject, CommandFailure>?
        daemon.handle(.scan(for: .milliseconds(100), isAnew: true)) { answer = $0 }
        // A second request is refused at once, so the first one is still waiting.
        #expect(try refusalOfScan(bench) == "a scan is already running")
        #expect(answer == nil)
        opened?(isUsable ? .success(bench.radio) : .failure(.noAdapter))
        #expect(try bench.until { answer != nil })
        #expect(answer?.isSuccess == isUsable)
        #expect(bench.radio.scans == (isUsable ? 1 : 0))
        if !isUsable {
            #expect(try refusalOfScan(bench) == "no adapter is available for scanning")
        }
        try bench.end()
    }

    @Test("A scan that is requested during a connection attempt starts when the attempt ends")
    func attempting() throws {
        let bench = try Bench()
        let daemon = try bench.make(device: .kept(Self.scanner))
        daemon.start { _ in }
        #expect(try bench.until { bench.radio.listening == 1 })
        bench.radio.advertise(Self.scanner.device.address, [])
        #expect(try bench.until { daemon.service.device.isAttempting })
        var answer: Result<JSONObject, CommandFailure>?
        daemon.handle(.scan(for: .milliseconds(100), isAnew: true)) { answer = $0 }
        #expect(try refusalOfScan(bench) == "a scan is already running")
        #expect(answer == nil && bench.radio.scans == 1)
        daemon.service.device.disconnect()
        #expect(try bench.until { answer != nil })
        #expect(answer?.isSuccess == true)
        #expect(bench.radio.scans == 2)
        try bench.end()
    }

    @Test("D-9: 256 devices that advertise as much as they can are listed whole; none has more than its share")
    func crowd() throws {
        let bench = try Bench()
        let daemon = try bench.make()
        daemon.start { _ in }
        let client = try ControlPeer(bench.paths.controlSocket.string, on: bench.loop)
        try client.send("version 1 scan 1\n")
        #expect(try bench.until { bench.radio.scans == 1 })
        // Six lists of 126 services each: 1,524 bytes of advertisement, 5,400 bytes of text.
        let lists = (0..<6).flatMap { list in
            [253, 0x03] + (0..<126).flatMap { [UInt8($0), UInt8(0x80 + list)] } as [UInt8]
        }
        for number in 1...256 { bench.radio.advertiseExtended(BluetoothAddress(rawValue: UInt64(number)), lists) }
        #expect(try bench.until { client.isClosed || !client.lines.isEmpty })
        let answer = try #require(client.values.first)
        #expect(answer["ok"]?.bool == true)
        let devices = answer["devices"]?.array ?? []
        #expect(Set(devices.compactMap { $0["address"]?.string }).count == 256)
        #expect(answer["leftOut"] == nil)
        #expect((client.lines.first?.utf8.count ?? 0) <= ControlClient.mostBytes)
        #expect(devices.allSatisfy { $0["cut"]?.bool == true && $0["lastHeard"]?.string != nil })
        #expect(devices.allSatisfy { ($0["services"]?.array ?? []).count > 500 && $0.text.utf8.count <= 4000 })
        client.close()
        try bench.end()
    }

    @Test("D-9: devices for which an answer has no room are counted in it; one with too much data loses that")
    func room() throws {
        var scanner = Scanner(.legacy, devices: DeviceTable())
        scanner.start(.discovery)
        let data: [UInt8] = [5, 0x03, 0x01, 0x80, 0x02, 0x80, 5, 0xFF, 0x01, 0x00, 0xAA, 0xBB]
        for number in 1...3 as ClosedRange<UInt8> {
            // LE Meta event with one legacy report.
            let head: [UInt8] = [0x04, 0x3E, 24, 0x02, 0x01, 0x00, 0x01, number, 0, 0, 0, 0, 0xC0, 12]
            let report = head + data + [0xC8]
            scanner.handle(report.span, now: .zero) { _ in }
        }
        let devices = scanner.devices.devices
        #expect(devices.count == 3)
        let whole = JSONObject(devices: devices).text
        #expect(!whole.contains("leftOut") && !whole.contains("cut") && whole.contains("AABB"))
        let longest = devices.map { JSONObject($0).text.utf8.count }.max() ?? 0
        let two = JSONObject(devices: devices, mostBytes: 2 * (longest + 1)).text
        #expect(two.hasSuffix(#"],"leftOut":1}"#))
        #expect(JSONObject(devices: devices, mostBytes: 2 * (longest + 1) - 1).text.hasSuffix(#"],"leftOut":2}"#))
        let kept = SelectedDevice(DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random), name: "A")
        let chosen = try JSONValue(Array(JSONObject(devices: [], choice: .kept(kept)).text.utf8))["selection"]
        #expect(chosen.flatMap(SelectedDevice.init(answer:)) == kept)
        let cut = JSONObject(devices: devices, mostDeviceBytes: longest - 1).text
        #expect(cut.contains(#""services":["8001","8002"],"cut":true"#) && !cut.contains("AABB"))
    }

    @Test("D-12: a second daemon is refused, and the adapter of the first is its own until it ends")
    func second() throws {
        let first = try Bench()
        let daemon = try first.make()
        daemon.start { _ in }
        #expect(throws: CommandFailure.self) { _ = try first.make() }
        #expect(LockFile.holder(first.paths.lock("quiet0")) == getpid())
        try first.end()
        #expect(LockFile.holder(first.paths.lock("quiet0")) == nil)
    }

    @Test("D-12: an adapter that another process has is told with its number, and is no missing permission")
    func held() throws {
        let bench = try Bench()
        let daemon = try bench.make()
        let other = try LockFile(bench.paths.lock("quiet0"))
        daemon.start { _ in }
        #expect(try bench.until { daemon.service.device.state == .bluetoothOff })
        let cause = daemon.service.device.reason?.cause.english ?? ""
        #expect(cause == "blewedge (process \(getpid())) is using quiet0")
        other.remove()
        try bench.end()
    }

    @Test("An adapter that a killed process had is renewed before it is used, once, and counted")
    func abandoned() throws {
        let bench = try Bench()
        let daemon = try bench.make()
        do {
            let left = try LockFile(bench.paths.lock("quiet0"))
            _ = consume left
        }
        daemon.start { _ in }
        #expect(try bench.until { daemon.service.radioCounts.opened == 1 })
        #expect(bench.radio.renewals == 1 && daemon.service.radioCounts.restarts == 1)
        bench.radio.onLoss?(.failed("quiet0", cause: "it was unplugged"))
        #expect(try bench.until { daemon.service.radioCounts.opened == 2 })
        #expect(bench.radio.renewals == 1)
        try bench.end()
        let next = try bench.make()
        next.start { _ in }
        #expect(try bench.until { next.service.radioCounts.opened == 1 })
        #expect(bench.radio.renewals == 1 && next.service.radioCounts.restarts == 0)
        try bench.end()
    }

    @Test("D-12: over a reload the adapter's lock is nobody else's for a moment; the next daemon gives it back")
    func reload() throws {
        let bench = try Bench()
        let first = try bench.make()
        first.start { _ in }
        #expect(try bench.until { LockFile.holder(bench.paths.lock("quiet0")) == getpid() })
        var isOver = false
        first.stop(isReloading: true) { isOver = true }
        #expect(try bench.until { isOver })
        let word = try #require(first.memory.split(separator: " ").first { $0.hasPrefix("lock=") })
        // Descriptor that remains open after exec.
        let left = dup(try #require(Int32(word.dropFirst(5))))
        // Keeps the file open, so that no other file gets its inode number.
        var (before, after) = (stat(), stat())
        #expect(fstat(left, &before) == 0)
        let witness = dup(left)
        defer { close(witness) }
        bench.forget()
        #expect(LockFile.holder(bench.paths.lock("quiet0")) == getpid())
        let second = try bench.make()
        second.inherit("paused lock=\(left)")
        second.start { _ in }
        #expect(try bench.until { !bench.states.isEmpty })
        #expect(stat(bench.paths.lock("quiet0").string, &after) == 0 && after.st_ino == before.st_ino)
        #expect(second.service.device.state != .bluetoothOff && LockFile.holder(bench.paths.lock("quiet0")) == getpid())
        try bench.end()
        #expect(LockFile.holder(bench.paths.lock("quiet0")) == nil)
        #expect(!FileSystem.exists(bench.paths.lock("quiet0").string))
    }

    @Test("A daemon for one device leaves the choice to others")
    func fixed() throws {
        let bench = try Bench()
        let daemon = try bench.make(device: .name("A"))
        daemon.start { _ in }
        #expect(try bench.until { bench.radio.listening == 1 })
        for request in [ControlRequest.forget, .use(.name("B"), confirmed: true)] {
            let failure = #expect(throws: CommandFailure.self) { _ = try bench.ask(request).get() }
            #expect(failure?.status == .usage)
        }
        #expect(daemon.service.device.choice == .name("A"))
        try bench.end()
    }

    @Test("Clear deletes what was typed, keys that still waited included, and another time nothing")
    func clear() throws {
        let bench = try Bench()
        let daemon = try bench.make()
        daemon.start { _ in }
        let digits = [KeyName](repeating: .character("7"), count: 12)
        #expect(throws: Never.self) { _ = try bench.ask(.key(digits)).get() }
        // Nothing has been typed yet: the keys are still queued.
        #expect(throws: Never.self) { _ = try bench.ask(.clear).get() }
        let backspaces = String(repeating: "[backspace]", count: 12)
        #expect(try bench.types(String(repeating: "7", count: 12) + "[end]" + backspaces))
        #expect(throws: Never.self) { _ = try bench.ask(.clear).get() }
        #expect(try bench.types("[end]"))
        #expect(throws: Never.self) { _ = try bench.ask(.pause).get() }
        let paused = #expect(throws: CommandFailure.self) { _ = try bench.ask(.clear).get() }
        #expect(paused?.status == .unavailable)
        try bench.end()
    }

    @Test("D-9: a daemon without keys for others refuses them")
    func keysOff() throws {
        let bench = try Bench()
        let daemon = try bench.make(device: .name("A"))
        daemon.start { _ in }
        for request in [ControlRequest.key([]), .clear, .snippet("link")] {
            let failure = #expect(throws: CommandFailure.self) { _ = try bench.ask(request).get() }
            #expect(failure?.status == .unavailable)
        }
        try bench.end()
    }

    @Test("An adapter that is lost is told with its cause, and comes back by itself")
    func adapterLost() throws {
        let bench = try Bench()
        try bench.store.write(Self.scanner)
        let daemon = try bench.make()
        daemon.start { _ in }
        #expect(try bench.until { bench.radio.listening == 1 })
        bench.radio.onLoss?(.failed("quiet0", cause: "it was unplugged"))
        #expect(daemon.service.device.state == .bluetoothOff)
        #expect(daemon.status.reason?.cause == "it was unplugged")
        #expect(bench.radio.listening == 0)
        #expect(try bench.until { bench.radio.listening == 1 })
        #expect(daemon.service.device.state == .connecting)
        try bench.end()
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
