// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import Testing
import Typing

@Suite("The self-check")
struct SelfCheckTests {
    private let keystroke = [
        EventNode.Event(type: 1, code: 30, value: 1), EventNode.Event(type: 0, code: 0, value: 0),
        EventNode.Event(type: 1, code: 30, value: 0), EventNode.Event(type: 0, code: 0, value: 0),
    ]

    @Test("Expected events are verified over any number of keystrokes")
    func asMeant() {
        var check = SelfCheck()
        for _ in 0..<5000 {
            check.expect(keystroke)
            for event in keystroke { check.read(event) }
        }
        #expect(check.counts == SelfCheck.Counts(verified: 20_000, differing: 0, dropped: 0))
        #expect(check.outstanding == 0)
    }

    @Test("X-3: one altered event is detected, and verification resumes after a pause", arguments: 0..<4)
    func altered(index: Int) {
        var check = SelfCheck()
        check.expect(keystroke)
        var read = keystroke
        read[index].value += 1
        for event in read { check.read(event) }
        #expect(check.counts == SelfCheck.Counts(verified: UInt64(index), differing: 1, dropped: 0))
        #expect(check.needsQuiet)
        check.settle()
        check.expect(keystroke)
        for event in keystroke { check.read(event) }
        #expect(check.counts.verified == UInt64(index) + 4)
        #expect(check.counts.differing == 1)
    }

    @Test(
        "A light that changes is passed over, with its report and without, wherever it comes",
        arguments: 0...8
    )
    func lights(index: Int) {
        let light = EventNode.Event(type: 0x11, code: 1, value: 1)
        for hasReport in [true, false] {
            var check = SelfCheck()
            check.expect(keystroke + keystroke)
            var read = keystroke + keystroke
            // The kernel reports the end of a frame only once: if the light's report precedes ours, ours is dropped.
            let isBeforeReport = index < read.count && read[index] == .report
            read.insert(contentsOf: hasReport && !isBeforeReport ? [light, .report] : [light], at: index)
            for event in read { check.read(event) }
            #expect(check.counts == SelfCheck.Counts(verified: 8, differing: 0, dropped: 0))
        }
    }

    @Test("A report too many is found where no light changed, and the second one after a light that did")
    func reports() {
        var check = SelfCheck()
        check.read(.report)
        #expect(check.counts.differing == 1)
        check = SelfCheck()
        for event in [EventNode.Event(type: 0x11, code: 1, value: 0), .report, .report] { check.read(event) }
        #expect(check.counts.differing == 1)
    }

    @Test("X-3: an unexpected event is detected")
    func unexpected() {
        var check = SelfCheck()
        check.read(keystroke[0])
        #expect(check.counts.differing == 1)
    }

    @Test("X-3: dropped events are counted as dropped, and the remaining ones are not counted as different")
    func dropped() {
        var check = SelfCheck()
        check.expect(keystroke + keystroke)
        check.read(keystroke[0])
        check.read(.dropped)
        for event in keystroke.dropFirst(2) { check.read(event) }
        #expect(check.counts == SelfCheck.Counts(verified: 1, differing: 0, dropped: 1))
        check.settle()
        #expect(!check.needsQuiet)
        #expect(check.outstanding == 0)
    }

    @Test("Meant events cross to the other thread whole; one that finds no room is told")
    func crossing() throws {
        let meant = try ExpectedEvents()
        guard var writer = meant.takeWriter(), var reader = meant.takeReader() else {
            Issue.record("an end is missing")
            return
        }
        var bytes = [UInt8](repeating: 0, count: InputEvent.size)
        bytes[InputEvent.size - 8] = 1
        bytes[InputEvent.size - 6] = 30
        bytes[InputEvent.size - 4] = 1
        var events: [EventNode.Event] = []
        for _ in 0..<3 { writer.add(bytes.span.bytes) }
        var isWhole = reader.read(into: &events)
        #expect(isWhole)
        #expect(events == Array(repeating: keystroke[0], count: 3))
        events = []
        for _ in 0..<20_000 { writer.add(bytes.span.bytes) }
        isWhole = reader.read(into: &events)
        #expect(!isWhole)
        #expect(events.count == (1 << 18) / InputEvent.size)
        isWhole = reader.read(into: &events)
        #expect(isWhole)
    }
}
