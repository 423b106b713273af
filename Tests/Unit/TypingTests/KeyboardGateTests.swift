// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Glibc
import Keystrokes
import SystemPackage
import TestSupport
import Testing
import Texts

@testable import LinuxIO
@testable import Typing

@Suite("What opens and closes a keyboard's gate", .timeLimit(.minutes(5)))
struct KeyboardGateTests {
    /// Owner of the end for expected events.
    private final class Pen {
        var writer: ExpectedEvents.Writer

        init(_ writer: consuming ExpectedEvents.Writer) { self.writer = writer }
    }

    #if DEBUG
        @Test(
            "The gate is open while the terminal is in front, nothing is paused, and a beacon is near; changes are told once"
        )
        func changes() throws {
            let directory = try TestDirectory()
            func show(_ text: String) throws { try directory.write(text, to: "active") }
            try show("tty1\n")
            // A regular file cannot be watched: the changes are read by the test.
            CallScript.use { $0.call == .epollAdd && $0.kind == .loop ? .result(0) : nil }
            defer { CallScript.use(nil) }
            let loop = try EventLoop()
            let gate = try KeyboardGate(terminal: 2, shownBy: directory("active"), on: loop)
            var told: [String] = []
            gate.onChange = { told.append($0 ? "open" : "closed") }
            gate.onFront = { told.append("front") }
            let steps: [(() throws -> Void, told: [String], cause: String?, remedy: String?)] = [
                (
                    {}, [], "virtual terminal 1 is in the foreground, not 2",
                    "`chvt 2`, or change gate.vt in the configuration"
                ),
                ({ try show("tty2\n") }, ["open", "front"], nil, nil),
                ({}, [], nil, nil),
                ({ gate.isPaused = true }, ["closed"], "paused", "`blewedge resume`"),
                ({ gate.isPaused = true }, [], "paused", "`blewedge resume`"),
                ({ try show("tty3\n") }, [], "paused", "`blewedge resume`"),
                ({ try show("tty2\n") }, ["front"], "paused", "`blewedge resume`"),
                ({ gate.isPaused = false }, ["open"], nil, nil),
                (
                    { gate.isOutside = true }, ["closed"], "no beacon that opens the gate is nearby",
                    "move a beacon closer; `blewedge beacons status` shows the current regions"
                ),
                (
                    { try show("") }, [], "no virtual terminal is in the foreground; 2 is required",
                    "`chvt 2`, or change gate.vt in the configuration"
                ),
                (
                    { gate.isOutside = false }, [], "no virtual terminal is in the foreground; 2 is required",
                    "`chvt 2`, or change gate.vt in the configuration"
                ),
                ({ try show("tty2\n") }, ["open", "front"], nil, nil),
                (
                    { gate.isOutside = true }, ["closed"], "no beacon that opens the gate is nearby",
                    "move a beacon closer; `blewedge beacons status` shows the current regions"
                ),
                ({ gate.isOutside = false }, ["open"], nil, nil),
            ]
            for (number, (change, expected, cause, remedy)) in steps.enumerated() {
                told = []
                try change()
                gate.look()
                #expect(told == expected, "step \(number)")
                #expect(gate.isOpen == (cause == nil), "step \(number)")
                #expect(gate.reason?.cause.english == cause, "step \(number)")
                #expect(gate.reason?.remedy?.english == remedy, "step \(number)")
            }
            gate.end()
            told = []
            try show("tty1\n")
            gate.look()
            #expect(told == ["closed"])
        }
    #endif

    @Test("A gate without a terminal is open; where terminals cannot be watched, one that wants a terminal is an error")
    func terminals() throws {
        let loop = try EventLoop()
        let gate = try KeyboardGate(terminal: nil, on: loop)
        #expect(gate.isOpen && gate.reason == nil)
        #expect(throws: KeyboardError.noGate(terminal: 2, .noSuchFileOrDirectory)) {
            _ = try KeyboardGate(terminal: 2, shownBy: "/nonexistent", on: loop)
        }
        #expect(throws: Never.self) { try KeyboardGate.check(nil) }
    }

    @Test("The light of CapsLock is followed from one keyboard to the next, and no longer than the keyboard exists")
    func lights() throws {
        func pair() throws -> (Int32, Int32) {
            var ends: [Int32] = [-1, -1]
            let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
            return (ends[0], ends[1])
        }
        // `struct input_event`: the time, EV_LED, LED_CAPSL, and the state.
        func event(_ isOn: Bool) -> [UInt8] {
            [UInt8](repeating: 0, count: 16) + [0x11, 0, 1, 0, isOn ? 1 : 0, 0, 0, 0]
        }
        let loop = try EventLoop()
        let (first, keyboard) = try pair()
        _ = write(keyboard, event(true), 24)
        let watch = try LightWatch(KeyboardLights(Descriptor(owning: first, .keyboard)), on: loop)
        #expect(watch.capsLock.isOn)
        for isOn in [false, true] {
            _ = write(keyboard, event(isOn), 24)
            #expect(try loop.run { watch.capsLock.isOn == isOn })
        }
        let (second, other) = try pair()
        try watch.follow(KeyboardLights(Descriptor(owning: second, .keyboard)))
        #expect(!watch.capsLock.isOn)
        _ = write(keyboard, event(true), 24)
        _ = write(other, event(true), 24)
        #expect(try loop.run { watch.capsLock.isOn })
        close(keyboard)
        watch.end()
        _ = write(other, event(false), 24)
        var turns = 0
        #expect(
            try loop.run {
                turns += 1
                return turns == 3
            }
        )
        #expect(watch.capsLock.isOn)
        close(other)
    }

    @Test("Events are read back from the keyboard's node; after a difference, verification resumes when it is quiet")
    func verifier() throws {
        let directory = try TestDirectory()
        for name in ["a", "b"] { mkfifo(directory(name), 0o600) }
        let loop = try EventLoop()
        let meant = try ExpectedEvents()
        guard let taken = meant.takeWriter(), let reader = meant.takeReader() else {
            Issue.record("an end is missing")
            return
        }
        let pen = Pen(taken)
        func event(_ code: UInt8, _ value: UInt8) -> [UInt8] {
            [UInt8](repeating: 0, count: 16) + [1, 0, code, 0, value, 0, 0, 0]
        }
        let verifier = try Verifier(directory("a"), meant: reader, on: loop)
        var node = open(directory("a"), O_WRONLY)
        func type(_ expected: [UInt8], _ read: [UInt8]) {
            pen.writer.add(expected.span.bytes)
            _ = write(node, read, read.count)
        }
        type(event(30, 1), event(30, 1))
        #expect(verifier.counts == SelfCheck.Counts(verified: 1))
        type(event(30, 0), event(31, 0))
        #expect(verifier.counts == SelfCheck.Counts(verified: 1, differing: 1))
        // Until it is quiet, nothing is compared.
        let start = MonotonicClock.now
        type(event(32, 1), event(33, 1))
        #expect(try loop.run { MonotonicClock.now - start > .milliseconds(300) })
        type(event(34, 1), event(34, 1))
        #expect(verifier.counts == SelfCheck.Counts(verified: 2, differing: 1))
        // A new keyboard: what the old one did not report is not awaited.
        type(event(35, 1), [])
        try verifier.follow(directory("b"))
        close(node)
        node = open(directory("b"), O_WRONLY)
        defer { close(node) }
        type(event(36, 1), event(36, 1))
        #expect(verifier.counts == SelfCheck.Counts(verified: 3, differing: 1))
        #expect(throws: Errno.noSuchFileOrDirectory) { try verifier.follow(directory("c")) }
    }
}
