// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import Link
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts
import Typing
import VirtualAdapters

/// Pairing through the daemon, with a simulated module that pairs, and clients of the control socket.
@Suite("Pairing through the daemon", .virtualTime, .serialized, .timeLimit(.minutes(10)))
struct DaemonPairingTests {
    private final class Stage {
        let bench: DaemonBench
        let peripheral: HostAdapter
        let central: HostAdapter
        let daemon: Daemon
        private let radio: MemoryRadio
        private var module: SimulatedModule?
        private var window: (any PairableMode)?
        /// Events shown to the module's user.
        private(set) var news: [PairableEvent] = []

        /// Lets the daemon finish opening its adapter; nil until it has begun.
        private(set) var finishOpening: (() -> Void)?

        init(_ choice: SelectedDevice? = nil, opensLater: Bool = false) throws {
            bench = try DaemonBench()
            radio = MemoryRadio(on: bench.loop, speed: 20)
            let addresses = [0xC0FF_EE00_0001, 0xC0FF_EE00_0002].map(BluetoothAddress.init(rawValue:))
            peripheral = HostAdapter(name: "module", transport: radio.addController(addresses[0]), on: bench.loop)
            central = HostAdapter(name: "wedge", transport: radio.addController(addresses[1]), on: bench.loop)
            if let choice { try bench.store.write(choice) }
            var begun: ((@escaping () -> Void) -> Void)?
            let core = AdapterCore(bench.loop) { [central] _, completion in
                if opensLater { begun? { completion(.success(central)) } } else { completion(.success(central)) }
            }
            daemon = try bench.make(opening: core)
            let module = try SimulatedModule(
                .linble,
                name: "SCALE",
                on: RadioArbiter(on: bench.loop, using: peripheral)
            ) { _ in }
            self.module = module
            begun = { [unowned self] in finishOpening = $0 }
            var isReady = false
            peripheral.start { [unowned self] _ in
                central.start { _ in try? module.start { _ in isReady = true } }
            }
            #expect(try bench.until { isReady })
            daemon.start { _ in }
        }

        /// Starts the module's pairable mode.
        func open(_ capability: IOCapability = .noInputNoOutput) {
            let window = peripheral.makePairableMode(
                PairableOptions(capability, required: .encrypted, limit: .seconds(300))
            )
            self.window = window
            news = []
            window.onNews = { [unowned self] told in news.append(told) }
            window.open()
        }

        /// Passkey displayed by the module.
        var shown: UInt32? {
            for case .show(let passkey, _) in news { return passkey }
            return nil
        }

        func notify(_ text: String) { _ = module?.notify(Array(text.utf8)) }

        /// Returns a client that has sent a request.
        func ask(_ line: String) throws -> ControlPeer {
            let peer = try ControlPeer(bench.paths.controlSocket.string, on: bench.loop)
            try peer.send(line + "\n")
            return peer
        }

        var bonds: [Bond] { BondStore(bench.paths.bonds).peek() }
    }

    private static func kept(_ stage: Stage) throws -> SelectedDevice? { try stage.bench.store.read() }
    private static let module = DeviceAddress(BluetoothAddress(rawValue: 0xC0FF_EE00_0001), .public)

    private func events(_ peer: ControlPeer) -> [String] { peer.values.map { $0["event"]?.string ?? "-" } }

    @Test(
        "X-8, D-9: the selected device is disconnected, paired and reconnected with its keys, and its required security is raised"
    )
    func chosen() throws {
        let stage = try Stage(SelectedDevice(Self.module, name: "SCALE"))
        #expect(try stage.bench.until { stage.daemon.service.device.state == .connected })
        #expect(stage.daemon.service.device.linkFacts?.security.level == GATTLinkSecurity.Level.none)
        stage.open()
        let peer = try stage.ask("pair SCALE")
        #expect(try stage.bench.until { peer.isClosed })
        #expect(events(peer) == ["-", "listening", "pairing", "note", "paired"])
        #expect(peer.values.last?["security"]?.string == "encrypted")
        #expect(!peer.lines.joined().contains("key=") && stage.bonds.map(\.identityAddress) == [Self.module])
        #expect(try Self.kept(stage)?.security == .encrypted)
        #expect(try stage.bench.until { stage.daemon.service.device.linkFacts?.security.level == .encrypted })
        stage.notify("490\r")
        #expect(try stage.bench.types("490\n"))
        // The link of a device that is connected and paired is kept.
        let links = stage.daemon.service.device.linkCounts
        let again = try stage.ask("pair \(Self.module.address)")
        #expect(try stage.bench.until { again.lineCount == 1 })
        #expect(again.values.first?["error"]?["code"]?.integer == 64)
        #expect(stage.daemon.service.device.linkCounts == links && stage.daemon.service.device.state == .connected)
        try stage.bench.end()
    }

    @Test("D-9: a passkey is asked for on the connection; a malformed answer is refused and asks nothing less")
    func passkey() throws {
        let stage = try Stage()
        stage.open(.displayOnly)
        let peer = try stage.ask("pair SCALE security authenticated console keyboard\nyes")
        #expect(try stage.bench.until { events(peer).last == "passkeyWanted" })
        // Answers before the question are rejected.
        #expect(peer.values.compactMap { $0["error"]?["cause"]?.string } == ["word 1: nothing is asked now"])
        let count = peer.lineCount
        for line in ["yes", "12345", "", "123456 7", "\u{FF}"] { try peer.send(line + "\n") }
        #expect(try stage.bench.until { peer.lineCount == count + 5 })
        #expect(peer.values.suffix(5).allSatisfy { $0["error"]?["code"]?.integer == 64 })
        #expect(try stage.bench.until { stage.shown != nil })
        try peer.send(PairingAnswer.digits(try #require(stage.shown)) + "\n")
        #expect(try stage.bench.until { peer.isClosed })
        #expect(
            peer.values.last?["event"]?.string == "paired" && peer.values.last?["security"]?.string == "authenticated"
        )
        #expect(stage.bonds.first?.security.level == .authenticated)
        try stage.bench.end()
    }

    @Test("D-9: a client that goes at the passkey question leaves neither link nor key, and the next one pairs")
    func gone() throws {
        let stage = try Stage()
        stage.open(.displayOnly)
        let peer = try stage.ask("pair SCALE console keyboard")
        #expect(try stage.bench.until { self.events(peer).last == "passkeyWanted" })
        #expect(stage.peripheral.isConnected)
        // In the meantime, other clients can neither pair nor scan.
        let second = try stage.ask("pair SCALE")
        #expect(try stage.bench.until { second.lineCount == 1 })
        #expect(second.values.first?["error"]?["code"]?.integer == 75)
        #expect(second.values.first?["error"]?["cause"]?.string == "another device is already being paired")
        guard case .failure(let refusal) = try stage.bench.ask(.scan(for: .milliseconds(100), isAnew: true)) else {
            Issue.record("a scan during a pairing")
            return
        }
        #expect(refusal.status == .timeout)
        peer.close()
        #expect(try stage.bench.until { !stage.peripheral.isConnected && !stage.central.isConnected })
        #expect(stage.bonds.isEmpty && !FileSystem.exists(stage.bench.paths.bonds.string))
        // After the pairing has ended, other clients can use the radio again.
        var isHeard = false
        #expect(
            try stage.bench.until {
                stage.daemon.handle(.scan(for: .milliseconds(100), isAnew: true)) { result in
                    if case .success = result { isHeard = true }
                }
                return isHeard
            }
        )
        stage.open()
        let third = try stage.ask("pair SCALE")
        #expect(try stage.bench.until { third.isClosed })
        #expect(third.values.last?["event"]?.string == "paired", "\(third.lines)")
        try stage.bench.end()
    }

    @Test("D-9: a number that the client says no to makes no bond, and the daemon goes on with its device")
    func declined() throws {
        let stage = try Stage(SelectedDevice(Self.module, name: "SCALE"))
        stage.open(.displayYesNo)
        #expect(try stage.bench.until { stage.daemon.service.device.state == .connected })
        let peer = try stage.ask("pair SCALE console yes-no")
        #expect(try stage.bench.until { self.events(peer).last == "compare" })
        #expect(stage.daemon.service.device.state == .connecting)
        #expect(stage.daemon.service.device.reason?.cause.english == "waiting for a pairing to finish")
        try peer.send("no\n")
        #expect(try stage.bench.until { peer.isClosed })
        #expect(peer.values.last?["error"]?["cause"]?.string == "pairing cancelled")
        #expect(try stage.bench.until { stage.daemon.service.device.state == .connected })
        #expect(stage.bonds.isEmpty)
        try stage.bench.end()
    }

    @Test("D-9: a pairing that is requested while the adapter is being opened waits for it")
    func opening() throws {
        let stage = try Stage(opensLater: true)
        stage.open()
        let peer = try stage.ask("pair SCALE")
        #expect(try stage.bench.until { peer.lineCount == 1 && stage.finishOpening != nil })
        stage.finishOpening?()
        #expect(try stage.bench.until { peer.isClosed })
        #expect(peer.values.last?["event"]?.string == "paired", "\(peer.lines)")
        #expect(events(peer) == ["-", "listening", "pairing", "paired"])
        try stage.bench.end()
    }

    @Test("D-9: a daemon that ends during a pairing ends it first")
    func ending() throws {
        let stage = try Stage()
        stage.open(.displayOnly)
        let peer = try stage.ask("pair SCALE console keyboard")
        #expect(try stage.bench.until { self.events(peer).last == "passkeyWanted" })
        try stage.bench.end()
        #expect(peer.isClosed || peer.lineCount == 4)
        #expect(try stage.bench.until { !stage.peripheral.isConnected })
        #expect(!FileSystem.exists(stage.bench.paths.bonds.string))
    }
}
