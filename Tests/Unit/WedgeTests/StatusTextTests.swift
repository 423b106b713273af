// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothPackets
import Keystrokes
import LinuxIO
import Testing
import Texts
import TextsSupport

@testable import Control
@testable import Daemon
@testable import Devices
@testable import Link

@Suite("Status for people")
struct StatusTextTests {
    private func value(_ text: String) throws(JSONValue.Fault) -> JSONValue { try JSONValue(Array(text.utf8)) }

    @Test(
        "Status for people: the state in the first line, then all else in its order, counts only where they count"
    )
    func lines() throws {
        let answer = try value(
            """
            {"ok":true,"version":1,"state":"lost","reason":"time-out","device":"A","selection":{"name":"A\\u001b[2J","address":"F0"},\
            "paused":false,"counts":{"received":12,"typed":0,"tooShort":2},"lastReceived":null,"causes":[],"pid":7}
            """
        )
        #expect(
            StatusText.lines(answer, in: .english) == [
                "the link to A was lost: time-out; reconnecting in 3 s", "  selection  name A\u{FFFD}[2J, address F0",
                "  paused     no",
                "  counts     received 12, too short 2", "  pid        7",
            ]
        )
        #expect(
            StatusText.lines(try value(#"{"state":"newer","seconds":1}"#), in: .english) == ["newer", "  seconds  1"]
        )
        let later = try value(#"{"state":"newer","seconds":2,"last":{"secondsAgo":3,"length":4}}"#)
        #expect(StatusText.lasting(later) == (try value(#"{"state":"newer","last":{"length":4}}"#)))
        #expect(StatusText.lines(.array([])) == [])
        #expect(StatusText.lines(.object([]), in: .english) == ["unknown"])
    }

    @Test("LK-25, D-6: status shows the time and length of the last received data")
    func lastReceived() throws {
        let answer = try value(#"{"state":"newer","lastReceived":{"secondsAgo":3,"length":14}}"#)
        #expect(StatusText.lines(answer) == ["newer", "  last received  seconds ago 3, length 14"])
    }

    @Test(
        "LK-25: status shows the time within the first second too; it shows measurements and times that are zero, but not counters"
    )
    func zeros() throws {
        let answer = try value(
            """
            {"state":"newer","lastReceived":{"secondsAgo":0,"length":14},"link":{"seconds":0,"latency":0},\
            "counts":{"received":14,"typed":0,"check":{"compared":1,"differing":0}},"readers":[{"lost":0,"sent":3}]}
            """
        )
        let english = StatusText.lines(answer, in: .english).map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            english == [
                "newer", "last received seconds ago 0, length 14", "link seconds 0, latency 0",
                "counts received 14, check compared 1", "clients sent 3",
            ]
        )
    }

    @Test("Each counter of the radio and of the links has its own member in the status")
    func counters() {
        var radio = RadioCounts()
        radio.opened = 1
        radio.moved = 2
        radio.lost = 3
        radio.restarts = 4
        radio.armed = 5
        radio.quiet = 6
        radio.disturbed = 7
        radio.failedScans = 8
        radio.rebuiltSockets = 9
        radio.failedAttempts = 10
        radio.stalledConnections = 11
        radio.controllers.crossedLinks = 12
        radio.overdue = 13
        radio.cancelledAttempts = 14
        radio.resumed = 15
        radio.controllers.probes = 16
        radio.controllers.repeatedResets = 17
        radio.controllers.repeatedConnections = 18
        radio.controllers.droppedBytes = 19
        radio.controllers.grantedParameters = 20
        radio.controllers.refusedParameters = 21
        radio.controllers.badFrames = 22
        let members = [
            "adapterOpened", "adapterMoved", "adapterLost", "adapterRestarted", "scanArmed", "scanQuiet",
            "scanDisturbed", "scanFailed", "socketsRebuilt", "attemptsFailed", "connectionsStalled", "linksCrossed",
            "stepsOverdue", "attemptsCancelled", "resumed", "controllerProbes", "resetsRepeated",
            "connectionsRepeated", "bytesBeforeReset", "parametersGranted", "parametersRefused", "framesBroken",
        ]
        let radioText = members.enumerated().map { #""\#($1)":\#($0 + 1)"# }.joined(separator: ",")
        #expect(JSONObject(radio).text == "{\(radioText)}")

        var links = LinkCounts()
        for (number, end) in LinkCounts.End.allCases.enumerated() {
            for _ in 0...number {
                links.begin()
                links.end(end)
                links.end(.failed)
            }
        }
        let linkText = LinkCounts.End.allCases.enumerated().map { #""\#($1)":\#($0 + 1)"# }.joined(separator: ",")
        #expect(links.object.text == #"{"ready":36,\#(linkText)}"#)
    }

    @Test("What status tells of the link and the radio has a name in both languages, and no member is unnamed")
    func links() throws {
        var facts = LinkFacts(age: .seconds(61), notifications: 5, mtu: 247, quality: LinkQuality(rssi: -60))
        facts.quality.timing = ConnectionTiming(interval: 24, latency: 2, supervisionTimeout: 400)
        facts.quality.phy = .fast
        facts.quality.dataLength = 251
        var radio = RadioCounts()
        radio.controllers.probes = 1
        radio.controllers.repeatedResets = 2
        radio.controllers.repeatedConnections = 3
        radio.controllers.droppedBytes = 4
        radio.controllers.grantedParameters = 5
        radio.controllers.refusedParameters = 6
        var status = DaemonStatus(
            state: .connected,
            since: .zero,
            labels: DaemonLabels(profile: "p", layout: "l", table: "t", program: "v"),
            isPaused: false,
            counts: KeyboardService.Counts(),
            rivals: []
        )
        status.link = facts
        status.radio = radio
        let answer = try value(status.object.text)
        let english = StatusText.lines(answer, in: .english).map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            english.contains(
                "link signal (dBm) -60, seconds 61, notifications 5, MTU 247, "
                    + "security none: identity not verified, PHY 2, longest packet 251, "
                    + "interval (us) 30000, latency 2, time-out (ms) 4000"
            )
        )
        #expect(
            english.contains(
                "radio controller probed 1, resets repeated 2, connections retried immediately 3, "
                    + "bytes dropped before the reset response 4, connection parameter requests accepted 5, connection parameter requests rejected 6"
            )
        )
        status.allows = AllowanceText.typed.message("f9")
        let allowing = StatusText.lines(try value(status.object.text), in: .japanese)
        #expect(allowing.contains { $0.contains("受信データが f9 を押します") })
        let japanese = StatusText.lines(answer, in: .japanese)
        for name in ["link", "links", "radio"] {
            guard case .object(let members)? = answer[name] else {
                Issue.record("\(name)")
                continue
            }
            for (member, _) in members { #expect(LabelText(rawValue: member) != nil, "\(member)") }
        }
        #expect(japanese.contains { $0.contains("信号強度(dBm) -60") && $0.contains("監視タイムアウト(ms) 4000") })
        #expect(LinkCounts.End.allCases.allSatisfy { LabelText(rawValue: "\($0)") != nil })
        #expect(Ledger.Rejection.allCases.allSatisfy { LabelText(rawValue: "\($0)") != nil })
        #expect(Ledger.Loss.allCases.allSatisfy { LabelText(rawValue: "\($0)") != nil })
    }

    @Test("LK-24: status shows the state and all other parts in both languages")
    func languages() throws {
        let answer = try JSONValue(
            Array(
                #"""
                {"ok":true,"version":1,"state":"lost","reason":"time-out","device":"L\u0007","seconds":3,"gate":"open",
                "paused":false,"counts":{"received":7,"typed":7,"lost":0,"ringFull":0},"news":"x","newThing":1,
                "rivals":[]}
                """#.utf8
            )
        )
        #expect(
            StatusText.lines(answer, in: .english) == [
                "the link to L\u{FFFD} was lost: time-out; reconnecting in 3 s",
                "  seconds    3", "  gate       open", "  paused     no",
                "  counts     received 7, typed 7", "  news       x", "  new thing  1",
            ]
        )
        let japanese = StatusText.lines(answer, in: .japanese)
        #expect(japanese.first == "接続が切れました: L\u{FFFD}: time-out; 切断から3秒後に再接続を試みます")
        #expect(japanese.contains("  経過秒数   3") && japanese.contains("  バイト数   受信 7, 入力 7"))
        let unknown = try JSONValue(Array(#"{"ok":true,"state":"asleep"}"#.utf8))
        #expect(StatusText.lines(unknown, in: .english) == ["asleep"])
    }

    @Test("A client reads each member of the answer as the daemon has it")
    func readBack() throws {
        var counts = KeyboardService.Counts()
        counts.values.notifications = 7
        let address = BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5)
        let kept = SelectedDevice(DeviceAddress(address, .public), name: "A\u{1B}B")
        let daemon = DaemonStatus(
            state: .failed,
            reason: Reason("not heard", remedy: "bring it near"),
            since: .seconds(61),
            choice: .kept(kept),
            device: DeviceAddress(address, .random),
            adapter: "hci0",
            keyboard: "/dev/input/event3",
            labels: DaemonLabels(profile: "p", layout: "l", table: "t", program: "v"),
            isPaused: true,
            gate: Reason("paused", remedy: "resume"),
            counts: counts,
            lastReceived: (ago: .zero, length: 14),
            rivals: ["bluetoothd (process 7)"],
            choiceFault: Reason("garbled", remedy: "select it again")
        )
        let answer = try #require(StatusAnswer(try value(daemon.object.text)))
        #expect(answer.state == .failed && answer.seconds == 61 && answer.process == ProcessFacts.number)
        #expect(answer.reason == daemon.reason && answer.gate == daemon.gate)
        #expect(answer.choiceFault == daemon.choiceFault)
        // A name contains no control characters for the terminal.
        #expect(answer.device == LocalName.printable("A\u{1B}B") && answer.selection == kept)
        #expect(answer.adapter == "hci0" && answer.keyboard == "/dev/input/event3" && !answer.hasReaders)
        #expect([answer.profile, answer.layout, answer.table] == ["p", "l", "t"] && answer.allows == nil)
        #expect(answer.isPaused && !answer.isTyping && answer.rivals == daemon.rivals)
        #expect(answer.lastReceived?.ago == 0 && answer.lastReceived?.length == 14)
        #expect(answer.count("notifications") == 7 && answer.count("typed") == 0 && answer.count("none") == 0)
    }
}
