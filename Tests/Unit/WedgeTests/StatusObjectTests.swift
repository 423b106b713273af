// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Devices
import Keystrokes
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts
import Typing

@testable import Daemon
@testable import Link

/// The whole answer to `status`, with a different number in each count.
@Suite("The members of a status", .virtualTime)
struct StatusObjectTests {
    private func bytes(from first: UInt64) -> Ledger.Snapshot {
        var bytes = Ledger.Snapshot()
        bytes.received = first
        bytes.typed = first + 1
        bytes.discarded = first + 2
        bytes.gated = first + 3
        bytes.waiting = first + 4
        bytes.withheld = first + 5
        bytes.rejections = (0..<6).map { first + 10 + $0 }
        bytes.losses = (0..<6).map { first + 20 + $0 }
        return bytes
    }

    private func text(from first: UInt64) -> String {
        #""received":\#(first),"typed":\#(first + 1),"discarded":\#(first + 2),"rejected":\#(6 * first + 75),"#
            + #""gated":\#(first + 3),"lost":\#(6 * first + 135),"waiting":\#(first + 4),"withheld":\#(first + 5),"#
            + #""untypable":\#(first + 10),"tooShort":\#(first + 11),"tooLong":\#(first + 12),"#
            + #""duplicate":\#(first + 13),"cut":\#(first + 14),"frame":\#(first + 15),"#
            + #""ringFull":\#(first + 20),"writeFailed":\#(first + 21),"tooOld":\#(first + 22),"#
            + #""disconnected":\#(first + 23),"switched":\#(first + 24),"undelivered":\#(first + 25)"#
    }

    private func readers(_ delivered: UInt64) -> OutputCounts {
        var counts = LineQueue.Counts()
        (counts.delivered, counts.missed) = (delivered, delivered + 1)
        return OutputCounts(
            readers: [(counts: counts, waiting: 7, isAttended: true), (counts: counts, waiting: 8, isAttended: false)],
            missedByGone: 3
        )
    }

    @Test("Every member has its own value, and the form to translate where it has one")
    func whole() {
        let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
        var counts = KeyboardService.Counts()
        counts.values.notifications = 1
        counts.values.stray = 2
        counts.values.tooLong = 3
        counts.values.refused = 4
        counts.values.dropped = 5
        counts.keyboardRemakes = 6
        counts.bytes = bytes(from: 1000)
        counts.check = SelfCheck.Counts(verified: 7, differing: 8, dropped: 9)
        counts.wire = readers(30)
        counts.outputs = [
            OutputAccount(name: "keyboard", isGated: true, policy: nil, bytes: bytes(from: 2000), readers: nil),
            OutputAccount(
                name: "unix:/a",
                isGated: false,
                policy: "wait",
                bytes: bytes(from: 3000),
                readers: readers(40)
            ),
        ]
        var facts = LinkFacts(age: .seconds(11), notifications: 12, mtu: 247, quality: LinkQuality(rssi: -60))
        facts.security = GATTLinkSecurity(level: .encrypted)
        facts.security.keySize = 16
        facts.quality.timing = ConnectionTiming(interval: 24, latency: 2, supervisionTimeout: 400)
        facts.quality.phy = .fast
        facts.quality.dataLength = 251
        var beacons = JSONObject()
        beacons.add("inside", 1)
        let status = DaemonStatus(
            state: .connected,
            reason: Reason(ReasonText.paused.message(), remedy: RemedyText.resume.message()),
            since: .seconds(61),
            choice: .kept(SelectedDevice(device, name: "A")),
            requiredSecurity: .encrypted,
            device: device,
            adapter: "hci0",
            keyboard: "/dev/input/event3",
            labels: DaemonLabels(profile: "p", layout: "l", table: "t", program: "v"),
            isPaused: true,
            gate: Reason(ReasonText.paused.message(), remedy: RemedyText.resume.message()),
            counts: counts,
            link: facts,
            lastReceived: (ago: .seconds(13), length: 14),
            rivals: ["bluetoothd (process 7)"],
            choiceFault: Reason(ReasonText.paused.message(), remedy: RemedyText.resume.message()),
            allows: AllowanceText.typed.message("f9"),
            beacons: beacons
        )
        let since = WallClock.universal(WallClock.seconds - 61)
        let allows = AllowanceText.typed.message("f9")
        let (paused, resume) = (
            ReasonText.paused.message().form?.text ?? "", RemedyText.resume.message().form?.text ?? ""
        )
        let reader = { (delivered: Int, waiting: Int) in
            #"{"delivered":\#(delivered),"missed":\#(delivered + 1),"waiting":\#(waiting)}"#
        }
        let both = { (delivered: Int) in "[" + reader(delivered, 7) + "," + reader(delivered, 8) + "]" }
        let expected: [String] = [
            #""state":"connected","reason":"paused","remedy":"`blewedge resume`","since":"\#(since)","seconds":61"#,
            #""device":"A","address":"F0:F1:F2:F3:F4:F5","addressType":"random""#,
            #""selection":\#(JSONObject(SelectedDevice(device, name: "A")).text),"requiredSecurity":"encrypted""#,
            #""adapter":"hci0","keyboard":"/dev/input/event3","profile":"p","layout":"l","table":"t""#,
            #""allows":"\#(allows.english)","paused":true,"gate":"closed","gateReason":"paused""#,
            #""gateRemedy":"`blewedge resume`","counts":{"notifications":1,\#(text(from: 1000)),"dropped":5,"stray":2"#,
            #""oversized":3,"refused":4,"keyboardRemakes":6,"missed":65,"verified":7,"differing":8,"readerDropped":9}"#,
            #""link":{"rssi":-60,"seconds":11,"notifications":12,"mtu":247,"security":"encrypted","keySize":16,"phy":2"#,
            #""packetBytes":251,"intervalMicroseconds":30000,"latency":2,"timeoutMilliseconds":4000}"#,
            #""links":\#(LinkCounts().object.text),"radio":\#(JSONObject(RadioCounts()).text),"readers":\#(both(30))"#,
            #""outputs":[{"to":"keyboard","followsGate":true,"counts":{\#(text(from: 2000))}}"#,
            #"{"to":"unix:/a","followsGate":false,"slowReader":"wait","counts":{\#(text(from: 3000)),"missed":85}"#,
            #""readers":\#(both(40))}],"lastReceived":{"secondsAgo":13,"length":14},"beacons":{"inside":1}"#,
            #""rivals":["bluetoothd (process 7)"],"selectionFault":"paused","selectionRemedy":"`blewedge resume`""#,
            #""texts":{"reason":\#(paused),"remedy":\#(resume),"allows":\#(allows.form?.text ?? "")"#,
            #""gateReason":\#(paused),"gateRemedy":\#(resume),"selectionFault":\#(paused)"#,
            #""selectionRemedy":\#(resume)},"pid":\#(ProcessFacts.number),"name":"blewedge","program":"v""#,
        ]
        #expect(status.object.text == "{" + expected.joined(separator: ",") + "}")
    }

    @Test("Members without a value are left out, and those of one output too")
    func least() {
        let status = DaemonStatus(
            state: .unselected,
            since: .zero,
            labels: DaemonLabels(profile: "p", layout: "l", table: "t", program: "v"),
            isPaused: false,
            counts: KeyboardService.Counts()
        )
        let counts = Ledger.Snapshot().object.text.dropFirst().dropLast()
        let expected: [String] = [
            #""state":"unselected","since":"\#(WallClock.universal(WallClock.seconds))","seconds":0,"profile":"p""#,
            #""layout":"l","table":"t","paused":false,"gate":"open","counts":{"notifications":0,\#(counts),"dropped":0"#,
            #""stray":0,"oversized":0,"refused":0,"keyboardRemakes":0},"links":\#(LinkCounts().object.text)"#,
            #""radio":\#(JSONObject(RadioCounts()).text),"pid":\#(ProcessFacts.number),"name":"blewedge","program":"v""#,
        ]
        #expect(status.object.text == "{" + expected.joined(separator: ",") + "}")
    }

    @Test("The end of a link is counted by its cause")
    func ends() {
        let cases: [(LinkFailure, LinkCounts.End)] = [
            (.system(.connectionReset), .endedByDevice), (.closedByPeer, .endedByDevice),
            (.system(.timedOut), .outOfReach), (.timedOut(.seconds(1)), .outOfReach), (.notEstablished, .outOfReach),
            (.bearer(.transactionTimeout(.readRequest)), .protocolBroken), (.notSecured, .notSecured),
            (.adapterLost("x"), .withAdapter), (.system(.ioError), .failed), (.refused("a", "b"), .failed),
        ]
        for (failure, end) in cases { #expect(LinkCounts.End(failure) == end, "\(failure)") }
        #expect(
            [LinkFailure.closedByPeer, .system(.connectionReset), .notSecured].map(\.isHangUp) == [true, true, false]
        )
    }

    @Test("Links are counted once each by the first cause of their end, which is a member of its own")
    func linkCounts() {
        var counts = LinkCounts()
        #expect(integersOtherThanZero(in: counts).isEmpty)
        for (place, end) in LinkCounts.End.allCases.enumerated() {
            for _ in 0...place {
                counts.begin()
                counts.end(end)
                counts.end(.endedByDevice)
            }
        }
        #expect(
            counts.object.text == #"{"ready":36,"endedByDevice":1,"outOfReach":2,"protocolBroken":3,"flooded":4,"#
                + #""notSecured":5,"withAdapter":6,"endedHere":7,"failed":8}"#
        )
    }

    @Test("All counts of values, of lines and of a simulated module begin at zero")
    func zeros() {
        #expect(integersOtherThanZero(in: ValueCounts()).isEmpty)
        #expect(integersOtherThanZero(in: LineQueue.Counts()).isEmpty)
        #expect(integersOtherThanZero(in: SimulatedModule.Counts()).isEmpty)
        #expect(LineQueue(.dropNewest).waiting == 0)
    }
}
