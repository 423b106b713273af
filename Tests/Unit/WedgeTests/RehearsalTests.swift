// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Devices
import HIDHost
import HIDReports
import Keystrokes
import Link
import LinuxIO
import SensorValues
import SystemPackage
import TestSupport
import Testing
import Texts
import Typing

@testable import Daemon
@testable import Rehearsal

/// The wedge with the adapter `memory:`, which simulates devices.
@Suite("The rehearsal", .virtualTime)
struct RehearsalTests {
    /// Wedge for one of the simulated devices, with a screen that shows the typed text.
    private final class Wedge {
        let loop: EventLoop
        let rehearsal: Rehearsal
        let keyboard: TextKeyboard
        let service: KeyboardService
        private(set) var states: [Session.State] = []
        private(set) var reason: String?
        private(set) var typed = ""

        /// With a bond, the device is already paired; `store` keeps what is known of a keyboard.
        init(
            _ cast: SimulatedCast,
            _ device: String,
            _ lines: String = "",
            bond: Bond? = nil,
            keeping store: HIDDeviceStore? = nil
        ) throws {
            loop = try EventLoop()
            rehearsal = Rehearsal(cast, on: loop)
            keyboard = try TextKeyboard(layout: .us)
            let configuration = try Configuration(text: "pace = \"console\"\nlayout = \"us\"\n\(lines)")
            let settings = try configuration.settings(device: .name(device))
            let note = Note()
            service = try KeyboardService(settings, through: rehearsal.core(), screen: keyboard) { event in
                if case .state(let state, _, let reason) = event { note.take(state, reason?.cause.english) }
            }
            note.wedge = self
            if let bond {
                var known = BondStore.Contents()
                known.bonds = [bond]
                service.device.bonds = { () throws(BondStore.Failure) in known }
            }
            service.device.keyboards = store
            service.start { _ in }
        }

        private final class Note {
            weak var wedge: Wedge?

            func take(_ state: Session.State, _ reason: String?) {
                wedge?.states.append(state)
                wedge?.reason = reason ?? wedge?.reason
            }
        }

        func run(until isDone: () -> Bool) throws {
            let isRight = try loop.run {
                typed += keyboard.screen.takeText()
                return isDone()
            }
            try #require(isRight, "\(states), typed \(typed)")
        }

        func end() throws {
            var isStopped = false
            service.stop { isStopped = true }
            try run { isStopped }
        }
    }

    @Test(
        "X-17: each simulated serial device is found by its name, and its lines are typed at its period",
        arguments: [
            (
                "LINBLE-Z1", 3,
                [
                    "4902778020142", "9780140449266", "4006381333931", "5012345678900", "LOT-2026/11-A7",
                    "SN:LT01 BC000120", "3075600001358", "https://example.org/t?id=4711", "4902778020142",
                ]
            ),
            ("Nordic Reader", 4, ["2000000000008", "2000000000015", "2000000000022"]),
            (
                "SCALE-15K", 5,
                [
                    "ST,GS,1.250kg", "ST,GS,0.980kg", "ST,GS,2.415kg", "ST,GS,0.335kg", "ST,GS,7.020kg",
                    "ST,GS,1.505kg", "ST,GS,1.250kg",
                ]
            ),
        ]
    )
    func lines(_ device: String, _ period: Int, _ lines: [String]) throws {
        let wedge = try Wedge(SimulatedCast(), device)
        var times: [Duration] = []
        for count in 1...lines.count {
            try wedge.run { wedge.typed.count { $0 == "\n" } >= count }
            times.append(MonotonicClock.now)
        }
        #expect(wedge.typed == lines.map { $0 + "\n" }.joined())
        let pauses = zip(times.dropFirst(), times).map { $0 - $1 }
        #expect(
            pauses.allSatisfy {
                $0 > .seconds(period) - .milliseconds(300) && $0 < .seconds(period) + .milliseconds(300)
            }
        )
        try wedge.end()
    }

    @Test(
        "The weights that a scale only advertises are typed once each, when they are stable, and each advertisement is counted"
    )
    func advertisedWeights() throws {
        let wedge = try Wedge(SimulatedCast([.bathroom, .badge]), "BATH-SCALE", "profile = \"xiaomi-scale\"\n")
        try wedge.run { wedge.typed.count { $0 == "\n" } >= 5 }
        // The second and the third weight are equal.
        #expect(wedge.typed == "72.45\n81.3\n81.3\n65.005\n72.45\n")
        let counts = wedge.service.counts
        let numbers = try #require(counts.numbers)
        #expect(Set(wedge.states) == [.connecting, .connected] && wedge.states.last == .connected)
        #expect(numbers[.typed] == 5 && numbers[.unstable] > 5 && numbers[.unchanged] == 4 && numbers[.repeated] > 50)
        #expect(numbers.sum == counts.values.notifications && numbers[.removed] == 0 && numbers[.unreadable] == 0)
        #expect(counts.bytes.received == UInt64(wedge.typed.utf8.count) && counts.bytes.typed == counts.bytes.received)
        try wedge.end()
    }

    @Test("A device that only advertises is listened to until `disconnect`, and again after `connect`")
    func advertisedPause() throws {
        let wedge = try Wedge(SimulatedCast([.bathroom]), "BATH-SCALE", "profile = \"xiaomi-scale\"\n")
        try wedge.run { wedge.typed == "72.45\n" }
        wedge.service.device.disconnect()
        try wedge.run { wedge.states.last == .disconnected }
        let heard = wedge.service.counts.values.notifications
        let end = MonotonicClock.now + .seconds(12)
        try wedge.run { MonotonicClock.now > end }
        #expect(wedge.service.counts.values.notifications == heard && wedge.typed == "72.45\n")
        wedge.service.device.connect()
        try wedge.run { wedge.typed.hasSuffix("65.005\n72.45\n") }
        #expect(wedge.states.last == .connected && wedge.service.device.linkCounts.ready == 2)
        #expect(wedge.service.device.linkCounts.ended(.endedHere) == 1)
        try wedge.end()
    }

    @Test("Advertised values are refused if the configuration requires encryption, and the reason says so")
    func advertisedInClear() throws {
        let lines = "security = \"encrypted\"\nprofile = \"xiaomi-scale\"\n"
        let wedge = try Wedge(SimulatedCast([.bathroom]), "BATH-SCALE", lines)
        try wedge.run { wedge.states.last == .failed }
        #expect(
            wedge.reason
                == "C0:FF:EE:01:00:06 only advertises its values, which anyone can imitate, but more security is required"
        )
        #expect(wedge.typed.isEmpty && wedge.service.counts.values.notifications == 0)
        try wedge.end()
    }

    @Test("A value that is typed on request is typed when it is requested, and not without one")
    func requestedWeight() throws {
        let own = """
            profile = "mine"
            [profiles.mine]
            advertised = "service-data 181D"
            [profiles.mine.value]
            format = "xiaomi-scale"
            type = "request"
            text = "{value:.3} {unit}"
            """
        let wedge = try Wedge(SimulatedCast([.bathroom]), "BATH-SCALE", own)
        #expect(throws: CommandFailure(.unavailable, LinkFaultText.notConnected)) {
            try wedge.service.device.typeValue()
        }
        try wedge.run { wedge.states.last == .connected }
        #expect(throws: CommandFailure(.unavailable, LinkFaultText.noValue)) { try wedge.service.device.typeValue() }
        try wedge.run { (wedge.service.counts.numbers?[.kept] ?? 0) == 2 }
        #expect(wedge.typed.isEmpty)
        try wedge.service.device.typeValue()
        try wedge.run { wedge.typed == "81.300 kg\n" }
        #expect(wedge.service.counts.bytes.received == 10)
        try wedge.end()
    }

    @Test("X-17: a lost link is restored when the simulated devices return, and typing resumes")
    func lostLink() throws {
        let wedge = try Wedge(SimulatedCast([.linble]), "LINBLE-Z1")
        try wedge.run { wedge.typed.hasSuffix("4902778020142\n") }
        wedge.rehearsal.setInRange(false)
        try wedge.run { wedge.states.last != .connected }
        wedge.rehearsal.setInRange(true)
        try wedge.run { wedge.typed.hasSuffix("9780140449266\n") }
        #expect(wedge.states.last == .connected)
        try wedge.end()
    }

    /// Bond of the simulated keyboard with the simulated adapter.
    private static func bond() throws -> Bond {
        let key = LongTermKey([UInt8](1...16), isAuthenticated: false, isSecureConnections: true, role: .central)
        let local = BluetoothAddress(rawValue: 0xC0FF_EE00_0002)
        let known = try #require(key)
        return try #require(
            Bond(identityAddress: KeyboardBench.device, localAddress: local, longTermKeys: [known])
        )
    }

    @Test(
        "X-13, X-17: the simulated keyboard is not used before it is paired, whatever the security, and the reason says so"
    )
    func unpairedKeyboard() throws {
        for lines in ["", "security = \"none\"\n", "profile = \"keyboard\"\n"] {
            let wedge = try Wedge(SimulatedCast([.hid]), "HID Scanner", lines)
            try wedge.run { wedge.reason != nil && wedge.states.last == .failed }
            #expect(wedge.reason == "C0:FF:EE:01:00:04 is not paired with this adapter")
            #expect(wedge.typed.isEmpty)
            try wedge.end()
        }
    }

    @Test("X-13: the keys of a paired keyboard are typed; its reports are counted by outcome, and the sum is exact")
    func keyboard() throws {
        let wedge = try Wedge(SimulatedCast([.hid]), "HID Scanner", bond: try Self.bond())
        try wedge.run { wedge.typed.count { $0 == "\n" } >= 3 }
        #expect(wedge.typed == Barcodes.samples.prefix(3).map { $0 + "\n" }.joined())
        let values = wedge.service.counts.values
        #expect(values.reports.characters == UInt64(wedge.typed.utf8.count))
        #expect(values.reports.sum == values.reports.reports && values.reports.reports == values.notifications)
        #expect(values.reports[.release] > 0 && values.stray == 0 && values.refused == 0)
        try wedge.end()
    }

    @Test("X-13: a keyboard that was connected before sends its first report to a host that has sent no request")
    func firstReport() throws {
        let directory = try TestDirectory()
        let store = HIDDeviceStore(FilePath(directory("state/hid-devices")))
        let wedge = try Wedge(SimulatedCast([.hid]), "HID Scanner", bond: try Self.bond(), keeping: store)
        try wedge.run { wedge.typed.count { $0 == "\n" } >= 1 }
        #expect(try store.load(BluetoothAddress(rawValue: 0xC0FF_EE00_0002), KeyboardBench.device)?.hasKeyboard == true)
        for count in 2...4 {
            let before = wedge.states.count
            wedge.rehearsal.setInRange(false)
            try wedge.run { wedge.states.dropFirst(before).contains { $0 != .connected } }
            wedge.rehearsal.setInRange(true)
            try wedge.run { wedge.typed.count { $0 == "\n" } >= count }
        }
        // A line that the keyboard sends while it is out of range is lost; all others are complete.
        let lines = wedge.typed.split(separator: "\n").map(String.init)
        #expect(lines.count == 4 && lines.allSatisfy(Barcodes.samples.contains), "\(lines)")
        let values = wedge.service.counts.values
        #expect(values.stray == 0 && values.keyboardChanges == 0)
        try wedge.end()
    }

    @Test("Received bytes are kept only from a client's request until 10 s after its last one")
    func lastValue() throws {
        let wedge = try Wedge(SimulatedCast([.linble]), "LINBLE-Z1")
        let keeper = LastValueKeeper(of: wedge.service.device, on: wedge.loop)
        try wedge.run { wedge.typed.hasSuffix("4902778020142\n") }
        #expect(wedge.service.device.onValue == nil && keeper.ask() == nil, "nothing was kept before the request")
        try wedge.run { wedge.typed.hasSuffix("9780140449266\n") }
        #expect(keeper.ask() == "393738303134303434393236360D")
        let end = MonotonicClock.now + .milliseconds(9900)
        try wedge.run { MonotonicClock.now >= end }
        #expect(wedge.service.device.onValue != nil && keeper.ask() != nil)
        let later = MonotonicClock.now + .milliseconds(10_100)
        try wedge.run { MonotonicClock.now >= later }
        #expect(wedge.service.device.onValue == nil)
        #expect(keeper.ask() == nil, "values received since then were not kept")
        try wedge.end()
    }

    /// Returns the devices that are received from a simulation within four seconds.
    private func heard(_ cast: SimulatedCast) throws -> [DiscoveredDevice] {
        let loop = try EventLoop()
        let core = Rehearsal.core(loop, .memory(cast))
        var isReady = false
        core.onEvent = { event in if case .ready = event { isReady = true } }
        core.start()
        try #require(try loop.run { isReady })
        var heard: [DiscoveredDevice]?
        let scan = TimedScan(at: DeviceTable(), for: .seconds(4), on: core.radio) { result in
            heard = try? result.get().devices
        }
        try #require(try loop.run { heard != nil })
        withExtendedLifetime(scan) {}
        return try #require(heard)
    }

    @Test("X-17: the simulated badge is an iBeacon, and the crowd has fifty devices")
    func advertisers() throws {
        let badge = try heard(SimulatedCast([.badge]))
        #expect(badge.compactMap { BeaconFrame(advertisement: $0.advertisement.span)?.identity } == [Stage.badge])
        #expect(!badge[0].isConnectable)
        let crowd = try heard(SimulatedCast([.crowd])).map { $0.name?.text ?? "-" }
        #expect(Set(crowd) == Set((0..<50).map { "Crowd \($0 + 1)" }))
    }

    @Test("X-17: the default simulated devices are all except the crowd")
    func usualCast() throws {
        let devices = try heard(SimulatedCast()).map { device in
            let kind = device.isConnectable ? "connectable" : "beacon"
            return
                "\(device.address.address) \(device.name?.text ?? "-") \(kind) \(device.services)"
        }
        #expect(
            devices.sorted() == [
                "C0:FF:EE:01:00:01 LINBLE-Z1 connectable \([Profile.linble.service])",
                "C0:FF:EE:01:00:02 Nordic Reader connectable \([Profile.nordic.service])",
                "C0:FF:EE:01:00:03 SCALE-15K connectable \([Profile.microchip.service])",
                "C0:FF:EE:01:00:04 HID Scanner connectable \([BluetoothUUID(UInt16(0x1812))])",
                "C0:FF:EE:01:00:05 - beacon []",
            ]
        )
    }
}
