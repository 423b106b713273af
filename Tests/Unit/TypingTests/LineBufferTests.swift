// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import SystemPackage
import Testing

@testable import Typing

@Suite("Lines for another end")
struct LineBufferTests {
    /// Complete path without a kernel: ring, typist, keyboard and lines.
    private final class Stage {
        let lines = LineBuffer()
        let ledger = Ledger(handsOver: true)
        var feed: Feed
        var state: TypingState
        var now = MonotonicClock.nanoseconds

        init(ring capacity: Int = 4096, table: String = "", barcodes: BarcodeRules? = nil) throws {
            let ring = try ByteRing(capacity: capacity)
            guard let producer = ring.takeProducer(), let consumer = ring.takeConsumer() else { throw Errno.ioError }
            feed = Feed(producer, ledger: ledger)
            let typist = Typist(
                consumer,
                table: try CompiledTable(table.isEmpty ? ByteTable(.linble) : ByteTable(text: table), layout: .us),
                pacer: Pacer(try Pace(stall: 0, queue: .large)),
                barcodes: barcodes,
                gate: Gate(),
                keepsLines: true,
                ledger: ledger
            )
            let keyboard = try TextKeyboard(layout: .us, lines: lines)
            state = TypingState(typist, Output(keyboard: keyboard), nil, keypad: nil, separation: 0, screen: keyboard)
        }

        func receive(_ text: String) -> Bool {
            now += 1_000_000
            let bytes = Array(text.utf8)
            let outcome = unsafe feed.receive(bytes.span.bytes, epoch: 1, now: now)
            return outcome != .lost
        }

        func turn() { _ = state.turn(now: now) }
    }

    private final class Output: KeyboardDevice {
        let keyboard: TextKeyboard

        init(keyboard: TextKeyboard) { self.keyboard = keyboard }

        func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> { try keyboard.write(events) }
    }

    private static func line(_ text: String, _ cost: Int) -> LineBuffer.Line {
        LineBuffer.Line(bytes: Array(text.utf8), cost: cost)
    }

    @Test("Each line has the received bytes that it stands for, its own line feed among them")
    func costs() throws {
        let stage = try Stage()
        for text in ["490", "1\r\n12\r", "\n3", "4\r"] { #expect(stage.receive(text)) }
        stage.turn()
        let first = stage.lines.take()
        #expect(first.lines == [Self.line("4901\n", 6), Self.line("12\n", 4), Self.line("34\n", 3)])
        #expect(first.late == 0 && !first.isLineOpen)
        #expect(stage.receive("\n"))
        stage.turn()
        let second = stage.lines.take()
        #expect(second.lines.isEmpty && second.late == 1)
        let account = stage.ledger.snapshot()
        #expect(account.received == 14 && account.typed == 0 && account.waiting == 14)
        stage.feed.settle(delivered: 10, undelivered: 4)
        let settled = stage.ledger.snapshot()
        #expect(settled.typed == 10 && settled.lost(.undelivered) == 4 && settled.waiting == 0)
    }

    @Test("Text without a line end becomes a line when it is finished; a line that is too long ends by itself")
    func ends() throws {
        let stage = try Stage(ring: 1 << 14)
        #expect(stage.receive("abc"))
        stage.turn()
        #expect(stage.lines.take() == LineBuffer.Taken(isLineOpen: true))
        stage.lines.endLine()
        stage.lines.endLine()
        #expect(stage.lines.take() == LineBuffer.Taken(lines: [Self.line("abc", 3)]))
        let field = String(repeating: "x", count: 30) + "\t"
        for _ in 0..<70 { #expect(stage.receive(field)) }
        stage.turn()
        let taken = stage.lines.take()
        // The first end of a field after 2,048 bytes.
        #expect(taken.lines.map(\.bytes.count) == [67 * 31] && taken.lines.map(\.cost) == [67 * 31])
        #expect(taken.isLineOpen)
        stage.lines.endLine()
        _ = stage.lines.take()
        #expect(stage.receive(String(repeating: "y", count: 5000)))
        stage.turn()
        let long = stage.lines.take()
        #expect(long.lines.count == 1 && (4096..<4300).contains(long.lines[0].bytes.count))
        #expect(long.lines[0].cost == long.lines[0].bytes.count)
    }

    @Test("In scan mode a line is a whole scan with what goes around it, without any line end")
    func scans() throws {
        let stage = try Stage(barcodes: try BarcodeRules(suffix: try BarcodeAffix(";", layout: .us)))
        #expect(stage.receive("49\r01\r"))
        stage.turn()
        #expect(stage.lines.take().lines == [Self.line("49;", 2), Self.line("01;", 2)])
        #expect(stage.ledger.snapshot().discarded == 2)
    }

    @Test("While the lines are not taken no other is begun, and one that was begun is finished")
    func holdsUp() throws {
        let stage = try Stage(ring: 1 << 16)
        let barcode = String(repeating: "x", count: 99) + "\r"
        for _ in 0..<200 { #expect(stage.receive(barcode)) }
        stage.turn()
        let taken = stage.lines.take()
        #expect(taken.lines.count == 164 && taken.wasFull)
        stage.turn()
        let rest = stage.lines.take()
        #expect(rest.lines.count == 36 && !rest.wasFull)
        for _ in 0..<163 { #expect(stage.receive(barcode)) }
        #expect(stage.receive("begun"))
        stage.turn()
        #expect(stage.receive(barcode))
        for _ in 0..<9 { #expect(stage.receive(barcode)) }
        stage.turn()
        #expect(stage.lines.take().lines.count == 164)
    }

    @Test("D-1a: what waits for lines to be taken is not stale, however long that takes")
    func neverStale() throws {
        let stage = try Stage(ring: 1 << 16)
        let barcode = String(repeating: "x", count: 99) + "\r"
        for _ in 0..<200 { #expect(stage.receive(barcode)) }
        stage.turn()
        #expect(stage.lines.take().lines.count == 164)
        stage.now += 60_000_000_000
        stage.turn()
        #expect(stage.lines.take().lines.count == 36)
        #expect(stage.ledger.snapshot().lost(.tooOld) == 0)
    }

    @Test("A line of which bytes were lost before they were typed is cut, to its end")
    func cut() throws {
        let stage = try Stage(ring: 256)
        let half = String(repeating: "a", count: 60)
        #expect(stage.receive("1\r"))
        #expect(stage.receive(half))
        #expect(stage.receive(half))
        #expect(!stage.receive(String(repeating: "b", count: 60) + "\r" + half))
        stage.turn()
        #expect(stage.receive("c"))
        #expect(stage.receive("d\r"))
        #expect(stage.receive("\n2\r"))
        stage.turn()
        let taken = stage.lines.take()
        #expect(taken.lines == [Self.line("1\n", 2), Self.line("2\n", 2)])
        #expect(taken.cut == 120 + 3 + 1)
    }
}
