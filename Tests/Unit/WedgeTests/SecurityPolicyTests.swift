// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import Setup
import SystemPackage
import Testing
import Texts

/// Security required from a device when it is selected, and reported later.
@Suite("The security of a choice", .virtualTime, .serialized, .timeLimit(.minutes(10)))
struct SecurityPolicyTests {
    private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
    private static let adapter = BluetoothAddress(rawValue: 0xC0FF_EE00_0009)

    private func bond(
        authenticated: Bool = false,
        secure: Bool = true,
        on local: BluetoothAddress = adapter
    ) throws -> Bond {
        let value = (1...16).map { UInt8($0) }
        let key = LongTermKey(value, isAuthenticated: authenticated, isSecureConnections: secure, role: .central)
        let made = Bond(
            identityAddress: Self.device,
            localAddress: local,
            longTermKeys: [key].compactMap(\.self)
        )
        return try #require(made)
    }

    /// Selects a device with `use`; it advertises once the daemon scans for it, or is selected already.
    private func use(
        _ bench: DaemonBench,
        _ asked: GATTLinkSecurity.Level?
    ) throws -> Result<JSONObject, CommandFailure> {
        var answer: Result<JSONObject, CommandFailure>?
        let scans = bench.radio.scans
        let choice = DeviceSelector.address(Self.device.address)
        bench.daemon?.handle(.use(choice, confirmed: true, security: asked)) { answer = $0 }
        if answer == nil {
            #expect(try bench.until { bench.radio.scans > scans })
            bench.radio.advertise(Self.device.address, [0x02, 0x09, 0x41])
            #expect(try bench.until { answer != nil })
        }
        return try #require(answer)
    }

    private func running(
        _ bonds: [Bond] = [],
        least: GATTLinkSecurity.Level = .none
    ) throws -> DaemonBench {
        let bench = try DaemonBench()
        for bond in bonds { try BondStore(bench.paths.bonds).add(bond) }
        let daemon = try bench.make(security: least)
        daemon.start { _ in }
        #expect(try bench.until { daemon.service.adapter?.name != nil })
        return bench
    }

    private func status(_ bench: DaemonBench) throws -> JSONValue {
        try JSONValue(Array(try #require(bench.daemon?.status.object.text).utf8))
    }

    @Test("D-10: a device without keys is chosen by who says none only; else 78, the remedy, and nothing kept")
    func open() throws {
        let bench = try running()
        let scans = bench.radio.scans
        let refused = #expect(throws: CommandFailure.self) { _ = try use(bench, nil).get() }
        #expect(refused?.status == .configuration && refused?.kind == .openDevice)
        let cause = "A (\(Self.device.address)) is not paired: anyone who copies its name and address can type"
        let remedy = "`blewedge pair \(Self.device.address)`, or `--security none`"
        #expect(refused?.cause.english == cause && refused?.remedy?.english.contains(remedy) == true)
        for level in [GATTLinkSecurity.Level.encrypted, .authenticated] {
            let unpaired = #expect(throws: CommandFailure.self) { _ = try use(bench, level).get() }
            #expect(unpaired?.status == .configuration && unpaired?.kind == nil)
            #expect(unpaired?.cause.english.contains("is not paired with this adapter") == true)
            #expect(unpaired?.remedy?.english.contains("`blewedge pair") == true)
        }
        #expect(try bench.store.read() == nil && bench.daemon?.service.device.choice == nil)
        #expect(try status(bench)["requiredSecurity"]?.string == nil)

        // After adding `--security none`, the daemon does not scan for the device again.
        #expect(throws: CommandFailure.self) { _ = try use(bench, nil).get() }
        let listened = bench.radio.scans
        var answer: Result<JSONObject, CommandFailure>?
        let word = ControlRequest.use(
            .address(Self.device.address),
            confirmed: true,
            security: GATTLinkSecurity.Level.none
        )
        bench.daemon?.handle(word) { answer = $0 }
        #expect(throws: Never.self) { _ = try #require(answer).get() }
        #expect(bench.radio.scans == listened && listened > scans)
        #expect(try bench.store.read()?.security == GATTLinkSecurity.Level.none)
        #expect(try status(bench)["requiredSecurity"]?.string == "none")
        // The option applies only once: a script must specify it each time.
        #expect(throws: CommandFailure.self) { _ = try use(bench, nil).get() }
        try bench.end()
    }

    @Test("A paired device is chosen with its keys' level, and never with less; more than that is refused")
    func paired() throws {
        let bench = try running([try bond()])
        for asked in [nil, GATTLinkSecurity.Level.none, .encrypted] {
            #expect(throws: Never.self) { _ = try use(bench, asked).get() }
            #expect(try bench.store.read()?.security == .encrypted, "\(String(describing: asked))")
        }
        #expect(try status(bench)["selection"]?["security"]?.string == "encrypted")
        #expect(try status(bench)["requiredSecurity"]?.string == "encrypted")
        let refused = #expect(throws: CommandFailure.self) { _ = try use(bench, .authenticated).get() }
        #expect(refused?.status == .configuration && refused?.cause.english.contains("are not authenticated") == true)
        #expect(try bench.store.read()?.security == .encrypted)
        // Without its keys, the device does not become an unpaired one unless the user says so.
        try BondStore(bench.paths.bonds).remove(Self.device.address)
        let gone = #expect(throws: CommandFailure.self) { _ = try use(bench, nil).get() }
        #expect(gone?.cause.english.contains("is not paired with this adapter") == true)
        #expect(throws: Never.self) { _ = try use(bench, GATTLinkSecurity.Level.none).get() }
        #expect(try bench.store.read()?.security == GATTLinkSecurity.Level.none)
        try bench.end()
    }

    @Test(
        "T4: a device whose number was one of legacy pairing is not chosen as authenticated; `use` and the doctor say why"
    )
    func legacy() throws {
        let bench = try running([try bond(authenticated: true, secure: false)])
        #expect(throws: Never.self) { _ = try use(bench, nil).get() }
        #expect(try bench.store.read()?.security == .encrypted)
        let refused = #expect(throws: CommandFailure.self) { _ = try use(bench, .authenticated).get() }
        #expect(refused?.status == .configuration)
        #expect(refused?.cause.english.contains("from legacy pairing, which provides no authentication") == true)
        #expect(refused?.remedy?.english.contains("--security authenticated") == true)
        // The doctor reports a device that was selected before legacy keys counted as encrypted, and changes nothing.
        #expect(SystemFacts.legacyBond(at: bench.paths, least: .encrypted) == nil)
        #expect(SystemFacts.legacyBond(at: bench.paths, least: .authenticated) == "\(Self.device.address)")
        try bench.store.write(SelectedDevice(Self.device, name: "A", security: .authenticated))
        #expect(SystemFacts.legacyBond(at: bench.paths, least: .none) == "\(Self.device.address)")
        try BondStore(bench.paths.bonds).remove(Self.device.address)
        #expect(SystemFacts.legacyBond(at: bench.paths, least: .none) == nil)
        try BondStore(bench.paths.bonds).add(try bond(authenticated: true))
        #expect(SystemFacts.legacyBond(at: bench.paths, least: .none) == nil)
        try bench.end()
    }

    @Test("Keys of another adapter are none of this one's")
    func elsewhere() throws {
        let bench = try running([try bond(on: BluetoothAddress(rawValue: 0x00AA_0100_0042))])
        let refused = #expect(throws: CommandFailure.self) { _ = try use(bench, nil).get() }
        #expect(refused?.status == .configuration && refused?.kind == nil)
        let cause = "is not paired with this adapter, but with 00:AA:01:00:00:42"
        #expect(refused?.cause.english.contains(cause) == true)
        #expect(throws: Never.self) { _ = try use(bench, GATTLinkSecurity.Level.none).get() }
        #expect(try bench.store.read()?.ignoresBond == true)
        try bench.end()
    }

    @Test("A name that a device was paired under is that device's: a stranger of the name is not chosen")
    func namesake() throws {
        let bench = try running()
        try BondStore(bench.paths.bonds).add(try bond(), name: "A")
        let scans = bench.radio.scans
        var answer: Result<JSONObject, CommandFailure>?
        bench.daemon?.handle(.use(.name("a"), confirmed: true, security: GATTLinkSecurity.Level.none)) { answer = $0 }
        #expect(try bench.until { bench.radio.scans > scans })
        let stranger = BluetoothAddress(rawValue: 0xC1C2_C3C4_C5C6)
        let until = MonotonicClock.now + .seconds(1.5)
        #expect(
            try bench.until {
                bench.radio.advertise(stranger, [0x02, 0x09, 0x41])
                return MonotonicClock.now > until
            }
        )
        #expect(answer == nil)
        bench.radio.advertise(Self.device.address, [0x02, 0x09, 0x41])
        #expect(try bench.until { answer != nil })
        #expect(try bench.store.read() == SelectedDevice(Self.device, name: "A", security: .encrypted))
        try bench.end()
    }

    @Test("A choice that cannot be written holds for this run, and the answer says that it is not kept")
    func readOnly() throws {
        let bench = try DaemonBench(state: "/sys/kernel")
        let daemon = try bench.make()
        daemon.start { _ in }
        #expect(try bench.until { daemon.service.adapter?.name != nil })
        let answer = try JSONValue(Array(try use(bench, GATTLinkSecurity.Level.none).get().text.utf8))
        #expect(answer["kept"]?.bool == false)
        let note = answer.message("note")?.english
        #expect(
            note?.contains("A is selected for this run only") == true && note?.contains("/sys/kernel/selection") == true
        )
        #expect(daemon.service.device.choice == .kept(SelectedDevice(Self.device, name: "A")))
        #expect(try bench.until { bench.radio.attempted == [Self.device] })
        try bench.end()
    }

    @Test("The minimum security of the configuration applies to every selection")
    func least() throws {
        let open = try running(least: .encrypted)
        let less = #expect(throws: CommandFailure.self) { _ = try use(open, GATTLinkSecurity.Level.none).get() }
        let cause = "below the configured minimum: encrypted"
        #expect(less?.status == .configuration && less?.cause.english.contains(cause) == true)
        let unpaired = #expect(throws: CommandFailure.self) { _ = try use(open, nil).get() }
        #expect(unpaired?.cause.english.contains("is not paired with this adapter") == true)
        try open.end()
        let paired = try running([try bond(authenticated: true)], least: .encrypted)
        #expect(throws: Never.self) { _ = try use(paired, nil).get() }
        #expect(try paired.store.read()?.security == .authenticated)
        try paired.end()
    }

    @Test("A choice from before there were levels, and run --device, count as none, which status says")
    func before() throws {
        let stored = try DaemonBench()
        try FileSystem.makeDirectory(stored.store.path.removingLastComponent(), mode: 0o755)
        let text = "address = \(Self.device.address)\ntype = random\nname = \"A\"\n"
        try FileSystem.replace(stored.store.path, with: Array(text.utf8), mode: 0o644)
        let named = try DaemonBench()
        for (bench, device) in [(stored, nil), (named, DeviceSelector.name("A"))] {
            let daemon = try bench.make(device: device)
            daemon.start { _ in }
            #expect(try bench.until { bench.radio.listening == 1 })
            let answer = try status(bench)
            #expect(answer["requiredSecurity"]?.string == "none")
            let lines = StatusText.lines(answer, in: .english)
            let words = "none: identity not verified"
            #expect(lines.contains { $0.contains("required security") && $0.hasSuffix(words) })
            #expect(StatusText.lines(answer, in: .japanese).contains { $0.contains("要求するセキュリティ") })
            try bench.end()
        }
    }
}
