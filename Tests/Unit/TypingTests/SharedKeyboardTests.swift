// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import Synchronization
import TestSupport
import Testing
import Typing

extension Duration {
    fileprivate var inMilliseconds: Int64 { Int64(self / .milliseconds(1)) }
}

@Suite("Several devices on one keyboard", .timeLimit(.minutes(10)))
struct SharedKeyboardTests {
    static let paces: [Pace.Profile] = [.console, .desktop, .slow]

    private func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// Expects that the lines are the barcodes, and those of each lane in their order.
    private func check(_ bench: SharedBench, _ barcodes: [[String]]) {
        let text = bench.devices.texts
        #expect(text.count == 1 && text[0].hasSuffix("\n"))
        let lines = lines(text[0])
        #expect(lines.count == barcodes.joined().count)
        for (lane, expected) in barcodes.enumerated() {
            #expect(lines.filter { $0.hasPrefix("\(lane).") } == expected, "lane \(lane)")
        }
        #expect(bench.devices.all.withLock { $0 }.allSatisfy { $0.overlaps.load(ordering: .relaxed) == 0 })
        for keyboard in bench.keyboards {
            let bytes = keyboard.bytes
            #expect(bytes.received == bytes.typed && bytes.waiting == 0 && keyboard.cutTurns == 0)
            #expect(keyboard.check == nil)
        }
    }

    #if DEBUG
        @Test(
            "D-42: the barcodes of eight lanes come out whole and in order",
            arguments: paces,
            [false, true]
        )
        func whole(pace: Pace.Profile, isScanMode: Bool) throws {
            for seed in 0..<2 {
                try SharedBench.inVirtualTime {
                    var generator = SeededGenerator(seed: UInt64(0xD42 + seed))
                    let rules = isScanMode ? try BarcodeRules() : nil
                    let bench = try SharedBench(.init(pace: pace, barcodes: rules))
                    let barcodes = SharedBench.barcodes(lanes: 8, count: 12, using: &generator)
                    try bench.receive(barcodes, using: &generator)
                    check(bench, barcodes)
                    try bench.stop()
                }
            }
        }

        @Test("D-42: without turns, the barcodes of eight lanes are mixed")
        func mixed() throws {
            try SharedBench.inVirtualTime {
                var generator = SeededGenerator(seed: 0xD42)
                let bench = try SharedBench(.init(pace: .slow, isShared: false))
                let barcodes = SharedBench.barcodes(lanes: 8, count: 12, using: &generator)
                try bench.receive(barcodes, using: &generator)
                let whole = Set(barcodes.joined())
                #expect(lines(bench.devices.texts[0]).contains { !whole.contains($0) })
                #expect(bench.keyboards.allSatisfy { $0.cutTurns == 0 })
                try bench.stop()
            }
        }
    #endif

    @Test("D-42: whole barcodes stay whole in real time too, from the receiving thread and the typing threads")
    func realTime() throws {
        var generator = SeededGenerator(seed: 0xD42)
        let bench = try SharedBench(.init(barcodes: try BarcodeRules()))
        let barcodes = SharedBench.barcodes(lanes: 8, count: 20, using: &generator)
        try bench.receive(barcodes, using: &generator)
        check(bench, barcodes)
        try bench.stop()
    }

    @Test("D-42: a text without a terminator is cut for a barcode that waits, and the cut is counted")
    func cut() throws {
        try SharedBench.inVirtualTime {
            let bench = try SharedBench(.init(lanes: 2, pace: .desktop))
            let text = String(repeating: "x", count: 700)
            bench.receive(0, text)
            #expect(try bench.until { bench.typed(0) > 20 })
            bench.receive(1, "12345\r")
            #expect(try bench.until { bench.typed(0) == 700 && bench.typed(1) == 6 })
            let typed = bench.devices.texts[0]
            #expect(typed.contains("x12345\nx") && typed.filter { $0 == "x" } == text)
            #expect(bench.keyboards.map(\.cutTurns) == [1, 0])
            try bench.stop()
        }
    }

    #if DEBUG
        @Test("D-42: a text without a terminator gives way 100 ms after its last byte; that is no cut")
        func gap() throws {
            try SharedBench.inVirtualTime {
                let bench = try SharedBench(.init(lanes: 2))
                bench.receive(0, "abc")
                #expect(try bench.until { bench.typed(0) == 3 })
                let begin = MonotonicClock.now
                bench.receive(1, "1\r")
                #expect(try bench.until { bench.typed(1) == 2 })
                #expect((90...110).contains((MonotonicClock.now - begin).inMilliseconds))
                bench.receive(0, "def\r")
                #expect(try bench.until { bench.typed(0) == 7 })
                #expect(bench.devices.texts == ["abc1\ndef\n"] && bench.keyboards.allSatisfy { $0.cutTurns == 0 })
                try bench.stop()
            }
        }

        @Test("D-42: a lane that waits is woken when the turn ends, at its end and by a cut")
        func wakeUp() throws {
            try SharedBench.inVirtualTime {
                let bench = try SharedBench(.init(lanes: 2))
                bench.receive(0, "abc")
                #expect(try bench.until { bench.typed(0) == 3 })
                bench.receive(1, "1\r")
                try bench.run(for: .milliseconds(30))
                #expect(bench.typed(1) == 0)
                var begin = MonotonicClock.now
                bench.receive(0, "d\r")
                #expect(try bench.until { bench.typed(1) == 2 })
                #expect(MonotonicClock.now - begin <= .milliseconds(10))
                // One byte every 20 ms; the cut is due 250 ms after the other lane began to wait.
                for number in 0..<30 {
                    _ = bench.loop.schedule(at: MonotonicClock.now + .milliseconds(20 * number)) {
                        bench.receive(0, "x")
                    }
                }
                try bench.run(for: .milliseconds(100))
                begin = MonotonicClock.now
                bench.receive(1, "2\r")
                #expect(try bench.until { bench.typed(1) == 4 })
                #expect((245...275).contains((MonotonicClock.now - begin).inMilliseconds))
                #expect(try bench.until { bench.typed(0) == 35 })
                #expect(bench.keyboards.map(\.cutTurns) == [1, 0])
                try bench.stop()
            }
        }

        @Test("D-42: a turn of 512 keystrokes is cut as soon as another lane waits")
        func keystrokes() throws {
            try SharedBench.inVirtualTime {
                let bench = try SharedBench(.init(lanes: 2))
                bench.receive(0, String(repeating: "x", count: 520))
                #expect(try bench.until { bench.typed(0) == 520 })
                bench.receive(1, "1\r")
                try bench.run(for: .milliseconds(20))
                bench.receive(0, "y")
                #expect(try bench.until { bench.typed(0) == 521 && bench.typed(1) == 2 })
                #expect(bench.devices.texts[0].hasSuffix("x1\ny") && bench.keyboards.map(\.cutTurns) == [1, 0])
                try bench.stop()
            }
        }

        @Test("D-42: a cut does not separate Shift from its key", arguments: [0, 10, 20])
        func heldShift(delay: Int) throws {
            try SharedBench.inVirtualTime {
                let bench = try SharedBench(.init(lanes: 2, pace: .slow))
                let text = String(repeating: "X", count: 100)
                bench.receive(0, text)
                #expect(try bench.until { bench.typed(0) == 5 })
                try bench.run(for: .milliseconds(delay))
                bench.receive(1, "12\r")
                #expect(try bench.until { bench.typed(0) == 100 && bench.typed(1) == 3 })
                let typed = bench.devices.texts[0]
                #expect(typed.contains("X12\nX") && typed.filter { $0 == "X" } == text)
                #expect(bench.keyboards.map(\.cutTurns) == [1, 0])
                try bench.stop()
            }
        }
    #endif

    @Test("D-1a: bytes that wait for another lane do not expire")
    func age() throws {
        try SharedBench.inVirtualTime {
            let bench = try SharedBench(.init(lanes: 2, pace: .slow, maximumAge: .milliseconds(50)))
            try bench.run(for: .milliseconds(300))
            bench.receive(0, "ABCDEFGH\r")
            bench.receive(1, "12\r")
            #expect(try bench.until { bench.typed(0) == 9 && bench.keyboards[1].bytes.waiting == 0 })
            #expect(bench.typed(1) == 3 && bench.devices.texts == ["ABCDEFGH\n12\n"])
            try bench.stop()
        }
    }

    @Test("D-1: bytes that wait for another lane are not typed after the gate is closed")
    func gate() throws {
        for rules in [nil, try BarcodeRules()] {
            try SharedBench.inVirtualTime {
                let bench = try SharedBench(.init(lanes: 2, pace: .slow, barcodes: rules))
                try bench.run(for: .milliseconds(300))
                bench.receive(0, "ABCDEFGH\r")
                bench.receive(1, "12\r")
                try bench.run(for: .milliseconds(60))
                bench.keyboards[1].isGateOpen = false
                #expect(try bench.until { bench.typed(0) == 9 && bench.keyboards[1].bytes.waiting == 0 })
                #expect(bench.keyboards[1].bytes.gated == 3 && bench.devices.texts == ["ABCDEFGH\n"])
                try bench.stop()
            }
        }
    }

    @Test("D-13: two lanes write no closer to each other than the stall of the pace")
    func separation() throws {
        try SharedBench.inVirtualTime {
            let bench = try SharedBench(.init(lanes: 2, pace: .desktop))
            try bench.run(for: .milliseconds(300))
            let begin = MonotonicClock.now
            bench.receive(0, "1\r")
            bench.receive(1, "2\r")
            #expect(try bench.until { bench.typed(0) == 2 && bench.typed(1) == 2 })
            #expect(MonotonicClock.now - begin >= .milliseconds(100))
            #expect(bench.devices.texts == ["1\n2\n"])
            try bench.stop()
        }
    }

    @Test("D-42: the keys of clients have turns too, and the characters of all lanes are counted")
    func keypad() throws {
        try SharedBench.inVirtualTime {
            let keypad = try Keypad(layout: .us)
            let bench = try SharedBench(.init(lanes: 2, pace: .slow, keypad: keypad))
            let keys = try keypad.sequence(of: Array("123456").compactMap { KeyName("\($0)") })
            #expect(keys.steps.count == 6 && bench.keyboards[0].press(keys.bytes))
            #expect(try bench.until { bench.keyboards[0].typedCharacters == 2 })
            bench.receive(1, "abc")
            #expect(try bench.until { bench.typed(1) == 3 && bench.keyboards[0].waitingKeys == 0 })
            #expect(bench.devices.texts == ["123456abc"])
            #expect(bench.keyboards[0].typedCharacters == 9 && bench.keyboards[0].cutTurns == 0)
            try bench.stop()
        }
    }

    @Test("D-42: a text in turns with the keys of a client is not mixed with them")
    func keypadWaits() throws {
        try SharedBench.inVirtualTime {
            let keypad = try Keypad(layout: .us)
            let bench = try SharedBench(.init(lanes: 2, pace: .slow, keypad: keypad))
            let keys = try keypad.sequence(of: Array("123456").compactMap { KeyName("\($0)") })
            bench.receive(1, "abcdef\r")
            #expect(try bench.until { bench.typed(1) == 2 })
            #expect(bench.keyboards[0].press(keys.bytes))
            #expect(try bench.until { bench.typed(1) == 7 && bench.keyboards[0].waitingKeys == 0 })
            #expect(bench.devices.texts == ["abcdef\n123456"])
            try bench.stop()
        }
    }

    @Test("A lane that is removed leaves its place to a new one, and the others go on")
    func removal() throws {
        try SharedBench.inVirtualTime {
            let bench = try SharedBench(.init(lanes: 3))
            bench.receive(0, "abc")
            #expect(try bench.until { bench.typed(0) == 3 })
            try bench.remove(0)
            bench.receive(0, "1\r")
            bench.receive(1, "2\r")
            #expect(try bench.until { bench.typed(0) == 2 && bench.typed(1) == 2 })
            #expect(["abc1\n2\n", "abc2\n1\n"].contains(bench.devices.texts[0]))
            try bench.stop()
        }
    }

    @Test("D-14: a shared keyboard declares the keys of all its devices")
    func keys() throws {
        let pacer = Pacer(try Pace(.desktop, queue: .large))
        let settings = try [KeyboardLayout.us, .jp].map { layout in
            TypingSettings(
                table: try CompiledTable(ByteTable(.linble), layout: layout),
                pacer: pacer,
                maximumAge: nil,
                verifies: false,
                isUdevKeyboard: false
            )
        }
        #expect(settings.allSatisfy { $0.name == "blewedge keyboard" })
        let all = Set(try TypingSettings.declaredKeys(of: settings).codes)
        let each = try settings.map { Set(try $0.declaredKeys().codes) }
        #expect(all == each[0].union(each[1]) && each[0] != each[1])
    }
}
