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
import Rehearsal
import SensorValues
import SystemPackage
import TestSupport
import Testing
import Texts
import Typing

/// A daemon with several devices of the adapter `memory:`.
@Suite("Several devices in one daemon", .virtualTime)
struct SeveralDevicesTests {
    private final class Bench {
        let directory: TestDirectory
        let loop: EventLoop
        let rehearsal: Rehearsal
        let daemon: Daemon
        let screen: TextKeyboard
        private(set) var typed = ""
        private(set) var notes: [String] = []
        private(set) var states: [String: [String]] = [:]

        /// Creates a daemon with this configuration; `kept` are the selections of an earlier run, by the names of devices.
        init(_ text: String, kept: [String: SelectedDevice] = [:], _ cast: SimulatedCast = SimulatedCast()) throws {
            directory = try TestDirectory()
            loop = try EventLoop()
            rehearsal = Rehearsal(cast, on: loop)
            screen = try TextKeyboard(layout: .us)
            for (name, device) in kept {
                try ChoiceStore(FilePath(directory("state")).appending("selection-\(name)")).write(device)
            }
            let configuration = try Configuration(text: text.replacing("DIR", with: directory.path))
            let loop = loop
            let plans = try configuration.parts.map { table, part in
                var plan = DevicePlan(name: table?.name, try part.settings(device: table?.device))
                plan.texts = try part.outputs.compactMap { try TextOutput($0, layout: .us, on: loop) }
                plan.labels = DaemonLabels(profile: part.profile, layout: "us", table: "linble", program: "test")
                return plan
            }
            let options = Daemon.Options(
                paths: DaemonPaths(
                    configuration: FilePath(directory("config")),
                    state: FilePath(directory("state")),
                    runtime: FilePath(directory("run"))
                ),
                followsChoice: true,
                terminal: nil,
                allowsKeys: true,
                labels: DaemonLabels(profile: "auto", layout: "us", table: "linble", program: "test")
            )
            daemon = try Daemon(plans, options, through: rehearsal.core(), screen: screen)
            daemon.onNote = { [unowned self] note in notes.append(note.cause.english) }
            daemon.onEvent = { [unowned self] event, device in
                if case .state(let state, _, _) = event { states[device.name ?? "", default: []].append("\(state)") }
            }
            daemon.start { _ in }
        }

        func run(until isDone: () -> Bool) throws {
            let isRight = try loop.run {
                typed += screen.screen.takeText()
                return isDone()
            }
            try #require(isRight, "\(states), typed \(typed)")
        }

        func device(_ name: String) throws -> DaemonDevice {
            try #require(daemon.devices.first { $0.name == name })
        }

        func ask(_ request: ControlRequest) throws -> JSONObject {
            var answer: Result<JSONObject, CommandFailure>?
            daemon.handle(request) { answer = $0 }
            try run { answer != nil }
            return try #require(answer).get()
        }

        func status() throws -> JSONValue { try JSONValue(Array(daemon.status.object.text.utf8)) }

        func end() throws {
            var isStopped = false
            daemon.stop { isStopped = true }
            try run { isStopped }
        }
    }

    private static let three = """
        pace = "console"
        [[device]]
        name = "counter"
        device = "LINBLE-Z1"
        [[device]]
        name = "reader"
        [[device]]
        name = "scale"
        device = "SCALE-15K"
        profile = "microchip"
        """

    @Test("X-14: three devices have links, sessions and counts of their own; their lines on one keyboard are not mixed")
    func lines() throws {
        let bench = try Bench(Self.three)
        _ = try bench.ask(
            .device("reader", .use(.name("Nordic Reader"), confirmed: false, security: GATTLinkSecurity.Level.none))
        )
        let devices = bench.daemon.devices
        try bench.run { devices.allSatisfy { $0.service.counts.values.notifications >= 3 } }
        #expect(devices.allSatisfy { $0.session.state == .connected })
        try bench.end()
        let lines = bench.typed.split(separator: "\n").map(String.init)
        let known: [String: Set<String>] = [
            "counter": [
                "4902778020142", "9780140449266", "4006381333931", "5012345678900", "LOT-2026/11-A7",
                "SN:LT01 BC000120", "3075600001358", "https://example.org/t?id=4711",
            ],
            "reader": ["2000000000008", "2000000000015", "2000000000022"],
            "scale": [
                "ST,GS,1.250kg", "ST,GS,0.980kg", "ST,GS,2.415kg", "ST,GS,0.335kg", "ST,GS,7.020kg", "ST,GS,1.505kg",
            ],
        ]
        for device in devices {
            let own = lines.filter { known[device.name ?? ""]?.contains($0) == true }
            let counts = device.service.counts
            // Each line has a line end of one byte on the screen, and of one or two bytes on the link.
            #expect(UInt64(own.count) == counts.values.notifications - counts.values.dropped)
            #expect(counts.bytes.received == counts.bytes.typed + counts.bytes.discarded && counts.turnsCut == 0)
        }
        #expect(lines.allSatisfy { line in known.values.contains { $0.contains(line) } }, "\(lines)")
    }

    @Test("X-14: each device has an output of its own, which gets its lines and no others")
    func outputs() throws {
        let bench = try Bench(
            """
            pace = "console"
            [[device]]
            name = "counter"
            device = "LINBLE-Z1"
            to = "unix:DIR/counter"
            [[device]]
            name = "scale"
            device = "SCALE-15K"
            to = ["keyboard", "unix:DIR/scale"]
            """
        )
        let names = ["counter", "scale"]
        let readers = try names.map { try SocketReader(bench.directory($0)) }
        let devices = bench.daemon.devices
        try bench.run {
            for reader in readers { reader.readAll() }
            return readers.allSatisfy { $0.text.count { $0 == "\n" } >= 2 }
        }
        #expect(readers[0].text.hasPrefix("4902778020142\n9780140449266\n"))
        #expect(readers[1].text.hasPrefix("ST,GS,1.250kg\nST,GS,0.980kg\n"))
        #expect(bench.typed.hasPrefix("ST,GS,1.250kg\nST,GS,0.980kg\n") && !bench.typed.contains("4902778020142"))
        #expect(
            devices.map { $0.service.outputs.map { $0.text?.name ?? "keyboard" } } == [
                ["unix:\(bench.directory("counter"))"], ["keyboard", "unix:\(bench.directory("scale"))"],
            ]
        )
        try bench.end()
    }

    @Test("A request names the device; without a name, or with an unknown one, it fails with the list of devices")
    func requests() throws {
        let bench = try Bench(Self.three)
        #expect(throws: CommandFailure(.usage, ControlFaultText.deviceWanted, "counter, reader, scale")) {
            try bench.ask(.connect)
        }
        #expect(throws: CommandFailure(.usage, ControlFaultText.unknownDevice, "door", "counter, reader, scale")) {
            try bench.ask(.device("door", .connect))
        }
        #expect(throws: CommandFailure(.unavailable, ControlFaultText.nothingChosen)) {
            try bench.ask(.device("reader", .connect))
        }
        let fixed = CommandFailure(.usage, ControlFaultText.fixedInTable, "LINBLE-Z1", "counter")
        #expect(throws: fixed) { try bench.ask(.device("counter", .forget)) }
        try bench.run { bench.daemon.devices.count { $0.session.state == .connected } == 2 }
        let (counter, scale) = (try bench.device("counter"), try bench.device("scale"))
        _ = try bench.ask(.device("counter", .disconnect))
        try bench.run { counter.session.state == .disconnected }
        #expect(scale.session.state == .connected)
        // The daemon that replaces this one keeps only this device disconnected.
        #expect(bench.daemon.memory == "disconnected=counter")
        bench.daemon.restore("disconnected=scale")
        try bench.run { scale.session.state == .disconnected }
        _ = try bench.ask(.device("counter", .connect))
        try bench.run { counter.session.state == .connected }
        try bench.end()
    }

    @Test("A device is selected under its name, in a file of its own, and for one name only")
    func choices() throws {
        let bench = try Bench(Self.three)
        let security = GATTLinkSecurity.Level.none
        let counter = try bench.device("counter")
        try bench.run { counter.session.state == .connected }
        #expect(throws: CommandFailure(.usage, ControlFaultText.usedByOther, "LINBLE-Z1", "counter")) {
            try bench.ask(.device("reader", .use(.name("LINBLE-Z1"), confirmed: false, security: security)))
        }
        _ = try bench.ask(.device("reader", .use(.name("Nordic Reader"), confirmed: false, security: security)))
        let kept = try ChoiceStore(FilePath(bench.directory("state")).appending("selection-reader")).read()
        #expect(kept?.name == "Nordic Reader")
        #expect(try ChoiceStore(FilePath(bench.directory("state")).appending("selection")).read() == nil)
        let reader = try bench.device("reader")
        try bench.run { reader.session.state == .connected }
        _ = try bench.ask(.device("reader", .forget))
        try bench.run { reader.session.state == .unselected }
        #expect(counter.session.state == .connected)
        try bench.end()
    }

    @Test("A selection of an earlier run is used and can be changed; the same device is not used for two names")
    func restart() throws {
        let reader = SelectedDevice(
            DeviceAddress(BluetoothAddress(rawValue: 0xC0FF_EE01_0002), .public),
            name: "Nordic Reader"
        )
        let bench = try Bench(
            "pace = \"console\"\n[[device]]\nname = \"left\"\n[[device]]\nname = \"right\"\n",
            kept: ["left": reader, "right": reader]
        )
        let (left, right) = (try bench.device("left"), try bench.device("right"))
        try bench.run { left.session.state == .connected }
        #expect(right.session.choice == nil && bench.notes == ["Nordic Reader is already selected as left"])
        _ = try bench.ask(.device("left", .forget))
        try bench.run { left.session.state == .unselected }
        let security = GATTLinkSecurity.Level.none
        _ = try bench.ask(.device("left", .use(.name("LINBLE-Z1"), confirmed: false, security: security)))
        try bench.run { left.session.state == .connected }
        try bench.end()
    }

    @Test("Status and events say which device they are about; the first device is also shown as the only one")
    func status() throws {
        let bench = try Bench(Self.three)
        try bench.run { bench.daemon.devices.count { $0.session.state == .connected } == 2 }
        let status = try bench.status()
        let devices = try #require(status["devices"]?.array)
        #expect(devices.map { $0["name"]?.string } == ["counter", "reader", "scale"])
        #expect(devices.map { $0["state"]?.string } == ["connected", "unselected", "connected"])
        #expect(devices.map { $0["profile"]?.string } == ["linble", "auto", "microchip"])
        #expect(status["state"]?.string == "connected" && status["device"]?.string == "LINBLE-Z1")
        for member in ["adapter", "radio", "pid", "paused", "devices"] {
            #expect(status[member] != nil && devices.allSatisfy { $0[member] == nil }, "\(member)")
        }
        let text = StatusText.lines(status, in: .english)
        #expect(text.contains { $0.hasPrefix("  devices") && $0.contains("counter: connected to LINBLE-Z1") })
        #expect(text.contains { $0.contains("  reader: no device selected") })
        let events = try bench.daemon.currentEvents.map { try JSONValue(Array($0.text.utf8)) }
        let states = events.filter { $0["event"]?.string == "state" }
        #expect(states.map { $0["name"]?.string } == ["counter", "reader", "scale"])
        #expect(states.map { $0["state"]?.string } == ["connected", "unselected", "connected"])
        #expect(bench.states["scale"]?.last == "connected" && bench.states["reader"] == ["unselected"])
        try bench.end()
    }

    @Test("A device that is out of range does not delay the links of the others, and connects when it returns")
    func absent() throws {
        let bench = try Bench(Self.three)
        let (counter, scale) = (try bench.device("counter"), try bench.device("scale"))
        try bench.run { counter.session.state == .connected && scale.session.state == .connected }
        bench.rehearsal.setInRange(false, [.linble])
        try bench.run { counter.session.state != .connected }
        let before = scale.service.counts.values.notifications
        try bench.run { scale.service.counts.values.notifications >= before + 5 }
        #expect(scale.session.linkCounts.ready == 1)
        bench.rehearsal.setInRange(true, [.linble])
        try bench.run { counter.session.state == .connected }
        #expect(scale.session.linkCounts.ready == 1 && counter.session.linkCounts.ready == 2)
        try bench.end()
    }

    @Test(
        "A scale that only advertises is decoded from its first value on, although another device keeps the scan going"
    )
    func advertised() throws {
        let bench = try Bench(
            """
            pace = "console"
            [[device]]
            name = "away"
            device = "NOT-THERE"
            [[device]]
            name = "bath"
            device = "BATH-SCALE"
            profile = "xiaomi-scale"
            """,
            SimulatedCast([.bathroom, .badge])
        )
        let bath = try bench.device("bath")
        try bench.run { (bath.service.counts.numbers?[.typed] ?? 0) >= 2 }
        let counts = bath.service.counts
        #expect(
            counts.bytes.discarded == 0 && counts.bytes.rejected == 0 && counts.bytes.received == counts.bytes.typed
        )
        #expect(counts.numbers?.sum == counts.values.notifications)
        try bench.end()
    }
}
