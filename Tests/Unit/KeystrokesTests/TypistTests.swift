// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@testable import Keystrokes

@Suite("LK-21: bytes become keystrokes")
struct TypistTests {
    @Test("A barcode is typed, whole, in one write")
    func barcode() throws {
        let path = try Path(stall: 100_000_000)
        path.receive("4901234567894\r\n".bytes)
        #expect(try path.typeDue() == .sleep)
        #expect(path.keyboard.text == "4901234567894\n")
        #expect(path.writes.map(\.events) == [56])
        let account = path.ledger.snapshot()
        #expect(account.received == 15 && account.typed == 15 && account.waiting == 0)
    }

    /// Returns the text for the bytes of one block according to LK-21, independently of the table.
    static func meaning(_ bytes: [UInt8], table: String) -> (text: String, discarded: Int) {
        var text = ""
        var discarded = 0
        var previous: UInt8?
        for byte in bytes {
            let isAbsorbed = previous == 13 && byte == 10 && table != "discard"
            previous = isAbsorbed ? nil : byte
            switch byte {
            case _ where isAbsorbed: break
            case _ where table == "discard": discarded += 1
            case 0x20...0x7E: text.unicodeScalars.append(Unicode.Scalar(byte))
            case 10, 13: text.append("\n")
            case 9 where table == "linble": text.append("\t")
            case 8 where table == "linble": text.append("\u{8}")
            case 0x1D where table == "gs1-text": text.append("<GS>")
            case 0x1D where table == "gs1-f8": text.append("\u{F8}")
            case 0x1D where table == "gs1-ctrl": text.append("\u{1D}")
            default: discarded += 1
            }
        }
        return (text, discarded)
    }

    @Test(
        "Every byte and every pair of bytes, through every built-in table",
        arguments: ByteTable.builtIn.map(\.name)
    )
    func pairs(name: String) throws {
        let table = try #require(ByteTable(named: name))
        let path = try Path(table: table, capacity: 1 << 10, startingAt: UInt.max - 5000)
        let declared = try CompiledTable(table).keys
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                path.keyboard = DecodedKeyboard()
                let before = path.ledger.snapshot()
                // A discarded byte precedes each pair, so that the pair does not continue the line end of the previous
                // one.
                let bytes = [0x01, first, second]
                path.receive(bytes)
                guard case .write = path.next() else {
                    try #require(Self.meaning(bytes, table: name).text.isEmpty)
                    continue
                }
                let events = path.outputEvents()
                try path.keyboard.take(events)
                path.commit()
                try #require(path.next() == .sleep)
                let meant = Self.meaning(bytes, table: name)
                try #require(path.keyboard.text == meant.text)
                try #require(path.keyboard.largestFrame <= 6)
                try #require(events.allSatisfy { $0.type == 0 || declared.codes.contains(KeyCode(rawValue: $0.code)) })
                let after = path.ledger.snapshot()
                try #require(after.discarded - before.discarded == UInt64(meant.discarded))
                try #require(after.typed - before.typed == UInt64(3 - meant.discarded))
            }
        }
        #expect(path.ledger.snapshot().waiting == 0)
    }

    @Test("4 events a plain key, 4n + 2 a run of n shifted ones; Shift goes down and up within a frame of a key")
    func counts() throws {
        for (text, events) in [
            ("a", 4), ("A", 6), ("AB", 10), ("ABC", 14), ("aB", 10), ("Ab", 10), ("AbC", 16), ("aa", 8), ("AA", 10),
            ("!", 6),
        ] {
            let path = try Path()
            path.receive(text.bytes)
            #expect(try path.typeDue() == .sleep)
            #expect(path.writes.map(\.events) == [events], "\(text)")
            #expect(path.keyboard.text == text)
        }
    }

    @Test("A shifted key's frames, event by event")
    func frames() throws {
        let path = try Path()
        path.receive("Aa".bytes)
        #expect(path.next() == .write)
        let a = KeyCode(rawValue: 30)
        #expect(
            path.outputEvents() == [
                .key(.leftShift, down: true), .key(a, down: true), .report, .key(a, down: false), .report,
                .key(.leftShift, down: false), .key(a, down: true), .report, .key(a, down: false), .report,
            ]
        )
        // Before the write is reported as done, the result is the same.
        #expect(path.next() == .write)
        #expect(path.outputEvents().count == 10)
    }

    @Test("Discarded bytes inside a shifted run, and after a write's last key")
    func discards() throws {
        let path = try Path()
        path.receive([0x41, 0x00, 0x42, 0xFF, 0x80])
        #expect(try path.typeDue() == .sleep)
        #expect(path.keyboard.text == "AB" && path.writes.map(\.events) == [10])
        let account = path.ledger.snapshot()
        #expect(account.typed == 2 && account.discarded == 3)
    }

    @Test("A text longer than one write is cut between keys, none of them held")
    func longText() throws {
        var random = SeededGenerator(seed: 3)
        let text = String(
            (0..<5000).map { _ in Character(Unicode.Scalar(UInt8.random(in: 0x20...0x7E, using: &random))) }
        )
        let path = try Path(capacity: 1 << 13)
        path.receive(text.bytes)
        #expect(try path.typeDue() == .sleep)
        #expect(path.keyboard.text == text)
        #expect(path.writes.allSatisfy { $0.events <= EventBatch.capacity })
        #expect(path.keyboard.largestFrame <= 3)
    }

    @Test("A part of a write that the device took is typed, and the rest lost")
    func failures() throws {
        let text = "aBC\r\nd\u{1}E"
        // Events: a 4, B 5, C 4, Enter 5 (including the release of Shift), d 4, E 5 + 1. The line feed is counted with
        // Enter.
        let typedAfter = [4: 1, 9: 2, 13: 3, 18: 5, 22: 6, 28: 7]
        for accepted in 0...28 {
            let path = try Path()
            path.receive(text.bytes)
            try #require(path.next() == .write)
            let events = path.outputEvents()
            try #require(events.count == 28)
            for event in events.prefix(accepted) { try path.keyboard.take(event) }
            path.fail(accepted: accepted)
            let typed = typedAfter.filter { $0.key <= accepted }.map(\.value).max() ?? 0
            let account = path.ledger.snapshot()
            #expect(account.typed == UInt64(typed), "\(accepted)")
            #expect(account.lost(.writeFailed) == UInt64(7 - typed))
            #expect(account.discarded == 1 && account.waiting == 0 && account.received == 8)
            // Nothing is typed twice, and later bytes are typed.
            path.receive("x".bytes)
            try #require(path.next() == .write)
            try #require(path.outputEvents().count == 4)
            path.commit()
            #expect(path.ledger.snapshot().typed == UInt64(typed + 1))
        }
    }

    @Test("D-1: a closed gate refuses what waits and what comes; what came then is never typed later")
    func gate() throws {
        let path = try Path(stall: 100_000_000)
        path.receive("0123456789012345678901234567890123456789\r".bytes)
        _ = try path.typeDue()
        path.gate.close()
        path.now += 1_000_000
        path.receive("while closed\r".bytes)
        path.gate.open(now: path.now)
        path.now += 1_000_000
        path.receive("\nopen\r".bytes)
        try path.typeAll()
        // The line feed belongs to the rejected carriage return, and is rejected with it.
        #expect(path.keyboard.text == "0open\n")
        let account = path.ledger.snapshot()
        #expect(account.gated == 40 + 13 + 1 && account.typed == 6 && account.waiting == 0)
        #expect(path.gate.isOpen)
    }

    @Test("D-1: waiting bytes of ended links are lost by cause; those of the next link are typed")
    func drop() throws {
        for cause in [Gate.Drop.disconnected, .switched] {
            let path = try Path()
            path.receive("old".bytes, epoch: 6)
            path.receive("old".bytes, epoch: 7)
            path.receive("new".bytes, epoch: 8)
            path.gate.drop(through: 7, cause)
            try path.typeAll()
            let account = path.ledger.snapshot()
            #expect(path.keyboard.text == "new")
            #expect(account.lost(cause == .switched ? .switched : .disconnected) == 6 && account.lost == 6)
        }
    }

    @Test("D-1a: after an idle period, nothing older than the maximum age is typed; without a maximum, everything is")
    func age() throws {
        for (age, limit, isTyped) in [
            (5_000_000_000, Typist.defaultMaximumAge, true), (5_000_000_001, Typist.defaultMaximumAge, false),
            (Int64(1) << 60, nil, true),
        ] as [(Int64, Int64?, Bool)] {
            let path = try Path(maximumAge: limit)
            path.receive("abc".bytes)
            path.now += age
            try path.typeAll()
            #expect(path.keyboard.text == (isTyped ? "abc" : ""))
            #expect(path.ledger.snapshot().lost(.tooOld) == (isTyped ? 0 : 3))
        }
    }

    /// Returns a path with 200 barcodes received at once in blocks of any size, which take 18 s at this pace.
    private func backlog() throws -> (path: Path, barcodes: [String]) {
        let path = try Path(stall: 100_000_000)
        let barcodes = (0..<200).map { (number: Int) in "49\(1_000_000 + number)\r" }
        var bytes = barcodes.joined().bytes[...]
        while !bytes.isEmpty {
            path.receive(Array(bytes.prefix(7)))
            bytes = bytes.dropFirst(7)
            path.now += 1_000_000
        }
        return (path, barcodes)
    }

    @Test("D-1a: a backlog that is being typed never grows too old")
    func backlogIsTyped() throws {
        let (path, barcodes) = try backlog()
        try path.typeAll()
        #expect(path.keyboard.text == barcodes.joined().replacing("\r", with: "\n"))
        #expect(path.ledger.snapshot().typed == 2000)
    }

    @Test("D-1a: after a sleep, a partly typed barcode is finished, and the other old barcodes are dropped completely")
    func ageOfBarcodes() throws {
        let (path, barcodes) = try backlog()
        // Some barcodes have been typed, and one is partly typed.
        try path.typeUntil(path.now + 3_000_000_000, late: 0)
        path.now += 2 * Typist.defaultMaximumAge
        try path.typeAll()
        let lines = path.keyboard.text.split(separator: "\n", omittingEmptySubsequences: false)
        let typed: [String] = lines.dropLast().map { String($0) + "\r" }
        let account = path.ledger.snapshot()
        #expect(typed.count > 20 && typed.count < 100)
        #expect(typed == Array(barcodes.prefix(typed.count)))
        let typedBytes = UInt64(typed.count * 10)
        #expect(account.typed == typedBytes && account.lost(.tooOld) == 2000 - typedBytes)

        path.receive("fresh\r".bytes)
        try path.typeAll()
        #expect(path.keyboard.text.hasSuffix("\nfresh\n"))
    }

    @Test("D-1a: waiting for another source's keys on the same keyboard does not count as sleep")
    func attending() throws {
        let path = try Path()
        #expect(path.next() == .sleep)
        path.receive("abc".bytes)
        for _ in 0..<10 {
            path.now += Typist.defaultMaximumAge
            path.typist.attend(now: path.now)
        }
        try path.typeAll()
        #expect(path.keyboard.text == "abc")
    }

    @Test("D-1a: after a silence, or on another link, bytes begin a barcode that is asked for its own age")
    func ageAfterSilence() throws {
        for (silence, epoch, isTyped) in [(100_000_000, 1, false), (100_000_001, 1, true), (0, 2, true)]
            as [(Int64, UInt32, Bool)]
        {
            let path = try Path()
            path.receive("old".bytes)
            path.now += silence
            path.receive("new".bytes, epoch: epoch)
            path.now += Typist.defaultMaximumAge - silence + (silence == 0 ? 0 : 1)
            if silence == 0 { path.gate.drop(through: 1, .disconnected) }
            try path.typeAll()
            #expect(path.keyboard.text == (isTyped ? "new" : ""))
        }
    }

    @Test("A chunk that finds no room is lost whole, and the typist is woken once after each sleep")
    func full() throws {
        let path = try Path(capacity: 64)
        #expect(path.next() == .sleep)
        #expect(path.receive("0123456789".bytes) == .acceptedMustWake)
        #expect(path.receive("0123456789".bytes) == .accepted)
        #expect(path.receive("0123456789".bytes) == .lost)
        #expect(path.receive([UInt8](repeating: 0x41, count: 49)) == .lost)
        #expect(path.receive([]) == .accepted)
        try path.typeAll()
        let account = path.ledger.snapshot()
        #expect(account.typed == 20 && account.lost(.ringFull) == 59 && account.waiting == 0)
    }
}
