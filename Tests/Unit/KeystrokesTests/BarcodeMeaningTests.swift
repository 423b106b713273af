// SPDX-License-Identifier: GPL-2.0-or-later

import Testing

@testable import Keystrokes

@Suite("HK-1: barcodes that stand for something else")
struct BarcodeMeaningTests {
    /// Replaces a barcode with `ab`, Backspace and `C`.
    static func meaning() throws -> BarcodeAffix {
        try BarcodeAffix(
            [.character("a", []), .character("b", []), .key(.backspace, []), .character("C", [])],
            layout: .us
        )
    }

    static func rules(minimumLength: Int = 1, duplicateWindow: Int64 = 0) throws -> BarcodeRules {
        try BarcodeRules(
            minimumLength: minimumLength,
            prefix: try BarcodeAffix("p"),
            suffix: try BarcodeAffix("{tab}"),
            duplicateWindow: duplicateWindow
        )
    }

    @Test(
        "A barcode that stands for a text types it alone, once, its bytes are counted; others are typed"
    )
    func typed() throws {
        for stall in [0, 100_000_000] as [Int64] {
            // A barcode of one byte, one that the table discards, and one that is shorter than the minimum.
            for code in ["B1", "\u{2}", "x"] {
                let rules = try Self.rules(minimumLength: 2).typing([code.bytes: try Self.meaning()])
                let path = try Path(stall: stall, barcodes: rules)
                path.receive("12\r\(code)\r\n34\r\(code)5\r".bytes)
                try path.typeAll()
                let last = (code + "5").filter { $0 != "\u{2}" }
                #expect(path.keyboard.text == "p12\tab\u{8}Cp34\tp\(last)\t", "\(code)")
                let account = path.ledger.snapshot()
                // Discarded: terminators including line feeds, and bytes that the table does not type.
                let untyped = UInt64(code.count + 1 - last.count)
                #expect(account.typed == UInt64(4 + code.count + last.count), "\(code)")
                #expect(account.discarded == 5 + untyped && account.waiting == 0 && account.rejected == 0, "\(code)")
            }
        }
    }

    @Test("The rules of barcodes hold for these: duplicates, age, the gate, an end that is no terminator")
    func refused() throws {
        let code = "B1\r".bytes
        let path = try Path(
            barcodes: try Self.rules(duplicateWindow: 1_000_000_000).typing(["B1".bytes: try Self.meaning()])
        )
        path.receive(code + code)
        try path.typeAll()
        #expect(path.keyboard.text == "ab\u{8}C" && path.ledger.snapshot().rejected(.duplicate) == 3)
        path.gate.close()
        path.receive(code)
        try path.typeAll()
        path.gate.open(now: path.now)
        #expect(path.keyboard.text == "ab\u{8}C" && path.ledger.snapshot().gated == 3)
        path.now += 10_000_000_000
        path.receive(code)
        path.now += 6_000_000_000
        try path.typeAll()
        #expect(path.keyboard.text == "ab\u{8}C" && path.ledger.snapshot().lost(.tooOld) == 3)

        let silent = try Path(
            barcodes: try BarcodeRules(terminators: [], idleGap: 1000).typing(["B1".bytes: try Self.meaning()])
        )
        silent.receive("B1".bytes)
        try silent.typeAll()
        #expect(silent.keyboard.text == "ab\u{8}C" && silent.ledger.snapshot().typed == 2)
    }

    @Test(
        "A device that takes a part of it, or a gate that closes in it: the barcode is lost to its last key"
    )
    func failures() throws {
        let rules = try Self.rules().typing(["B1".bytes: try Self.meaning()])
        for accepted in 0...18 {
            let path = try Path(barcodes: rules)
            path.receive("B1\r".bytes)
            try #require(path.next() == .write)
            try #require(path.outputEvents().count == 18)
            path.fail(accepted: accepted)
            try path.typeAll()
            let account = path.ledger.snapshot()
            // Three keys with four events each, then the press of Shift and C, a report, the releases, and a report.
            let isTyped = accepted == 18
            #expect(
                account.typed == (isTyped ? 2 : 0) && account.lost(.writeFailed) == (isTyped ? 0 : 2),
                "\(accepted)"
            )
            #expect(account.discarded == 1 && account.waiting == 0, "\(accepted)")
        }
        let path = try Path(stall: 100_000_000, pace: try Pace(.scanner, queue: .small), barcodes: rules)
        path.receive("B1\r".bytes)
        guard case .wait(let time) = try path.typeDue() else {
            Issue.record("nothing is paced")
            return
        }
        path.now = time
        path.gate.close()
        try path.typeAll()
        // The pressed key is released, and the remaining keys are not pressed.
        #expect(path.keyboard.text == "a" && path.keyboard.down.isEmpty)
        #expect(path.ledger.snapshot().gated == 3 && path.ledger.snapshot().waiting == 0)
    }

    @Test("Impossible barcodes are rejected as triggers; keys of triggered texts are declared; an empty text discards")
    func bounds() throws {
        let rules = try BarcodeRules(maximumLength: 4)
        for bytes in [[], "12345".bytes, "1\r".bytes] {
            #expect(throws: BarcodeRules.Fault.self) { try rules.typing([bytes: try Self.meaning()]) }
        }
        #expect(try rules.typing(["1234".bytes: try Self.meaning()]).keys.codes.contains(.backspace))
        #expect(!rules.keys.codes.contains(.backspace))
        let path = try Path(barcodes: try rules.typing(["no".bytes: .nothing]))
        path.receive("no\ryes\r".bytes)
        try path.typeAll()
        #expect(path.keyboard.text == "yes\n")
        #expect(path.ledger.snapshot().discarded == 3 && path.ledger.snapshot().typed == 4)
    }

    @Test("A barcode that CapsLock makes untypable is rejected as a whole; others are typed correctly")
    func capsLock() throws {
        let light = CapsLockLight()
        light.set(true)
        let layout = UntypableBarcodeTests.layout
        let meanings = [
            "t".bytes: try BarcodeAffix([.character("a", []), .character("~", [])], layout: layout),
            "u".bytes: try BarcodeAffix([.character("a", []), .character("B", [])], layout: layout),
        ]
        let path = try Path(layout: layout, barcodes: try BarcodeRules().typing(meanings), light: light)
        path.keyboard.capsLock = true
        path.receive("t\ru\r".bytes)
        try path.typeAll()
        #expect(path.keyboard.text == "aB")
        #expect(path.ledger.snapshot().rejected(.untypable) == 2)
    }
}
