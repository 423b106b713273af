// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import Keystrokes
import Link
import LinuxIO
import TestSupport
import Testing
import Texts
import Typing
import VirtualAdapters

/// End-to-end test on a simulated radio: a device that expects a greeting and sends frames, the wedge, and the typed
/// text.
@Suite("The whole way", .virtualTime)
struct WholeWayTests {
    /// Module that answers greetings, and a wedge that types on a screen.
    private final class Stage {
        let loop: EventLoop
        let keyboard: TextKeyboard
        let peripheral: HostAdapter
        let central: HostAdapter
        let radio: MemoryRadio
        var module: SimulatedModule?
        var service: KeyboardService?
        var greetings: [[UInt8]] = []
        var states: [Session.State] = []

        init() throws {
            loop = try EventLoop()
            radio = MemoryRadio(on: loop)
            let peripheralAddress = BluetoothAddress(rawValue: 0xC0FF_EE00_0001)
            let centralAddress = BluetoothAddress(rawValue: 0xC0FF_EE00_0002)
            peripheral = HostAdapter(name: "module", transport: radio.addController(peripheralAddress), on: loop)
            central = HostAdapter(name: "wedge", transport: radio.addController(centralAddress), on: loop)
            keyboard = try TextKeyboard(layout: .us)
        }

        func run(until isDone: () -> Bool) throws { try #require(try loop.run(until: isDone), "\(states)") }

        /// Starts a device with a profile, and a wedge for the same profile, other profiles, or those of the default
        /// configuration.
        func begin(
            _ profile: Profile,
            looksFor profiles: [Profile]? = nil,
            isDefault: Bool = false,
            reply: @escaping ([UInt8]) -> [[UInt8]]
        ) throws {
            let module = try SimulatedModule(profile, name: "SCALE", on: RadioArbiter(on: loop, using: peripheral)) {
                [unowned self] event in
                guard case .received(let bytes) = event else { return }
                greetings.append(bytes)
                for value in reply(bytes) { _ = self.module?.notify(value) }
            }
            self.module = module
            var isReady = false
            peripheral.start { [unowned self] _ in
                central.start { _ in
                    try? module.start { _ in isReady = true }
                }
            }
            try run { isReady }
            let configuration = try Configuration(text: "pace = \"console\"\nlayout = \"us\"\n")
            var settings = try configuration.settings(device: .name("SCALE"))
            if !isDefault { settings.profiles = profiles ?? [profile] }
            let service = try KeyboardService(settings, through: AdapterCore(loop, using: central), screen: keyboard) {
                [unowned self] event in
                if case .state(let state, _, _) = event { states.append(state) }
            }
            self.service = service
            service.start { _ in }
        }

        func end() throws {
            var isStopped = false
            service?.stop { isStopped = true }
            try run { isStopped }
        }
    }

    private static func profile() throws -> Profile {
        try Profile(
            text: """
                service = "FFE0"
                from-device = "FFE1"
                to-device = "FFE2"
                handshake = [{ send = "A5 01 {crc8-maxim}", expect = "A5 81 {crc8-maxim}", within = "1s" }]
                framing = { start = "02", end = "03", checksum = "xor", checksum-from = 1, checksum-behind-end = true }
                """,
            name: "scale"
        )
    }

    private static func frame(_ text: String) -> [UInt8] {
        let payload = Array(text.utf8) + [0x03]
        return [0x02] + payload + Checksum.xor.value(of: payload)
    }

    @Test(
        "Nothing is typed before the handshake; then the frames' contents, and every byte is accounted for"
    )
    func greeted() throws {
        let stage = try Stage()
        // A complete frame precedes the reply, whose notification also contains half of the first accepted frame.
        let first = Self.frame("490\r")
        let reply: [UInt8] = [0xA5, 0x81] + Checksum.crc8Maxim.value(of: [0xA5, 0x81])
        try stage.begin(try Self.profile()) { _ in [Self.frame("early\r"), reply + first.prefix(3)] }
        try stage.run { stage.states.last == .connected }
        #expect(stage.greetings == [[0xA5, 0x01, 0x4F]])
        _ = stage.module?.notify(Array(first.dropFirst(3)))
        _ = stage.module?.notify([0x31, 0x32] + Self.frame("123\r"))
        var typed = ""
        try stage.run {
            typed += stage.keyboard.screen.takeText()
            return typed.hasSuffix("123\n")
        }
        #expect(typed == "490\n123\n")
        // The RSSI was read when the link became ready.
        let facts = try #require(stage.service?.device.linkFacts)
        #expect(facts.quality.rssi != nil && facts.mtu > 23 && facts.notifications == 2)
        let timing = try #require(facts.quality.timing)
        #expect((12...24).contains(timing.interval) && timing.latency == 0 && timing.supervisionTimeout == 400)
        let bytes = try #require(stage.service?.counts.bytes)
        #expect(bytes.received == 16)
        #expect(bytes.typed == 8)
        #expect(bytes.discarded == 6)
        #expect(bytes.rejected(.frame) == 2)
        #expect(bytes.waiting == 0)
        try stage.end()
    }

    @Test(
        "LK-15, D-32: a device of each built-in profile types with the default configuration, by its own profile",
        arguments: Profile.serial
    )
    func byDefault(_ profile: Profile) throws {
        let stage = try Stage()
        try stage.begin(profile, isDefault: true) { _ in [] }
        try stage.run { stage.states.last == .connected }
        #expect(stage.service?.device.profile?.name == profile.name)
        _ = stage.module?.notify(Array("490\r".utf8))
        var typed = ""
        try stage.run {
            typed += stage.keyboard.screen.takeText()
            return typed.hasSuffix("\n")
        }
        #expect(typed == "490\n")
        try stage.end()
    }

    @Test("LK-15, D-32: with a configured profile, a device with another serial service is unsupported")
    func configured() throws {
        let stage = try Stage()
        try stage.begin(.nordic, looksFor: [.linble]) { _ in [] }
        try stage.run { stage.states.last == .unsupported }
        let reason = try #require(stage.service?.device.reason)
        #expect(reason.cause.english == "it has no LINBLE UART Service; it offers Nordic UART Service")
        #expect(reason.remedy?.english.contains("--profile auto") == true)
        #expect(!stage.states.contains(.connected) && stage.keyboard.screen.takeText().isEmpty)
        try stage.end()
    }

    @Test("D-2: from a link without security Enter is pressed at a notification's end only; the rest of it is counted")
    func openDevice() throws {
        let stage = try Stage()
        try stage.begin(.linble) { _ in [] }
        try stage.run { stage.states.last == .connected }
        #expect(stage.service?.device.linkFacts?.security.level == GATTLinkSecurity.Level.none)
        _ = stage.module?.notify(Array("12\r34\n56\r\n".utf8))
        var typed = ""
        try stage.run {
            typed += stage.keyboard.screen.takeText()
            return typed.hasSuffix("\n")
        }
        #expect(typed == "123456\n")
        let bytes = try #require(stage.service?.counts.bytes)
        #expect(bytes.withheld == 2 && bytes.discarded == 2 && bytes.typed == 8 && bytes.received == 10)
        #expect(stage.service?.counts.object.text.contains("\"withheld\":2") == true)
        try stage.end()
    }

    @Test("A device that answers otherwise is never typed from, and is tried again")
    func refused() throws {
        let stage = try Stage()
        try stage.begin(try Self.profile()) { _ in [[0xA5, 0x82, 0x00], Self.frame("490\r")] }
        try stage.run { stage.greetings.count >= 2 }
        #expect(stage.states.contains(.failed))
        #expect(!stage.states.contains(.connected))
        #expect(stage.keyboard.screen.takeText().isEmpty)
        #expect(stage.service?.counts.bytes.received == 0)
        try stage.end()
    }

    @Test("Commands while connected: in order, no reply is typed, and none outlives its link")
    func commands() throws {
        let stage = try Stage()
        try stage.begin(.linble) { command in
            switch command.first {
            case 0x01: [[0x34, 0x81, 0x37], [0x39]]
            case 0x02: [[0x82]]
            default: []
            }
        }
        try stage.run { stage.states.last == .connected }
        var ends: [String] = []
        func ask(_ send: String, _ reply: String) throws {
            let command = ChatScript.Command(
                send: try HexTemplate(send, for: .command),
                expect: try HexTemplate(reply, for: .reply),
                timeout: .milliseconds(300)
            )
            stage.service?.device.ask(command) { result in
                switch result {
                case .success(let bytes): ends.append("\(send) \(Hexadecimal.text(bytes))")
                case .failure(let failure): ends.append("\(send) \(failure.cause.english)")
                }
            }
        }
        for (send, reply) in [("01", "81 ??"), ("02", "82"), ("03", "83")] { try ask(send, reply) }
        try stage.run { ends.count == 3 }
        #expect(ends == ["01 8137", "02 82", "03 the command did not receive the expected reply within 300ms"])
        #expect(stage.greetings == [[0x01], [0x02], [0x03]])
        _ = stage.module?.notify([0x30, 0x0D])
        var typed = ""
        try stage.run {
            typed += stage.keyboard.screen.takeText()
            return typed.hasSuffix("\n")
        }
        #expect(typed == "490\n")
        #expect(stage.service?.counts.bytes.received == 4)
        for (send, reply) in [("04", "84"), ("05", "85")] { try ask(send, reply) }
        try stage.run { stage.greetings.last == [0x04] }
        stage.service?.device.disconnect()
        try stage.run { ends.count == 5 }
        #expect(ends[3] == "04 the command was written, but the link ended before the reply")
        #expect(ends[4] == "05 the link ended before the command was written")
        try ask("06", "86")
        #expect(ends.last == "06 not connected")
        #expect(stage.greetings.last == [0x04])
        try stage.end()
    }

    @Test("D-7: raw bytes go to the other end as they came, and the account knows them")
    func raw() throws {
        let stage = try Stage()
        try stage.begin(.linble) { _ in [] }
        var passed: [UInt8] = []
        stage.service?.keyboard.rawEnd = { [unowned stage] bytes in
            passed += [UInt8](copying: bytes)
            stage.service?.keyboard.settle(delivered: bytes.count, undelivered: 0)
            return true
        }
        try stage.run { stage.states.last == .connected }
        let all = (0...15).map { UInt8($0) }
        _ = stage.module?.notify(all)
        try stage.run { passed.count >= all.count }
        #expect(passed == all)
        try stage.service?.device.send([0x05, 0x00, 0xFF])
        try stage.run { !stage.greetings.isEmpty }
        #expect(stage.greetings == [[0x05, 0x00, 0xFF]])
        stage.service?.keyboard.isGateOpen = false
        _ = stage.module?.notify(all)
        try stage.run { stage.service?.counts.bytes.received == 32 }
        #expect(passed == all)
        #expect(stage.service?.counts.bytes.typed == 16)
        #expect(stage.service?.counts.bytes.gated == 16)
        #expect(stage.keyboard.screen.takeText().isEmpty)
        try stage.end()
    }
}
