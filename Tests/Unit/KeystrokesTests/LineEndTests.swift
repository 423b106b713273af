// SPDX-License-Identifier: GPL-2.0-or-later

import Testing

@testable import Keystrokes

@Suite("D-3: CR LF is one Enter")
struct LineEndTests {
    /// Block of a conversation: its bytes, the delay since the previous block, and its link.
    struct Piece {
        var bytes: [UInt8]
        var after: Int64 = 0
        var epoch: UInt32 = 1
    }

    struct Case: CustomTestStringConvertible {
        var name: String
        var pieces: [Piece]
        var text: String
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "CR LF", pieces: [Piece(bytes: [13, 10])], text: "\n"),
        Case(name: "LF CR", pieces: [Piece(bytes: [10, 13])], text: "\n\n"),
        Case(name: "CR CR LF", pieces: [Piece(bytes: [13, 13, 10])], text: "\n\n"),
        Case(name: "CR LF LF", pieces: [Piece(bytes: [13, 10, 10])], text: "\n\n"),
        Case(name: "CR LF CR LF", pieces: [Piece(bytes: [13, 10, 13, 10])], text: "\n\n"),
        Case(name: "a discarded byte between", pieces: [Piece(bytes: [13, 0, 10])], text: "\n\n"),
        Case(name: "two chunks", pieces: [Piece(bytes: [97, 13]), Piece(bytes: [10, 98])], text: "a\nb"),
        Case(
            name: "an empty chunk between",
            pieces: [Piece(bytes: [13]), Piece(bytes: []), Piece(bytes: [10])],
            text: "\n"
        ),
        Case(name: "100 ms", pieces: [Piece(bytes: [13]), Piece(bytes: [10], after: 100_000_000)], text: "\n"),
        Case(name: "over 100 ms", pieces: [Piece(bytes: [13]), Piece(bytes: [10], after: 100_000_001)], text: "\n\n"),
        Case(name: "another link", pieces: [Piece(bytes: [13]), Piece(bytes: [10], epoch: 2)], text: "\n\n"),
        Case(
            name: "CR LF split, then LF",
            pieces: [Piece(bytes: [13]), Piece(bytes: [10]), Piece(bytes: [10])],
            text: "\n\n"
        ),
    ]

    @Test("D-3: which line feeds are absorbed", arguments: cases, [true, false])
    func absorbed(example: Case, typesBetween: Bool) throws {
        // The conversation starts at every position of the ring.
        for start in 0..<UInt(64) {
            let path = try Path(capacity: 64, startingAt: UInt.max - 31 &+ start)
            for piece in example.pieces {
                path.now += piece.after
                path.receive(piece.bytes, epoch: piece.epoch)
                if typesBetween { _ = try path.typeDue() }
            }
            try path.typeAll()
            try #require(path.keyboard.text == example.text)
            let account = path.ledger.snapshot()
            try #require(account.typed + account.discarded == account.received)
        }
    }

    @Test("D-35: a slow link's line feeds come later, whether what was typed left or not; never earlier than 100 ms")
    func slowLink() throws {
        for (time, isJoined): (Int64, Bool) in [(800_000_000, true), (800_000_001, false)] {
            let path = try Path()
            path.gate.joinLineFeeds(within: 800_000_000)
            path.receive("a\r".bytes)
            path.now += time
            path.receive("\nb".bytes)
            try path.typeAll()
            #expect(path.keyboard.text == (isJoined ? "a\nb" : "a\n\nb"))
            // When a write fails, the same rule is applied to its bytes again.
            let failing = try Path()
            failing.gate.joinLineFeeds(within: 800_000_000)
            failing.receive("a\r".bytes)
            failing.now += time
            failing.receive("\nb".bytes)
            try #require(failing.next() == .write)
            failing.gate.joinLineFeeds(within: 0)
            for event in failing.outputEvents().prefix(8) { try failing.keyboard.take(event) }
            failing.fail(accepted: 8)
            let account = failing.ledger.snapshot()
            #expect(account.typed == (isJoined ? 3 : 2) && account.typed + account.lost(.writeFailed) == 4)
        }
        for (time, isJoined): (Int64, Bool) in [(100_000_000, true), (100_000_001, false)] {
            let path = try Path()
            path.gate.joinLineFeeds(within: 60_000_000)
            path.receive([13])
            path.now += time
            path.receive([10])
            try path.typeAll()
            #expect(path.keyboard.text == (isJoined ? "\n" : "\n\n"))
        }
    }

    @Test("D-3: a table that gives CR or LF another meaning keeps it")
    func otherMeaning() throws {
        var table = ByteTable.linble
        table[10] = .text("n")
        let path = try Path(table: table)
        path.receive([13, 10])
        try path.typeAll()
        #expect(path.keyboard.text == "\nn")
    }
}
