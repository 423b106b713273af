// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Daemon
import Testing

@Suite("Hooks")
struct HookTests {
    @Test("One command at a time; what happens meanwhile is joined by its kind and counted")
    func oneAtATime() {
        var queue = HookQueue()
        #expect(queue.next(now: .zero) == nil)
        queue.add(HookNotice(.connect))
        #expect(queue.next(now: .zero) == HookNotice(.connect))
        #expect(queue.deadline == HookQueue.timeLimit)
        for _ in 0..<1000 { queue.add(HookNotice(.received, count: 2, length: 14)) }
        #expect(queue.next(now: .seconds(1)) == nil)
        #expect(!queue.isIdle)
        queue.ended()
        #expect(queue.next(now: .seconds(2)) == HookNotice(.received, count: 2000, length: 14_000))
        queue.ended()
        #expect(queue.next(now: .seconds(3)) == nil)
        #expect(queue.isIdle)
    }

    @Test("The last notice of the link says how the link stands, however often it changed")
    func lastLinkState() {
        for last in [HookNotice.Occasion.connect, .disconnect] {
            var queue = HookQueue()
            queue.add(HookNotice(.received))
            _ = queue.next(now: .zero)
            for _ in 0..<3 {
                queue.add(HookNotice(.disconnect, reason: "lost"))
                queue.add(HookNotice(.connect))
            }
            if last == .disconnect { queue.add(HookNotice(.disconnect, reason: "again")) }
            var seen: [HookNotice] = []
            queue.ended()
            while let notice = queue.next(now: .zero) {
                seen.append(notice)
                queue.ended()
            }
            #expect(seen.count == 2)
            #expect(seen.last?.occasion == last)
            #expect(seen.last?.reason == (last == .disconnect ? "again" : nil))
            #expect(seen.map(\.count).reduce(0, +) == (last == .disconnect ? 7 : 6))
        }
    }

    @Test("The command's environment has lengths and names, and counts that cannot overflow")
    func environment() {
        let address = BluetoothAddress("F0:F1:F2:F3:F4:F5")
        let device = address.map { DeviceAddress($0, .random) }
        var queue = HookQueue()
        queue.add(HookNotice(.received, count: .max, length: .max))
        queue.add(HookNotice(.received, count: 1, length: 14, device: device))
        let variables = queue.next(now: .zero)?.environment.map { "\($0.name)=\($0.value)" }
        #expect(
            variables == [
                "BLEWEDGE_EVENT=received", "BLEWEDGE_COUNT=\(Int.max)", "BLEWEDGE_LENGTH=\(Int.max)",
                "BLEWEDGE_ADDRESS=F0:F1:F2:F3:F4:F5", "BLEWEDGE_ADDRESS_TYPE=random",
            ]
        )
    }

    @Test("A notice has a variable for each thing that is known, and none for the others")
    func variables() {
        var notice = HookNotice(.disconnect, reason: "time-out")
        #expect(
            notice.environment.map { "\($0.name)=\($0.value)" } == [
                "BLEWEDGE_EVENT=disconnect", "BLEWEDGE_COUNT=1", "BLEWEDGE_LENGTH=0", "BLEWEDGE_REASON=time-out",
            ]
        )
        notice = HookNotice(.beaconEntered, count: 2)
        for code in ["A17C", nil] {
            notice.beacon = HookNotice.Beacon(region: "R", identity: "I", keyCode: code)
            var expected = [
                "BLEWEDGE_EVENT=beacon-entered", "BLEWEDGE_COUNT=2", "BLEWEDGE_LENGTH=0", "BLEWEDGE_REGION=R",
                "BLEWEDGE_BEACON=I",
            ]
            if let code { expected.append("BLEWEDGE_KEY_CODE=\(code)") }
            #expect(notice.environment.map { "\($0.name)=\($0.value)" } == expected)
        }
        #expect(HookNotice(.beaconLeft).environment.first?.value == "beacon-left")
    }

    @Test("Reports come at once and then ten times a second at most, and add up to all that was received")
    func meter() {
        var meter = ReceivedMeter()
        var reports: [ReceivedMeter.Report] = []
        #expect(meter.deadline == nil)
        for millisecond in 0..<1000 {
            let now = Duration.milliseconds(5000 + millisecond)
            meter.add(3)
            if let report = meter.take(now: now) { reports.append(report) }
        }
        #expect(reports.first == ReceivedMeter.Report(values: 1, bytes: 3))
        #expect(reports.count == 10)
        #expect(meter.deadline == .milliseconds(6000))
        if let rest = meter.takeAll(now: .seconds(6)) { reports.append(rest) }
        #expect(reports.map(\.values).reduce(0, +) == 1000)
        #expect(reports.map(\.bytes).reduce(0, +) == 3000)
        #expect(meter.takeAll(now: .seconds(7)) == nil)
        #expect(meter.deadline == nil)
    }
}
