// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Keystrokes
import Link
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts
import TextsSupport
import Typing

@testable import Control
@testable import Daemon
@testable import Devices
@testable import Setup

/// Returns a machine on which everything works: an adapter, a selected device, and a connected daemon that has typed.
func healthy() throws -> SystemFacts {
    var facts = SystemFacts()
    facts.kernelVersion = debian("6.12.107+deb13-amd64", "6.12.107-1")
    facts.adapters = [try adapter(0)]
    facts.choice = .chosen("LINBLE-TEST")
    facts.service = .systemd
    facts.console = ConsoleState(terminal: 1, keys: .unicode, isGraphic: false)
    var status = SystemFacts.Status(state: .connected, pid: 4711)
    status.device = "LINBLE-TEST"
    status.received = 14
    status.typed = 14
    facts.daemon = .running(status)
    return facts
}

private func adapter(_ index: UInt16) throws -> SystemFacts.Adapter {
    let address = try #require(BluetoothAddress("00:AA:01:00:00:0\(index)"))
    return SystemFacts.Adapter(index: ControllerIndex(rawValue: index), address: address)
}

extension SystemFacts {
    /// Changes the status reported by a running daemon.
    fileprivate mutating func says(_ change: (inout Status) -> Void) {
        guard case .running(var status) = daemon else { return }
        change(&status)
        daemon = .running(status)
    }

    /// Changes the machine to one without a service and a daemon.
    fileprivate mutating func withoutService() {
        service = nil
        daemon = .none
    }
}

extension SystemFacts.Status {
    /// Changes the status to that after an attempt that failed for this reason.
    fileprivate mutating func fail(_ fault: LinkFaultText, _ arguments: any MessageArgument...) {
        state = .failed
        reason = fault.message(with: arguments)
        address = "F0:F1:F2:F3:F4:F5"
    }
}

/// Returns the report of a daemon that monitors a region.
private func beacons(_ change: (inout SystemFacts.Beacons) -> Void) -> SystemFacts.Beacons {
    var beacons = SystemFacts.Beacons()
    beacons.watched = 1
    change(&beacons)
    return beacons
}

/// Changes that produce each cause on a machine on which everything else works.
let causes: [(cause: Finding.Cause, make: @Sendable (inout SystemFacts) -> Void)] = [
    (.kernelWithoutBluetooth, { $0.sockets = .unknown }),
    (.bluetoothRefused, { $0.sockets = .refused("Permission denied") }),
    (.adapterUnreadable, { $0.adapterFault = "no answer" }),
    (.noAdapter, { $0.adapters = [] }),
    (
        .uartNotAttached,
        {
            $0.adapters = []
            $0.serialControllers = [
                SerialDevice(name: "serial0-0", modalias: "of:NbluetoothT(null)Cbrcm,bcm43438-bt", hasDriver: false)
            ]
        }
    ),
    (
        .adapterTaken,
        {
            $0.adapters = []
            $0.takenControllers = ["hci0"]
        }
    ),
    (.adapterNotFound, { $0.selector = .index(ControllerIndex(rawValue: 7)) }),
    (.adapterWithoutLowEnergy, { $0.adapters[0].hasLowEnergy = false }),
    (.rfkillHard, { $0.adapters[0].isHardBlocked = true }),
    (.rfkillSoft, { $0.adapters[0].isSoftBlocked = true }),
    (.adapterDown, { $0.adapters[0].isPowered = false }),
    (.otherBluetoothService, { $0.otherServices = [ProcessEntry(pid: 12, name: "bluetoothd")] }),
    (
        .capabilitiesMissing,
        {
            $0.withoutService()
            $0.missingCapabilities = [.rawNetwork]
        }
    ),
    (.uinputMissing, { $0.uinput = .missing(.loadable) }),
    (
        .uinputNotPermitted,
        {
            $0.withoutService()
            $0.uinput = .notPermitted
        }
    ),
    (
        .uinputRefused,
        {
            $0.withoutService()
            $0.uinput = .refused("Input/output error")
        }
    ),
    (.evdevMissing, { $0.hasEventNodes = false }),
    (.eventNodeNotReadable, { $0.unreadableEventNode = "/dev/input/event3" }),
    (.configurationWrong, { $0.configuration = .wrong(path: "/etc/blewedge/blewedge.toml", reason: "line 3") }),
    (.selectionUnreadable, { $0.choice = .unreadable(path: "/var/lib/blewedge/selection", reason: "garbled") }),
    (.nothingSelected, { $0.choice = .none }),
    (.legacyBond, { $0.legacyBond = "F0:F1:F2:F3:F4:F5" }),
    (.daemonSilent, { $0.daemon = .silent(pid: 99) }),
    (.daemonNotAskable, { $0.daemon = .hidden }),
    (.daemonNotRunning, { $0.daemon = .none }),
    (.daemonOff, { $0.says { $0.state = .bluetoothOff } }),
    (.daemonUnauthorized, { $0.says { $0.state = .unauthorized } }),
    (.deviceUnsupported, { $0.says { $0.state = .unsupported } }),
    (.deviceNotReached, { $0.says { $0.state = .failed } }),
    (.deviceNotPaired, { $0.says { $0.fail(.noBond, "F0:F1:F2:F3:F4:F5") } }),
    (.keyboardSilent, { $0.says { $0.fail(.keyboardNotHeard, "10", "F0:F1:F2:F3:F4:F5") } }),
    (.keyboardRefusesKeys, { $0.says { $0.fail(.keyboardRefusesKeys, "F0:F1:F2:F3:F4:F5") } }),
    (.linkLost, { $0.says { $0.state = .lost } }),
    (.disconnectedByUser, { $0.says { $0.state = .disconnected } }),
    (.paused, { $0.says { $0.pause = "by command" } }),
    (
        .allDiscarded,
        {
            $0.says {
                $0.typed = 0
                $0.discarded = 14
            }
        }
    ),
    (
        .bytesLost,
        {
            $0.says {
                $0.typed = 13
                $0.lost = 1
            }
        }
    ),
    (.valuesBeforeEncryption, { $0.says { $0.early.refused = 3 } }),
    (.keysBeyondText, { $0.says { $0.allows = "escape leftctrl are declared" } }),
    (
        .beaconsWithoutRegions,
        {
            $0.watchesBeacons = true
            $0.says { $0.beacons = SystemFacts.Beacons() }
        }
    ),
    (.beaconsUnavailable, { $0.says { $0.beacons = beacons { $0.fault = "refused" } } }),
    (.beaconNotAdvertised, { $0.says { $0.beacons = beacons { $0.advertisingFault = "refused" } } }),
    (.noBeaconNear, { $0.says { $0.pause = BeaconText.gateOutside.message() } }),
    (.consoleIgnoresKeys, { $0.console?.keys = .off }),
    (.consoleLeaksKeys, { $0.console?.isGraphic = true }),
    (.oldInputDriver, { $0.oldInputDriver = "/var/log/Xorg.0.log" }),
    (.loginPromptInFront, { $0.loginPrompt = ProcessEntry(pid: 31, name: "agetty", virtualTerminal: 1) }),
    (.layoutDiffers, { $0.layoutDifferences = [LayoutDifference(meant: "z", given: "y")] }),
    (.kernelUnfit, { $0.kernel[.management] = .absent(nil) }),
    (.kernelLacks, { $0.kernel[.systemCallFilter] = .absent("Invalid argument") }),
    (.kernelQuirk, { $0.kernelVersion = debian("6.1.0-56-amd64", "6.1.192-2") }),
    (.kernelQuirkPossible, { $0.kernelVersion = debian("6.1.0-57-amd64", "6.1.193-1") }),
]

@Suite("The doctor")
struct DoctorTests {
    @Test("X-6: nothing is found if everything works")
    func nothing() throws {
        let findings = Doctor.findings(try healthy())
        #expect(findings.isEmpty)
        #expect(Doctor.status(findings) == .success)
        #expect(Doctor.object(findings).text == #"{"version":1,"status":0,"findings":[]}"#)
    }

    @Test("X-6: each cause is found, and no other", arguments: causes.indices)
    func oneCause(index: Int) throws {
        var facts = try healthy()
        causes[index].make(&facts)
        let findings = Doctor.findings(facts)
        #expect(findings.map(\.cause) == [causes[index].cause])
        let finding = try #require(findings.first)
        #expect(!finding.what.english.isEmpty && !finding.why.english.isEmpty && !finding.remedy.english.isEmpty)
        #expect(Doctor.status(findings) == finding.status)
        #expect((finding.severity == .note) == (finding.status == .success))
    }

    @Test("X-6: the test covers every cause that the doctor can report")
    func allCauses() {
        #expect(Set(causes.map(\.cause)) == Set(Finding.Cause.allCases))
        #expect(causes.count == Finding.Cause.allCases.count)
    }

    @Test("X-16: the doctor reports Xorg's driver evdev if it is used or the only one, but not with a queue of 64")
    func oldInputDriver() throws {
        let directory = try TestDirectory()
        let (logs, modules) = ([directory("none"), directory("log")], [directory("none"), directory("input")])
        func evidence() -> String? { InputDriver.evidenceOfEvdev(logs: logs, modules: modules) }
        func line(_ driver: String, _ device: String = "blewedge keyboard") -> String {
            "[    21.504] (II) Using input driver '\(driver)' for '\(device)'\n[    21.505] (**) Option\n"
        }
        #expect(evidence() == nil)
        try directory.write("", to: "input/evdev_drv.so")
        #expect(evidence() == directory("input/evdev_drv.so"))
        try directory.write("", to: "input/libinput_drv.so")
        #expect(evidence() == nil)
        try directory.write(line("libinput") + line("evdev", "Power Button"), to: "log/Xorg.0.log")
        try directory.write(line("evdev"), to: "log/Xorg.0.log.old")
        #expect(evidence() == nil)
        try directory.write(line("libinput") + line("evdev"), to: "log/Xorg.1.log")
        #expect(evidence() == directory("log/Xorg.1.log"))
        var facts = try healthy()
        facts.oldInputDriver = evidence()
        let finding = try #require(Doctor.findings(facts).first)
        #expect(finding.severity == .note && finding.what.english.contains("Xorg.1.log"))
        #expect(finding.remedy.english.contains("queue = 64"))
        facts.queue = .small
        #expect(Doctor.findings(facts).isEmpty)
    }

    @Test(
        "What a kernel lacks and something else does is no finding, and what nothing works without is the only one"
    )
    func kernel() throws {
        var facts = try healthy()
        for feature in KernelFeature.allCases where feature.weight == .replaced { facts.kernel[feature] = .absent(nil) }
        facts.kernel[.pairing] = .unknown(nil)
        #expect(Doctor.findings(facts).isEmpty)
        facts.kernel[.pairing] = .absent(nil)
        facts.kernel[.socketDrops] = .absent(nil)
        let note = try #require(Doctor.findings(facts).first)
        #expect(
            Doctor.findings(facts).map(\.cause) == [.kernelLacks] && note.severity == .note && note.status == .success
        )
        #expect(note.what.english == "this kernel lacks mgmt-pairing and socket-drops")
        #expect(note.remedy.english.hasPrefix("use a kernel that has it (3.14 and 4.12)"))
        facts.kernel[.pairing] = .present
        facts.kernel[.socketDrops] = .present
        facts.kernel[.epoll] = .absent("Function not implemented")
        facts.adapterFault = "no loop"
        facts.adapters = []
        let finding = try #require(Doctor.findings(facts).first)
        #expect(Doctor.findings(facts).map(\.cause) == [.kernelUnfit] && Doctor.status([finding]) == .unavailable)
        #expect(finding.what.english == "this kernel lacks epoll")
        #expect(finding.remedy.english == "use a kernel that has it (CONFIG_EPOLL)")
    }

    @Test("D-10: the exit status is 69, 77, 78 or 74 by the first finding that blocks, else by the first that hinders")
    func status() throws {
        var facts = try healthy()
        facts.loginPrompt = ProcessEntry(pid: 31, name: "agetty", virtualTerminal: 1)
        #expect(Doctor.status(Doctor.findings(facts)) == .configuration)
        facts.withoutService()
        facts.missingCapabilities = Capability.allCases
        let findings = Doctor.findings(facts)
        #expect(findings.map(\.cause) == [.capabilitiesMissing, .loginPromptInFront])
        #expect(Doctor.status(findings) == .permission)
        facts.adapters = []
        #expect(Doctor.status(Doctor.findings(facts)) == .unavailable)
    }

    @Test("The reason of a daemon whose Bluetooth is off is not told again where the cause itself is found")
    func consequences() throws {
        var facts = try healthy()
        facts.says { $0.state = .bluetoothOff }
        facts.adapters[0].isSoftBlocked = true
        facts.adapters[0].isPowered = false
        #expect(Doctor.findings(facts).map(\.cause) == [.rfkillSoft])
        facts.adapters[0].isHardBlocked = true
        #expect(Doctor.findings(facts).map(\.cause) == [.rfkillHard, .rfkillSoft])
    }

    @Test(
        "X-6: on a fresh machine, the missing adapter, permissions and selection are reported, but not the missing daemon"
    )
    func fresh() {
        var facts = SystemFacts()
        facts.missingCapabilities = Capability.allCases
        facts.uinput = .notPermitted
        let expected: [Finding.Cause] = [.noAdapter, .capabilitiesMissing, .uinputNotPermitted, .nothingSelected]
        #expect(Doctor.findings(facts).map(\.cause) == expected)
    }

    @Test("Missing permissions of this process are not reported if a service does the work")
    func service() throws {
        var facts = try healthy()
        facts.missingCapabilities = Capability.allCases
        facts.uinput = .notPermitted
        #expect(Doctor.findings(facts).isEmpty)
        facts.daemon = .none
        #expect(Doctor.findings(facts).map(\.cause) == [.daemonNotRunning])
        facts.service = nil
        #expect(Doctor.findings(facts).map(\.cause) == [.capabilitiesMissing, .uinputNotPermitted])
    }

    @Test("X-6: an adapter that is off is not reported before the daemon runs, because the daemon switches it on")
    func off() throws {
        var facts = try healthy()
        facts.withoutService()
        facts.adapters[0].isPowered = false
        #expect(Doctor.findings(facts).map(\.cause) == [.daemonNotRunning])
    }

    @Test("X-6: of several adapters the selected one is examined, by default the one with the lowest number")
    func selection() throws {
        var facts = try healthy()
        facts.adapters = [try adapter(1), try adapter(0)]
        facts.adapters[0].hasLowEnergy = false
        #expect(Doctor.findings(facts).isEmpty)
        facts.selector = .index(ControllerIndex(rawValue: 1))
        #expect(Doctor.findings(facts).map(\.cause) == [.adapterWithoutLowEnergy])
        facts.selector = .address(facts.adapters[1].address)
        #expect(Doctor.findings(facts).isEmpty)
    }

    @Test("X-6: the doctor uses the daemon's answer to `status`")
    func answer() throws {
        var bytes = Ledger.Snapshot()
        bytes.received = 20
        bytes.typed = 10
        bytes.discarded = 3
        bytes.rejections[Ledger.Rejection.tooShort.rawValue] = 2
        bytes.losses[Ledger.Loss.ringFull.rawValue] = 1
        bytes.losses[Ledger.Loss.tooOld.rawValue] = 2
        // Data that were discarded because the user disconnected need no repair.
        bytes.losses[Ledger.Loss.disconnected.rawValue] = 2
        var counts = KeyboardService.Counts()
        counts.values.notifications = 2
        (counts.values.early.refused, counts.values.early.longest) = (4, .microseconds(10_400))
        counts.bytes = bytes
        let daemon = DaemonStatus(
            state: .failed,
            reason: Reason("not heard", remedy: "bring it near"),
            since: .seconds(1),
            choice: .name("LINBLE-TEST"),
            device: nil,
            adapter: "hci0",
            keyboard: "/dev/input/event3",
            labels: DaemonLabels(profile: "linble", layout: "jp", table: "linble", program: "test"),
            isPaused: true,
            gate: Reason("paused"),
            counts: counts,
            lastReceived: nil,
            rivals: [],
            choiceFault: Reason("garbled")
        )
        let answer = StatusAnswer(try JSONValue(Array(daemon.object.text.utf8)))
        let status = try #require(answer.flatMap(SystemFacts.Status.init))
        var expected = SystemFacts.Status(state: .failed, pid: ProcessFacts.number)
        expected.reason = "not heard"
        expected.remedy = "bring it near"
        expected.transport = .kernel(.index(ControllerIndex(rawValue: 0)))
        expected.adapter = "hci0"
        (expected.early.refused, expected.early.longest) = (4, 11)
        expected.device = "LINBLE-TEST"
        expected.layout = "jp"
        expected.eventNode = "/dev/input/event3"
        expected.choiceFault = "garbled"
        expected.pause = "paused"
        expected.received = 20
        expected.typed = 10
        expected.discarded = 5
        expected.lost = 3
        #expect(status == expected)
    }

    @Test(
        "D-41: the doctor names the adapter that delivers values before the encryption, and a time that allows them",
        arguments: [
            (nil, "", "early-reports = \"50ms\""), (0, ", at most 0 ms before", "early-reports = \"50ms\""),
            (50, ", at most 50 ms before", "early-reports = \"50ms\""),
            (51, ", at most 51 ms before", "early-reports = \"100ms\""),
            (1000, ", at most 1000 ms before", "early-reports = \"1000ms\""),
            (1001, ", at most 1001 ms before", "use another adapter"),
        ] as [(Int64?, String, String)]
    )
    func early(longest: Int64?, time: String, remedy: String) throws {
        var facts = try healthy()
        facts.says {
            $0.adapter = "hci1"
            ($0.early.refused, $0.early.longest) = (7, longest)
        }
        let finding = try #require(Doctor.findings(facts).first)
        #expect(finding.what.english.hasPrefix("adapter hci1: 7 values arrived before the link was encrypted" + time))
        #expect(finding.remedy.english.contains(remedy) && finding.remedy.text(.japanese) != finding.remedy.english)
        // The danger is told with the setting.
        #expect(finding.remedy.english.contains("attacker") == (longest != 1001))
        #expect(finding.severity == .hinders && finding.status == .inputOutput)
    }

    @Test("A daemon that has reported its status already is not asked again, and its layout counts")
    func knownDaemon() throws {
        let folder = FilePath(try TestDirectory().path)
        let paths = DaemonPaths(configuration: folder, state: folder, runtime: folder)
        var status = SystemFacts.Status(state: .connected, pid: ProcessFacts.number)
        status.layout = "jp"
        let facts = SystemFacts(at: [paths], adapter: nil, layout: nil, daemon: .running(status))
        #expect(facts.daemon == .running(status) && facts.layout == "jp")
        #expect(SystemFacts(at: [paths], adapter: nil, layout: nil).daemon == .none)
    }

    @Test("SW-2: the doctor checks the daemon's answer to `beacons status`: regions, radio, own beacon")
    func beaconAnswer() throws {
        let availability = BeaconAvailability(AdapterLoss.switchedOff("hci0"))
        var object = availability.members
        object.add("watched", ["a", "b"])
        object.add("advertisingFault", "refused")
        object.addForms(availability.forms)
        let answer = SystemFacts.Beacons(BeaconsAnswer(try JSONValue(Array(object.text.utf8))))
        #expect(answer.watched == 2 && answer.advertisingFault == "refused")
        #expect(answer.fault == availability.reason?.cause)
        var facts = try healthy()
        facts.watchesBeacons = true
        facts.says { $0.beacons = answer }
        #expect(Doctor.findings(facts).map(\.cause) == [.beaconsUnavailable, .beaconNotAdvertised])
        // A disabled radio explains both findings.
        facts.adapters[0].isSoftBlocked = true
        #expect(Doctor.findings(facts).map(\.cause) == [.rfkillSoft])
        facts.says { $0.beacons = SystemFacts.Beacons(BeaconsAnswer(.null)) }
        #expect(Doctor.findings(facts).map(\.cause) == [.rfkillSoft, .beaconsWithoutRegions])
    }

    @Test(
        "X-6: an answer without a state or a process id is ignored",
        arguments: [
            "{}", "[]", "7", #"{"state":"connected"}"#, #"{"state":"happy","pid":1}"#, #"{"state":7,"pid":1}"#,
            #"{"state":"lost","pid":99999999999}"#,
        ]
    )
    func brokenAnswer(text: String) throws {
        #expect(StatusAnswer(try JSONValue(Array(text.utf8))).flatMap(SystemFacts.Status.init) == nil)
    }

    @Test("X-6: counts that are negative, too large or not numbers count as 0 or are capped, and stop no program")
    func brokenCounts() throws {
        let text = #"""
            {"state":"connected","pid":1,"counts":{"received":-1,"typed":"x","discarded":9223372036854775807,
            "rejected":9223372036854775807,"ringFull":9223372036854775807,"tooOld":9223372036854775807,
            "writeFailed":9223372036854775807}}
            """#
        let status = try #require(StatusAnswer(try JSONValue(Array(text.utf8))).flatMap(SystemFacts.Status.init))
        #expect(status.received == 0 && status.typed == 0)
        #expect(status.discarded == UInt64.max - 1)
        #expect(status.lost == .max)
    }

    @Test("X-6: a daemon that does not answer is reported with its process id if known, and with a command to end it")
    func silent() throws {
        let commands: [(pid: Int32?, command: String)] = [
            (99, "kill -KILL 99"), (0, "systemctl restart blewedge"), (nil, "systemctl restart blewedge"),
        ]
        for (pid, command) in commands {
            var facts = try healthy()
            facts.daemon = .silent(pid: pid)
            #expect(Doctor.findings(facts).map(\.command) == [command])
            facts.service = nil
            #expect(Doctor.findings(facts).map(\.command) == [pid == 99 ? command : nil])
        }
    }

    @Test("X-6: a controller on an H4 stream needs no adapter of the kernel, and another output no keyboard")
    func otherEnds() throws {
        var facts = try healthy()
        facts.withoutService()
        facts.sockets = .unknown
        facts.adapters = []
        facts.kernel[.management] = .absent(nil)
        facts.kernelVersion = debian("6.1.0-56-amd64", "6.1.192-2")
        facts.uinput = .missing(.absent)
        facts.hasEventNodes = false
        facts.console?.keys = .off
        let all: [Finding.Cause] = [.kernelUnfit, .uinputMissing, .evdevMissing, .consoleIgnoresKeys, .kernelQuirk]
        #expect(Doctor.findings(facts).map(\.cause) == all)
        facts.use(try AdapterTransport("h4:unix:/run/line"), isKeyboard: true)
        #expect(
            Doctor.findings(facts).map(\.cause) == [.uinputMissing, .evdevMissing, .consoleIgnoresKeys]
        )
        facts.use(try AdapterTransport("h4:unix:/run/line"), isKeyboard: false)
        #expect(Doctor.findings(facts).map(\.cause) == [.daemonNotRunning])
        // A user channel has exclusive access to the kernel's adapter.
        facts.use(try AdapterTransport("user:hci7"), isKeyboard: false)
        #expect(!facts.usesKernelChannels && facts.selector == .index(ControllerIndex(rawValue: 7)))
        #expect(Doctor.findings(facts).map(\.cause) == [.kernelUnfit])
    }

    @Test("X-6: if no daemon runs, the remedy is this machine's command to start it")
    func startCommands() throws {
        var facts = try healthy()
        facts.withoutService()
        #expect(Doctor.findings(facts).map(\.command) == ["blewedge setup"])
        facts.hasManager = false
        #expect(Doctor.findings(facts).map(\.command) == ["blewedge run"])
        facts.service = .openrc
        #expect(Doctor.findings(facts).map(\.command) == ["rc-service blewedge start"])
    }

    @Test("X-6, LK-15: the finding about an unsupported device contains the daemon's reason and remedy")
    func unsupported() throws {
        var facts = try healthy()
        facts.says {
            $0.state = .unsupported
            $0.reason = "it is a Bluetooth keyboard (HID)"
            $0.remedy = "set it to its serial mode"
        }
        let finding = try #require(Doctor.findings(facts).first)
        #expect(finding.cause == .deviceUnsupported && finding.status == .configuration)
        #expect(finding.what.english == "LINBLE-TEST is not supported: it is a Bluetooth keyboard (HID)")
        #expect(finding.remedy.english == "set it to its serial mode" && finding.command == nil)
    }

    @Test("X-6: if uinput is missing, the remedy is the one for this machine")
    func modules() throws {
        let commands: [(ModuleState, String?)] = [
            (.loadable, "modprobe uinput"), (.unknown, "modprobe uinput"), (.absent, nil),
            (.loaded, "mknod /dev/uinput c 10 223"),
        ]
        for (state, command) in commands {
            var facts = try healthy()
            facts.uinput = .missing(state)
            let finding = try #require(Doctor.findings(facts).first)
            #expect(finding.cause == .uinputMissing)
            #expect(finding.command == command)
        }
    }

    @Test("X-6: as text, a finding has cause, effect and fix; as JSON, it is one object with id and status")
    func texts() {
        let finding = Finding(.rfkillSoft, .unavailable, of: "hci0", command: "rfkill unblock bluetooth")
        #expect(
            finding.text(.english) == """
                blocks: hci0 is blocked by rfkill (soft) [rfkill-soft]
                  effect: the kernel does not power on a blocked adapter
                  fix: unblock it; systemd-rfkill keeps the setting across reboots
                    rfkill unblock bluetooth

                """
        )
        let object =
            #"{"id":"rfkill-soft","severity":"blocks","status":69,"what":"hci0 is blocked by rfkill (soft)","#
            + #""why":"the kernel does not power on a blocked adapter","#
            + #""remedy":"unblock it; systemd-rfkill keeps the setting across reboots","#
            + #""command":"rfkill unblock bluetooth"}"#
        #expect(finding.object.text == object)
        #expect(Doctor.object([finding]).text == #"{"version":1,"status":69,"findings":[\#(object)]}"#)
    }

    @Test("A hostile device name cannot control a terminal or become part of a command")
    func hostileName() throws {
        var facts = try healthy()
        facts.says {
            $0.state = .unsupported
            $0.device = "x\u{1B}[2J; rm -rf ~ #"
            $0.reason = "a\u{9B}b\nc"
        }
        let finding = try #require(Doctor.findings(facts).first)
        #expect(finding.command == nil)
        #expect(
            !finding.text(.english).unicodeScalars.contains {
                $0.value < 0x20 && $0 != "\n" || (0x7F...0x9F).contains($0.value)
            }
        )
        #expect(finding.text(.english).split(separator: "\n").count == 3)
    }
}
