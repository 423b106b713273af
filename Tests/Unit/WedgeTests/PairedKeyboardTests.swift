// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import HIDHost
import Link
import LinuxIO
import Setup
import SystemPackage
import Testing
import Texts

/// What `use`, the status and the doctor say about keyboards: unpaired, silent, or without our keys.
@Suite("Keyboards with and without a pairing", .virtualTime, .serialized, .timeLimit(.minutes(10)))
struct PairedKeyboardTests {
    private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
    private static let adapter = BluetoothAddress(rawValue: 0xC0FF_EE00_0009)
    private static let name: [UInt8] = [0x02, 0x09, 0x41]
    private static let hid: [UInt8] = [0x03, 0x03, 0x12, 0x18]
    private static let profiles: [Profile] = [.nordic, .keyboard]

    /// Connection whose encryption fails, because the device does not have the key.
    private final class Keyless: ATTChannel {
        let device: DeviceAddress
        let droppedPackets: UInt32 = 0
        var onReceive: ((Span<UInt8>) -> Void)?
        var onGap: (() -> Void)?
        var onWritable: (() -> Void)?
        var onClosed: ((LinkFailure) -> Void)?
        let earlyValues: EarlyValues
        private let loop: EventLoop

        init(_ device: DeviceAddress, _ early: EarlyValues, _ loop: EventLoop) {
            self.device = device
            earlyValues = early
            self.loop = loop
        }

        func secure(
            _: GATTLinkSecurity.Level,
            early _: Duration,
            completion: @escaping (Result<Void, LinkFailure>) -> Void
        ) {
            _ = loop.schedule(at: .zero) { completion(.failure(.notSecured)) }
        }

        func send(_: [UInt8]) throws(LinkFailure) -> Bool { true }
        func close() {}
    }

    private func bond() throws -> Bond {
        let key = LongTermKey(
            (1...16).map { UInt8($0) },
            isAuthenticated: false,
            isSecureConnections: true,
            role: .central
        )
        let made = Bond(
            identityAddress: Self.device,
            localAddress: Self.adapter,
            longTermKeys: [key].compactMap(\.self)
        )
        return try #require(made)
    }

    /// Returns a running daemon whose selected device requires this level; nil for none selected.
    private func running(
        _ selected: GATTLinkSecurity.Level? = nil,
        isPaired: Bool = false,
        isKept: Bool = false,
        profiles: [Profile] = profiles
    ) throws -> DaemonBench {
        let bench = try DaemonBench()
        if isPaired { try BondStore(bench.paths.bonds).add(try bond()) }
        if isKept {
            let range = AttributeHandleRange(start: AttributeHandle(0x10), end: AttributeHandle(0x20))
            let service = HIDDevice.Service(range: range, map: HIDDevice.bootMap)
            let keyboard = HIDDevice(services: [service])
            try HIDDeviceStore(bench.paths.hidDevices).keep(Self.adapter, Self.device, keyboard)
        }
        if let selected { try bench.store.write(SelectedDevice(Self.device, name: "A", security: selected)) }
        let daemon = try bench.make(profiles: profiles)
        daemon.start { _ in }
        #expect(try bench.until { daemon.service.adapter?.name != nil })
        return bench
    }

    /// Selects the device, which advertises `data` once the daemon scans for it.
    private func use(
        _ bench: DaemonBench,
        _ asked: GATTLinkSecurity.Level?,
        _ data: [UInt8]
    ) throws -> Result<JSONObject, CommandFailure> {
        var answer: Result<JSONObject, CommandFailure>?
        let scans = bench.radio.scans
        let request = ControlRequest.use(.address(Self.device.address), confirmed: true, security: asked)
        bench.daemon?.handle(request) { answer = $0 }
        if answer == nil {
            #expect(try bench.until { bench.radio.scans > scans })
            bench.radio.advertise(Self.device.address, data)
            #expect(try bench.until { answer != nil })
        }
        return try #require(answer)
    }

    /// Returns the doctor's findings, without notes, on a machine on which everything works, from the daemon's own
    /// answer.
    private func findings(_ bench: DaemonBench) throws -> [Finding] {
        let text = try #require(bench.daemon?.status.object.text)
        let answer = StatusAnswer(try JSONValue(Array(text.utf8)))
        var facts = SystemFacts()
        facts.adapters = [SystemFacts.Adapter(index: ControllerIndex(rawValue: 0), address: Self.adapter)]
        facts.choice = .chosen("A")
        facts.daemon = .running(try #require(answer.flatMap(SystemFacts.Status.init)))
        return Doctor.findings(facts).filter { $0.severity != .note }
    }

    private func says(_ bench: DaemonBench, _ fault: LinkFaultText) throws {
        let isSaid = try bench.until { bench.daemon?.service.device.reason?.cause.says(fault) == true }
        #expect(isSaid, "\(String(describing: bench.daemon?.service.device.reason))")
    }

    @Test(
        "X-13: an unpaired keyboard is refused with the command that pairs, whatever level is requested, and nothing is kept",
        arguments: [hid, [0x03, 0x19, 0xC1, 0x03], [0x03, 0x19, 0xC8, 0x03]]
    )
    func unpaired(data: [UInt8]) throws {
        let bench = try running()
        for level in [nil] + GATTLinkSecurity.Level.allCases.map(Optional.some) {
            let refused = #expect(throws: CommandFailure.self) { _ = try use(bench, level, Self.name + data).get() }
            #expect(refused?.status == .configuration && refused?.kind == .unpairedKeyboard)
            #expect(refused?.remedy?.english.hasSuffix("`blewedge pair \(Self.device.address)`") == true)
            for language in Language.allCases {
                let words = refused?.remedy?.text(language) ?? ""
                #expect(words.contains("blewedge pair") && !words.contains("none"))
            }
        }
        #expect(try bench.store.read() == nil)
        try bench.end()
    }

    @Test("A paired keyboard is selected with its keys, also by who asks for none")
    func paired() throws {
        let bench = try running(isPaired: true)
        for level in [nil, GATTLinkSecurity.Level.none] {
            #expect(throws: Never.self) { _ = try use(bench, level, Self.name + Self.hid).get() }
            #expect(try bench.store.read()?.security == .encrypted)
        }
        try bench.end()
    }

    @Test("A serial service, another appearance, and profiles without a keyboard lead to the question as before")
    func noKeyboard() throws {
        let nordic: [UInt8] = [
            0x11, 0x07, 0x9E, 0xCA, 0xDC, 0x24, 0x0E, 0xE5, 0xA9, 0xE0, 0x93, 0xF3, 0xA3, 0xB5, 0x01, 0x00, 0x40, 0x6E,
        ]
        for (data, profiles) in [
            (Self.hid + nordic, Self.profiles), (Self.hid + [0x03, 0x19, 0xC2, 0x03], Self.profiles),
            (Self.hid, [Profile.nordic]), ([], Self.profiles),
        ] as [([UInt8], [Profile])] {
            let bench = try running(profiles: profiles)
            let refused = #expect(throws: CommandFailure.self) { _ = try use(bench, nil, Self.name + data).get() }
            #expect(refused?.kind == .openDevice)
            #expect(throws: Never.self) { _ = try use(bench, GATTLinkSecurity.Level.none, Self.name + data).get() }
            try bench.end()
        }
    }

    @Test("X-13: a paired keyboard that is not heard is told from another device that is not, with what can be told")
    func silent() throws {
        let bench = try running(.encrypted, isPaired: true, isKept: true)
        try says(bench, .keyboardNotHeard)
        let remedy = bench.daemon?.service.device.reason?.remedy?.english
        #expect(remedy?.contains("`blewedge forget \(Self.device.address)`") == true)
        let finding = try #require(try findings(bench).first)
        #expect(finding.cause == .keyboardSilent && finding.severity == .hinders)
        #expect(finding.why.english.contains("asleep, off or out of range, or it answers only another host"))
        try bench.end()

        for (selected, isKept) in [(GATTLinkSecurity.Level.encrypted, false), (.none, true)] {
            let other = try running(selected, isPaired: selected > .none, isKept: isKept)
            try says(other, .notHeard)
            #expect(try findings(other).first?.cause == .deviceNotReached)
            try other.end()
        }
    }

    @Test(
        "X-13: a keyboard without our keys is told from one that is off, and the doctor gives the commands that pair anew"
    )
    func refusesKeys() throws {
        for (data, fault) in [(Self.hid, LinkFaultText.keyboardRefusesKeys), ([], .notSecured)] {
            let bench = try running(.encrypted, isPaired: true)
            var early = EarlyValues()
            (early.refused, early.longest) = (2, data.isEmpty ? nil : .milliseconds(7))
            bench.radio.onConnect = { [unowned bench] device, completion in
                let channel = Keyless(device, early, bench.loop)
                _ = bench.loop.schedule(at: .zero) { completion(.success(channel)) }
            }
            #expect(try bench.until { bench.radio.listening > 0 })
            bench.radio.advertise(Self.device.address, Self.name + data)
            try says(bench, fault)
            let found = try findings(bench)
            if data.isEmpty {
                #expect(found.map(\.cause) == [.deviceNotReached, .valuesBeforeEncryption])
                #expect(found.first?.remedy.english.contains("`blewedge forget \(Self.device.address)`") == true)
            } else {
                #expect(found.map(\.cause) == [.keyboardRefusesKeys, .valuesBeforeEncryption])
                #expect(found.first?.command == "blewedge forget \(Self.device.address)")
                #expect(found.first?.why.english.contains("paired with another host") == true)
            }
            // The values that came in clear are in the status, with the adapter's name.
            let text = try #require(bench.daemon?.status.object.text)
            let values = try JSONValue(Array(text.utf8))["earlyValues"]
            #expect(values?["refusedEarly"]?.integer == 2 && values?["acceptedEarly"]?.integer == 0)
            #expect(values?["longestMilliseconds"]?.integer == (data.isEmpty ? nil : 7))
            let time = data.isEmpty ? "" : ", longest time before (ms) 7"
            let lines = StatusText.lines(try JSONValue(Array(text.utf8)), in: .english)
            #expect(lines.contains { $0.contains("values before encryption") && $0.hasSuffix("  refused 2" + time) })
            #expect(found.last?.what.english.hasPrefix("adapter quiet0: 2 values arrived") == true)
            try bench.end()
        }
    }

    @Test("A device without a bond that its selection requires is reported with the command that pairs")
    func notPaired() throws {
        let bench = try running(.encrypted)
        #expect(try bench.until { bench.radio.listening > 0 })
        bench.radio.advertise(Self.device.address, Self.name + Self.hid)
        try says(bench, .noBond)
        let finding = try #require(try findings(bench).first)
        #expect(finding.cause == .deviceNotPaired && finding.command == "blewedge pair \(Self.device.address)")
        try bench.end()
    }

    @Test("A scan marks the devices that are paired, and contains their appearance")
    func scan() throws {
        let bench = try running(isPaired: true)
        var answer: Result<JSONObject, CommandFailure>?
        let scans = bench.radio.scans
        bench.daemon?.handle(.scan(for: .seconds(1), isAnew: true)) { answer = $0 }
        #expect(try bench.until { bench.radio.scans > scans })
        let other = BluetoothAddress(rawValue: 0xC1C2_C3C4_C5C6)
        bench.radio.advertise(Self.device.address, Self.name + Self.hid + [0x03, 0x19, 0xC1, 0x03])
        bench.radio.advertise(other, Self.name)
        #expect(try bench.until { answer != nil })
        let text = try #require(answer).get().text
        let devices = try #require(try JSONValue(Array(text.utf8))["devices"]?.array)
        for device in devices {
            let isPaired = device["address"]?.string == "\(Self.device.address)"
            #expect(device["paired"]?.bool == (isPaired ? true : nil))
            #expect(device["appearance"]?.integer == (isPaired ? 0x03C1 : nil))
        }
        #expect(devices.count == 2)
        try bench.end()
    }
}
