// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import HIDHost
import HIDReports
import Keystrokes
import Link
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts
import Typing

/// Path from the device's channel to the keyboard, with paired devices and with impostors in their place.
@Suite("A link by the keys of a pairing", .virtualTime, .serialized, .timeLimit(.minutes(10)))
struct SecuredLinkTests {
    /// Connection with a serial device, whose security is set by the test.
    private final class Device: ATTChannel {
        let device: DeviceAddress
        let droppedPackets: UInt32 = 0
        var onReceive: ((Span<UInt8>) -> Void)?
        var onGap: (() -> Void)?
        var onWritable: (() -> Void)?
        var onClosed: ((LinkFailure) -> Void)?
        var security = GATTLinkSecurity()
        /// Security of the link after it is raised.
        let offered: GATTLinkSecurity
        private(set) var wanted: [GATTLinkSecurity.Level] = []
        private(set) var requests = 0
        /// Number of writes to the Client Characteristic Configuration.
        private(set) var subscriptions = 0
        private(set) var isClosed = false
        /// Error with which subscriptions are rejected; nil for none.
        var refusal: UInt8?
        /// True if the device disconnects when it receives a request.
        var hangsUp = false
        private let script = ScriptedDevice([.init(.linble)], LinkSetup(profile: .linble))
        private let loop: EventLoop

        init(_ device: DeviceAddress, _ offered: GATTLinkSecurity, _ loop: EventLoop) {
            self.device = device
            self.offered = offered
            self.loop = loop
        }

        func secure(
            _ level: GATTLinkSecurity.Level,
            early: Duration,
            completion: @escaping (Result<Void, LinkFailure>) -> Void
        ) {
            wanted.append(level)
            _ = loop.schedule(at: .zero) { [self] in
                security = offered
                completion(security.suffices(for: level) ? .success(()) : .failure(.notSecured))
            }
        }

        func send(_ pdu: [UInt8]) throws(LinkFailure) -> Bool {
            requests += 1
            if hangsUp {
                _ = loop.schedule(at: .zero) { [self] in onClosed?(.system(.connectionReset)) }
                return true
            }
            if pdu.first == 0x12 { subscriptions += 1 }
            if pdu.first == 0x12, let refusal {
                _ = loop.schedule(at: .zero) { [self] in onReceive?([0x01, 0x12, pdu[1], pdu[2], refusal].span) }
                return true
            }
            _ = loop.schedule(at: .zero) { [self] in
                for answer in script.answers(to: pdu) { onReceive?(answer.span) }
            }
            return true
        }

        func close() {
            isClosed = true
            onReceive = nil
            onClosed = nil
        }

        func notify(_ value: [UInt8]) { onReceive?(([0x1B, 0x14, 0x00] + value).span) }
    }

    private final class Stage {
        static let peer = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
        let loop: EventLoop
        let radio = QuietRadio()
        let keyboard: TextKeyboard
        let service: KeyboardService
        var devices: [Device] = []
        /// Error with which devices reject subscriptions, including an already existing device.
        var refusal: UInt8? {
            didSet { for device in devices { device.refusal = refusal } }
        }
        static let secure = GATTLinkSecurity(level: .encrypted, keySize: 16)
        var reasons: [Reason] = []
        var typed = ""
        private var beacon: EventLoop.Timer?

        convenience init(
            _ required: GATTLinkSecurity.Level,
            _ bonds: [Bond],
            offering offered: GATTLinkSecurity = secure,
            least: GATTLinkSecurity.Level = .none,
            profiles: [Profile] = [.linble],
            keeping store: HIDDeviceStore? = nil,
            hangsUp: Bool = false
        ) throws {
            var known = BondStore.Contents()
            known.bonds = bonds
            let choice = DeviceSelector.kept(SelectedDevice(Self.peer, name: nil, security: required))
            try self.init(
                choice,
                .success(known),
                offering: offered,
                least: least,
                profiles: profiles,
                keeping: store,
                hangsUp: hangsUp
            )
        }

        init(
            _ choice: DeviceSelector,
            _ known: Result<BondStore.Contents, BondStore.Failure>,
            offering offered: GATTLinkSecurity = secure,
            least: GATTLinkSecurity.Level = .none,
            profiles: [Profile] = [.linble],
            keeping store: HIDDeviceStore? = nil,
            hangsUp: Bool = false
        ) throws {
            loop = try EventLoop()
            keyboard = try TextKeyboard(layout: .us)
            let typing = TypingSettings(
                table: try CompiledTable(ByteTable(.linble), layout: .us),
                pacer: Pacer(try Pace(stall: 0, queue: .large)),
                maximumAge: nil,
                capsLock: .ignore,
                verifies: false
            )
            let settings = KeyboardSettings(
                adapter: .any,
                device: choice,
                profiles: profiles,
                typing: typing,
                security: least
            )
            var note: ((KeyboardService.Event) -> Void)?
            service = try KeyboardService(settings, through: AdapterCore(loop, using: radio), screen: keyboard) {
                note?($0)
            }
            service.device.bonds = { () throws(BondStore.Failure) in try known.get() }
            service.device.keyboards = store
            note = { [unowned self] event in
                if case .state(_, _, let reason?) = event { reasons.append(reason) }
            }
            radio.onConnect = { [unowned self] address, completion in
                let device = Device(address, offered, loop)
                (device.refusal, device.hangsUp) = (refusal, hangsUp)
                devices.append(device)
                _ = loop.schedule(at: .zero) { completion(.success(device)) }
            }
            service.start { _ in }
            advertise()
        }

        private func advertise() {
            radio.advertise(Self.peer.address, [0x02, 0x01, 0x06, 0x02, 0x09, 0x41])
            beacon = loop.schedule(at: MonotonicClock.now + .milliseconds(100)) { [weak self] in self?.advertise() }
        }

        func run(until isDone: () -> Bool) throws {
            let isOver = try loop.run {
                typed += keyboard.screen.takeText()
                return isDone()
            }
            try #require(isOver, "\(service.device.state), \(reasons)")
        }

        func isSaid(_ text: String) -> Bool { reasons.contains { $0.cause.english.contains(text) } }

        func end() throws {
            if let beacon { loop.cancel(beacon) }
            var isOver = false
            service.stop { isOver = true }
            try run { isOver }
        }
    }

    /// Stores the services of a keyboard whose reports are the values of the device.
    private func keep(in directory: TestDirectory) throws -> HIDDeviceStore {
        let store = HIDDeviceStore(FilePath(directory("state/hid-devices")))
        let range = AttributeHandleRange(start: AttributeHandle(0x10), end: AttributeHandle(0x20))
        var service = HIDDevice.Service(range: range, map: HIDDevice.bootMap)
        service.reports = [
            HIDDevice.Report(value: AttributeHandle(0x14), configuration: AttributeHandle(0x15), id: 0, kind: .input)
        ]
        try store.keep(BluetoothAddress(rawValue: 0xC0FF_EE00_0009), Stage.peer, HIDDevice(services: [service]))
        return store
    }

    @Test("D-40: a known keyboard that hangs up at a request is connected after a pause, asked nothing, and types")
    func hangsUp() throws {
        let directory = try TestDirectory()
        let store = try keep(in: directory)
        let stage = try Stage(.encrypted, [try bond()], profiles: [.keyboard], keeping: store, hangsUp: true)
        try stage.run { stage.devices.first?.isClosed == true }
        let lost = MonotonicClock.now
        try stage.run { stage.devices.count == 2 && stage.service.device.state == .connected }
        #expect(MonotonicClock.now - lost >= .seconds(3))
        let end = MonotonicClock.now + .seconds(2)
        try stage.run { MonotonicClock.now >= end }
        #expect(stage.devices.map(\.requests) == [1, 0])
        stage.devices.last?.notify([0, 0, 0x04, 0, 0, 0, 0, 0])
        try stage.run { stage.typed == "a" }
        try stage.end()
    }

    @Test("A known keyboard that has become another device is unsupported, and its stored services are deleted")
    func becameOther() throws {
        let directory = try TestDirectory()
        let store = try keep(in: directory)
        let stage = try Stage(.encrypted, [try bond()], profiles: [.keyboard], keeping: store)
        try stage.run { stage.service.device.state == .unsupported }
        #expect(try store.load(BluetoothAddress(rawValue: 0xC0FF_EE00_0009), Stage.peer) == nil)
        #expect(stage.typed.isEmpty)
        try stage.end()
    }

    private func bond(
        with device: DeviceAddress = Stage.peer,
        authenticated: Bool = false,
        secure: Bool = true,
        on adapter: UInt64 = 0xC0FF_EE00_0009
    ) throws -> Bond {
        let value = (1...16).map { UInt8($0) }
        let key = LongTermKey(value, isAuthenticated: authenticated, isSecureConnections: secure, role: .central)
        let made = Bond(
            identityAddress: device,
            localAddress: BluetoothAddress(rawValue: adapter),
            longTermKeys: [key].compactMap(\.self)
        )
        return try #require(made)
    }

    @Test("T1: a chosen device that was paired is not connected to without its keys, or with those of another adapter")
    func withoutKeys() throws {
        for bonds in [[], [try bond(on: 0x00AA_0100_0042)]] {
            let stage = try Stage(.encrypted, bonds)
            try stage.run { stage.isSaid("is not paired with this adapter") }
            #expect(stage.devices.isEmpty)
            let remedy = stage.reasons.last { $0.cause.english.contains("not paired") }?.remedy?.english
            #expect(remedy?.contains("blewedge pair F0:F1:F2:F3:F4:F5") == true)
            try stage.end()
        }
    }

    @Test(
        "The address bits of a paired device with the other type, and a stranger of its name, are not connected to, whatever the choice says"
    )
    func otherDevice() throws {
        let type = DeviceAddress(Stage.peer.address, .public)
        let named = DeviceAddress(BluetoothAddress(rawValue: 0xC1C2_C3C4_C5C6), .random)
        for (identity, choice) in [
            (type, DeviceSelector.address(Stage.peer.address)), (type, .name("A")),
            (type, .kept(SelectedDevice(Stage.peer, name: nil))), (named, .name("A")),
        ] {
            var known = BondStore.Contents()
            known.bonds = [try bond(with: identity)]
            known.names = [identity: "A"]
            let stage = try Stage(choice, .success(known))
            try stage.run { stage.isSaid("is not the paired device \(identity)") }
            #expect(stage.devices.isEmpty)
            try stage.end()
        }
    }

    @Test(
        "A bond that cannot be used refuses a device chosen as open: another adapter's, damaged in any letter, lost, unreadable"
    )
    func unusable() throws {
        let directory = try TestDirectory()
        let path = FilePath(directory("bonds"))
        try directory.write(try bond().record + "0\n", to: "bonds")
        let damaged = try BondStore(path).read()
        var elsewhere = BondStore.Contents()
        elsewhere.bonds = [try bond(on: 0x00AA_0100_0042)]
        var lost = BondStore.Contents()
        lost.names = [Stage.peer: "A"]
        for (known, cause) in [
            (Result.success(elsewhere), "is not paired with this adapter, but with"),
            (.success(damaged), "are damaged or lost"), (.success(lost), "are damaged or lost"),
            (.failure(BondStore.Failure.file(.unreadable(path, .ioError))), "cannot read the keys"),
        ] as [(Result<BondStore.Contents, BondStore.Failure>, String)] {
            let stage = try Stage(.kept(SelectedDevice(Stage.peer, name: nil)), known)
            try stage.run { stage.isSaid(cause) }
            #expect(stage.devices.isEmpty)
            try stage.end()
            guard case .success(let contents) = known else { continue }
            // With `ignoresBond`, the device is connected nevertheless.
            let open = try Stage(.kept(SelectedDevice(Stage.peer, name: nil, ignoresBond: true)), .success(contents))
            try open.run { open.service.device.state == .connected }
            try open.end()
        }
    }

    @Test("T4: keys that were not authenticated do not serve a device that was chosen as authenticated")
    func weakKeys() throws {
        for (bonds, fault) in [
            ([try bond()], "are not authenticated"),
            (
                [try bond(authenticated: true, secure: false)],
                "are from legacy pairing, which provides no authentication"
            ),
        ] {
            let stage = try Stage(.authenticated, bonds)
            try stage.run { stage.isSaid(fault) }
            #expect(stage.devices.isEmpty)
            let remedy = stage.reasons.last { $0.cause.english.contains(fault) }?.remedy?.english
            #expect(remedy?.contains("blewedge pair F0:F1:F2:F3:F4:F5 --security authenticated") == true)
            try stage.end()
        }
        // Legacy keys are sufficient for a device that was selected as encrypted.
        let stage = try Stage(.encrypted, [try bond(authenticated: true, secure: false)])
        try stage.run { stage.service.device.state == .connected }
        #expect(stage.devices.first?.wanted == [.encrypted])
        try stage.end()
    }

    @Test("What the configuration demands of every device is demanded of one that was chosen as open")
    func leastSecurity() throws {
        for (least, bonds, fault) in [
            (GATTLinkSecurity.Level.encrypted, [], "is not paired with this adapter"),
            (.authenticated, [try bond()], "are not authenticated"),
        ] {
            let stage = try Stage(.none, bonds, least: least)
            try stage.run { stage.isSaid(fault) }
            #expect(stage.devices.isEmpty && stage.service.device.requiredSecurity == least)
            try stage.end()
        }
        let strong = GATTLinkSecurity(level: .authenticated, keySize: 16)
        for offered in [strong, Stage.secure, GATTLinkSecurity(level: .authenticated, keySize: 15)] {
            let stage = try Stage(.none, [try bond(authenticated: true)], offering: offered, least: .authenticated)
            try stage.run {
                offered == strong ? stage.service.device.state == .connected : stage.isSaid("could not be verified")
            }
            #expect(stage.devices.first?.wanted == [.authenticated])
            if offered != strong { #expect(stage.devices.first?.requests == 0) }
            try stage.end()
        }
    }

    @Test("A device that is found to have a profile which demands keys is not typed for without them")
    func securityOfProfile() throws {
        var demanding = Profile.linble
        demanding.security = .encrypted
        let open = try Stage(.none, [], profiles: [demanding, .nordic])
        try open.run { open.isSaid("is not paired with this adapter") }
        try open.run { open.devices.first?.isClosed == true }
        let stranger = try #require(open.devices.first)
        #expect(stranger.wanted.isEmpty && stranger.subscriptions == 0)
        #expect(open.service.device.requiredSecurity == .encrypted)
        try open.end()

        let paired = try Stage(.none, [try bond()], profiles: [demanding, .nordic])
        try paired.run { paired.service.device.state == .connected }
        paired.devices.first?.notify(Array("paired".utf8))
        try paired.run { paired.typed == "paired" }
        try paired.end()
    }

    @Test("T1: a stranger in the place of a paired device is asked for nothing, and types nothing")
    func stranger() throws {
        for offered in [GATTLinkSecurity(), GATTLinkSecurity(level: .encrypted, keySize: 7)] {
            let stage = try Stage(.none, [try bond()], offering: offered)
            try stage.run { stage.isSaid("could not be verified") }
            try stage.run { stage.devices.first?.isClosed == true }
            let device = try #require(stage.devices.first)
            #expect(device.wanted == [.encrypted] && device.requests == 0)
            #expect(stage.service.counts.values.notifications == 0 && stage.typed.isEmpty)
            try stage.end()
        }
    }

    @Test("A paired device types; once its link is not secure any more no value is typed, and the link ends")
    func encrypted() throws {
        for weaker in [GATTLinkSecurity(), GATTLinkSecurity(level: .encrypted, keySize: 15)] {
            let stage = try Stage(.none, [try bond()])
            try stage.run { stage.service.device.state == .connected }
            let device = try #require(stage.devices.first)
            #expect(device.wanted == [.encrypted])
            #expect(stage.service.device.linkFacts?.security.level == .encrypted)
            device.notify(Array("one".utf8))
            try stage.run { stage.typed == "one" }
            device.security = weaker
            device.notify(Array("two".utf8))
            // Data received while the link is being closed are discarded too.
            device.security = Stage.secure
            try stage.run { device.isClosed }
            #expect(stage.typed == "one" && stage.service.counts.values.refused == 1)
            #expect(stage.service.counts.bytes.received == 3)
            #expect(stage.service.device.linkCounts.ended(.notSecured) == 1)
            #expect(stage.isSaid("could not be verified"))
            try stage.end()
        }
    }

    @Test("Of random interleavings of encryption changes and values none is typed below the level, or behind such")
    func interleavings() throws {
        var generator = SeededGenerator(seed: 8)
        let offers: [GATTLinkSecurity] = [
            GATTLinkSecurity(), GATTLinkSecurity(level: .encrypted, keySize: 7), Stage.secure, Stage.secure,
            Stage.secure,
            GATTLinkSecurity(level: .authenticated, keySize: 15), GATTLinkSecurity(level: .authenticated, keySize: 16),
        ]
        let strong = GATTLinkSecurity(level: .authenticated, keySize: 16)
        for _ in 0..<RunCount.from("BLEWEDGE_INTERLEAVINGS", usual: 50) {
            let isAuthenticated = Bool.random(using: &generator)
            let level: GATTLinkSecurity.Level = isAuthenticated ? .authenticated : .encrypted
            let stage = try Stage(.none, [try bond(authenticated: isAuthenticated)], offering: strong)
            try stage.run { stage.service.device.state == .connected }
            let device = try #require(stage.devices.first)
            var expected = ""
            var refused: UInt64 = 0
            for step in 0..<Int.random(in: 1...9, using: &generator) where !device.isClosed {
                device.security = offers.randomElement(using: &generator) ?? strong
                device.notify(Array("\(step)".utf8))
                if refused == 0, device.security.suffices(for: level) { expected += "\(step)" } else { refused += 1 }
                if Bool.random(using: &generator) { try stage.run { stage.typed == expected } }
            }
            try stage.run { stage.typed == expected && (refused == 0 || device.isClosed) }
            #expect(stage.service.counts.values.refused == refused)
            try stage.end()
            #expect(stage.typed == expected)
        }
    }

    @Test(
        "A device that answers Insufficient Authentication or Encryption is to be paired; another refusal has no such remedy"
    )
    func wantsPairing() throws {
        for (code, bonds, remedy) in [
            (0x05, [], "`blewedge pair F0:F1:F2:F3:F4:F5`"), (0x0F, [], "`blewedge pair F0:F1:F2:F3:F4:F5`"),
            (0x05, [try bond()], "`blewedge pair F0:F1:F2:F3:F4:F5 --security authenticated`"), (0x03, [], nil),
        ] as [(UInt8, [Bond], String?)] {
            let stage = try Stage(.none, bonds)
            stage.refusal = code
            try stage.run { stage.isSaid("Write Request refused") }
            let said = stage.reasons.last { $0.cause.english.contains("Write Request refused") }?.remedy?.english
            #expect(remedy == nil ? said == nil : said?.contains(remedy ?? "") == true, "\(code): \(said ?? "")")
            try stage.end()
        }
    }

    @Test("An open device goes on as before, and is called that")
    func open() throws {
        let stage = try Stage(.none, [])
        try stage.run { stage.service.device.state == .connected }
        let device = try #require(stage.devices.first)
        #expect(device.wanted.isEmpty)
        device.notify(Array("open".utf8))
        try stage.run { stage.typed == "open" }
        #expect(stage.service.device.linkFacts?.security.level == GATTLinkSecurity.Level.none)
        try stage.end()
    }
}
