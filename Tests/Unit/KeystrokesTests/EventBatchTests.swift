// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@testable import Keystrokes

@Suite("LK-21: modifiers, macros and sequences in batches")
struct EventBatchTests {
    private static let table: ByteTable = {
        var table = ByteTable.linble
        table[0x1D] = .text("<GS>")
        table[0x01] = .key(KeyCode(rawValue: 27), .control)
        table[0x02] = .type([.key(.f8, []), .character("A", []), .key(.tab, [.control, .shift]), .character("z", [])])
        table[0x03] = .type([.key(KeyCode(rawValue: 30), [.control, .shift]), .key(KeyCode(rawValue: 31), [.meta])])
        return table
    }()

    /// Returns the events of a batch as short text, for example `+42 +30 . -30 -42 .`; a period is a report.
    private static func written(_ batch: borrowing EventBatch) -> String {
        (0..<batch.count).compactMap { batch[$0] }.map { event in
            event == .report ? "." : (event.value == 1 ? "+" : "-") + "\(event.code)"
        }.joined(separator: " ")
    }

    /// Returns true if no key is pressed after the batch.
    private static func isUp(_ batch: borrowing EventBatch) -> Bool {
        var down: Set<UInt16> = []
        for index in 0..<batch.count {
            guard let event = batch[index], event != .report else { continue }
            if event.value == 1 { down.insert(event.code) } else { down.remove(event.code) }
        }
        return down.isEmpty
    }

    @Test(
        "Modifiers go down before their key in its frame, are held over a run, and are up at the batch's end",
        arguments: [
            ([0x61], "+30 . -30 ."), ([0x41], "+42 +30 . -30 -42 ."),
            ([0x41, 0x41, 0x61], "+42 +30 . -30 . +30 . -30 . -42 +30 . -30 ."),
            ([0x01, 0x01], "+29 +27 . -27 . +27 . -27 -29 ."),
            ([0x41, 0x01, 0x61], "+42 +30 . -30 . -42 +29 +27 . -27 . -29 +30 . -30 ."),
            ([0x03], "+42 +29 +30 . -30 . -42 -29 +125 +31 . -31 -125 ."),
            ([0x41, 0x00, 0x41], "+42 +30 . -30 . +30 . -30 -42 ."), ([0x01, 0x00], "+29 +27 . -27 -29 ."),
        ] as [([UInt8], String)]
    )
    func modifiers(bytes: [UInt8], meant: String) throws {
        let table = try CompiledTable(Self.table)
        var batch = EventBatch()
        let run = batch.type(bytes.span, table, limit: EventBatch.capacity, stopAtBarcodeEnd: false)
        batch.finish()
        #expect(Self.written(batch) == meant)
        #expect(run.taken == bytes.count && run.typed == bytes.count { $0 != 0 } && run.stop == nil)
    }

    @Test("At every limit a byte has all its keystrokes in the batch or none, and the batch is within the limit")
    func limits() throws {
        let table = try CompiledTable(Self.table)
        var random = SeededGenerator(seed: 3)
        for _ in 0..<3000 {
            let bytes: [UInt8] = (0..<Int.random(in: 1...20, using: &random)).map { _ in
                [0x00, 0x01, 0x02, 0x03, 0x0A, 0x0D, 0x1D, 0x41, 0x61, 0x7A].randomElement(using: &random) ?? 0
            }
            let limit = Int.random(in: 0...160, using: &random)
            let stopAtBarcodeEnd = Bool.random(using: &random)
            var batch = EventBatch()
            let run = batch.type(bytes.span, table, limit: limit, stopAtBarcodeEnd: stopAtBarcodeEnd)
            batch.finish()
            try #require(batch.count <= limit && Self.isUp(batch))
            var keystrokes = 0
            var typed = 0
            for (index, byte) in bytes.prefix(run.taken).enumerated() {
                let isAbsorbed = byte == 10 && index > 0 && bytes[index - 1] == 13
                keystrokes += isAbsorbed ? 0 : table.strokes(of: byte).count
                typed += byte == 0 ? 0 : 1
            }
            try #require(batch.keystrokes(in: batch.count) == keystrokes && run.typed == typed)
            switch run.stop {
            case nil: try #require(run.taken == bytes.count)
            case .barcodeEnd: try #require(stopAtBarcodeEnd && table.endsBarcode(bytes[run.taken - 1]))
            case .full:
                // With one more byte, the limit is exceeded.
                var more = EventBatch()
                let prefix = Array(bytes.prefix(run.taken + 1))
                let whole = more.type(prefix.span, table, limit: EventBatch.capacity, stopAtBarcodeEnd: false)
                more.finish()
                try #require(whole.taken < prefix.count || more.count > limit)
            case .exhausted: Issue.record("the encoder does not say this")
            }
        }
    }

    @Test("One byte at a time is one byte, however many keystrokes it has")
    func oneByte() throws {
        let table = try CompiledTable(Self.table)
        for (bytes, taken, events) in [
            ([0x00, 0x1D, 0x61], 2, 18), ([0x61, 0x61], 1, 4), ([0x41, 0x41], 1, 6), ([0x00, 0x00], 2, 0),
            ([0x61, 0x00, 0x00, 0x61], 3, 4), ([0x01, 0x01], 1, 6), ([0x0D, 0x0A, 0x61], 2, 4),
        ] as [([UInt8], Int, Int)] {
            var batch = EventBatch()
            let run = batch.type(bytes.span, table, limit: EventBatch.oneByte, stopAtBarcodeEnd: false)
            batch.finish()
            #expect(run.taken == taken && batch.count == events, "\(bytes)")
        }
    }

    @Test("Macros in a write that is cut anywhere: typed whole or counted as lost")
    func cut() throws {
        let bytes: [UInt8] = [0x61, 0x1D, 0x41, 0x1D, 0x0D]
        // Numbers of keystrokes: a, <GS>, A, <GS>, Enter.
        let whole = [1, 4, 1, 4, 1]
        for accepted in 0...60 {
            let path = try Path(table: Self.table)
            path.receive(bytes)
            #expect(path.next() == .write)
            let events = path.outputEvents()
            guard accepted <= events.count else { break }
            var left = events.prefix(accepted).count { $0 == .report } / 2
            var typed = 0
            for count in whole {
                guard left >= count else { break }
                left -= count
                typed += 1
            }
            path.fail(accepted: accepted)
            let account = path.ledger.snapshot()
            #expect(account.typed == UInt64(typed), "\(accepted)")
            #expect(account.typed + account.lost(.writeFailed) == 5)
        }
    }

    @Test("A paced stream of macros types them all")
    func paced() throws {
        let path = try Path(table: Self.table, stall: 50_000_000)
        path.receive(Array(repeating: [0x61, 0x1D, 0x41], count: 40).flatMap(\.self) + [0x0D])
        try path.typeAll()
        #expect(path.keyboard.text == String(repeating: "a<GS>A", count: 40) + "\n")
        #expect(path.ledger.snapshot().typed == 121)
    }

    @Test(
        "Macros at every pace: all typed, never more events in a stall than the queue keeps",
        arguments: Pace.Profile.allCases,
        ReaderQueue.allCases
    )
    func profiles(profile: Pace.Profile, queue: ReaderQueue) throws {
        let pace = try Pace(profile, queue: queue)
        let path = try Path(table: Self.table, pace: pace)
        path.receive(Array(repeating: [0x61, 0x1D, 0x41, 0x42], count: 20).flatMap(\.self) + [0x0D])
        try path.typeAll()
        #expect(path.keyboard.text == String(repeating: "a<GS>AB", count: 20) + "\n")
        #expect(path.ledger.snapshot().typed == 81)
        guard pace.stall > 0 else { return }
        for (index, write) in path.writes.enumerated() {
            let window = path.writes[index...].prefix { $0.time - write.time <= pace.stall }
            try #require(window.reduce(0) { $0 + $1.events } <= queue.window)
        }
    }

    @Test("D-13: a byte that takes more than 50 ms at the stated stall is refused")
    func longByte() throws {
        for (queue, most) in [(ReaderQueue.small, 29), (.large, 125)] {
            let pace = try Pace(stall: 100_000_000, queue: queue)
            try pace.check(longestByte: most)
            #expect(throws: Pace.StallError.self) { try pace.check(longestByte: most + 1) }
            try Pace(.scanner, queue: queue).check(longestByte: 60)
            try Pace(.console, queue: queue).check(longestByte: 60)
        }
    }

    @Test("Characters that the layout cannot type count as rejected, separate from bytes that the table discards")
    func rejected() throws {
        var strokes = KeyboardLayout.us.strokes
        strokes["#"] = nil
        let layout = KeyboardLayout(name: "without", strokes: strokes, capsLockStrokes: strokes)
        let table = try CompiledTable(.linble, layout: layout)
        let path = try Path(table: .linble, layout: layout)
        #expect(table.isRejected(0x23) && !table.isRejected(0x24) && !table.isRejected(0x00))
        path.receive("a#\u{1}b##\r".bytes)
        try path.typeAll()
        let account = path.ledger.snapshot()
        #expect(path.keyboard.text == "ab\n")
        #expect(account.typed == 3 && account.rejected == 3 && account.discarded == 1 && account.received == 7)
    }

    @Test("With CapsLock, Shift is inverted for letters and for nothing else")
    func capsLock() {
        for layout in [KeyboardLayout.us, .jp, .jpYen] {
            for (character, strokes) in layout.strokes {
                let other = layout.capsLockStrokes[character] ?? []
                let isLetter = ("a"..."z").contains(character) || ("A"..."Z").contains(character)
                #expect(other.count == 1 && strokes.count == 1)
                #expect(other.first?.key == strokes.first?.key)
                #expect((other == strokes) == !isLetter, "\(character)")
            }
        }
    }

    @Test("A byte with more events than the kernel's queue or a frame is rejected")
    func tooLong() throws {
        var table = ByteTable.linble
        table[0x02] = .text("aA")
        #expect(try CompiledTable(table).longestByte == 10)
        table[0x02] = .text("AbAbAbAbAbAb")
        #expect(try CompiledTable(table).longestByte == 60)
        table[0x02] = .type((0..<12).map { .key(.enter, $0 % 2 == 0 ? .control : .shift) })
        #expect(throws: CompiledTable.Failure.tooLong(byte: 2, events: 72)) { try CompiledTable(table) }
        table[0x02] = .type(Array(repeating: .key(.enter, []), count: 13))
        #expect(throws: CompiledTable.Failure.wrong(byte: 2, reason: "more than 12 characters and keys")) {
            try CompiledTable(table)
        }
        table[0x02] = .type([.character("A", [.control, .alt])])
        #expect(throws: CompiledTable.Failure.wrong(byte: 2, reason: "more than 2 modifiers for one key")) {
            try CompiledTable(table)
        }
        table[0x02] = .key(.leftShift)
        #expect(throws: CompiledTable.Failure.self) { try CompiledTable(table) }
    }

    @Test("D-14: AltGr of a layout and a function key of a table are refused together; the union is declared")
    func forbidden() throws {
        var strokes = KeyboardLayout.us.strokes
        strokes["@"] = [KeyboardLayout.Stroke(KeyCode(rawValue: 16), .altGr)]
        let layout = KeyboardLayout(name: "altgr", strokes: strokes, capsLockStrokes: strokes)
        #expect(throws: CompiledTable.Failure.forbidden(.together(.rightAlt, .f8))) {
            try CompiledTable(ByteTable(.gs1F8), layout: layout)
        }
        let both = try CompiledTable(.linble, layout: layout).keys.union(try CompiledTable(ByteTable(.gs1F8)).keys)
        #expect(throws: ForbiddenKeys.together(.rightAlt, .f8)) { try both.declared(asKeyboard: true) }
        let fine = try CompiledTable(.linble, layout: layout).keys.union(try CompiledTable(ByteTable(.gs1Text)).keys)
        #expect(try fine.declared(asKeyboard: true).codes.contains(.rightAlt))
        for name in ["alt", "altgr"] {
            for key in ["f1", "f12", "up", "down", "left", "right", "delete"] {
                let table = try ByteTable(text: "0x02 = key \(name)+\(key)")
                #expect(throws: CompiledTable.Failure.self) { try CompiledTable(table) }
            }
        }
        for key in ["sysrq", "power", "sleep", "suspend"] {
            let table = try ByteTable(text: "0x02 = key ctrl+\(key)")
            #expect(throws: CompiledTable.Failure.self) { try CompiledTable(table) }
        }
    }
}
