// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@testable import Keystrokes

@Suite("X-12, D-1, D-2: whole barcodes")
struct BarcodeModeTests {
    static let millisecond: Int64 = 1_000_000

    /// Settings of the random conversations; the first one is stream mode.
    static let settings: [NaiveReader.Rules?] = [
        nil,
        NaiveReader.Rules(
            terminators: [9, 10, 13],
            idleGap: nil,
            lengths: 1...12,
            prefix: "",
            suffix: nil,
            duplicates: 1_000_000_000
        ),
        NaiveReader.Rules(
            terminators: [3],
            idleGap: 150 * millisecond,
            lengths: 3...9,
            prefix: "<Ab>",
            suffix: "\t",
            duplicates: 300 * millisecond
        ),
        NaiveReader.Rules(
            terminators: [],
            idleGap: 60 * millisecond,
            lengths: 0...20,
            prefix: "",
            suffix: "\n",
            duplicates: 0
        ),
        NaiveReader.Rules(
            terminators: [10],
            idleGap: nil,
            lengths: 2...20,
            prefix: "x",
            suffix: nil,
            duplicates: 2_000_000_000
        ),
    ]

    static func rules(_ naive: NaiveReader.Rules?) throws -> BarcodeRules? {
        guard let naive else { return nil }
        func affix(_ text: String) throws -> BarcodeAffix {
            try BarcodeAffix(text.replacing("\n", with: "{enter}").replacing("\t", with: "{Tab}"))
        }
        return try BarcodeRules(
            terminators: naive.terminators,
            idleGap: naive.idleGap,
            minimumLength: naive.lengths.lowerBound,
            maximumLength: naive.lengths.upperBound,
            prefix: try affix(naive.prefix),
            suffix: try naive.suffix.map { try affix($0) },
            duplicateWindow: naive.duplicates
        )
    }

    /// Returns the parts of an account that a model counts as well.
    static func counts(_ account: Ledger.Snapshot) -> [String: Int] {
        var counts = ["typed": account.typed, "discarded": account.discarded, "gated": account.gated]
        for cause in Ledger.Rejection.allCases { counts["\(cause)"] = account.rejected(cause) }
        for cause in Ledger.Loss.allCases { counts["\(cause)"] = account.lost(cause) }
        return counts.filter { $0.value > 0 }.mapValues { Int($0) }
    }

    /// Plays a random conversation with the product and the model; returns the first difference.
    static func converse(_ naive: NaiveReader.Rules?, flaw: NaiveReader.Flaw?, steps: Int, seed: UInt64) throws
        -> String?
    {
        var random = SeededGenerator(seed: seed)
        let path = try Path(capacity: 1 << 12, startingAt: UInt.max - 3000)
        let barcodes = try rules(naive)
        let product =
            try barcodes.map { try Path(barcodes: $0, capacity: 1 << 12, startingAt: UInt.max - 3000) } ?? path
        var model = NaiveReader(rules: naive, flaw: flaw)
        var epoch: UInt32 = 1
        let words = ["123", "AbC", "4901234567894", "7", "", "\u{1}\u{2}z", "long long text beyond"]
        let ends = ["\r", "\n", "\r\n", "\t", "\u{3}", "", "\u{3}", "\r"]
        var waiting: [UInt8] = []
        for step in 0..<steps {
            switch Int.random(in: 0...31, using: &random) {
            case 0...15:
                if waiting.isEmpty {
                    for _ in 0...Int.random(in: 0...1, using: &random) {
                        waiting +=
                            ((words.randomElement(using: &random) ?? "") + (ends.randomElement(using: &random) ?? ""))
                            .bytes
                    }
                }
                let bytes = Array(waiting.prefix(Int.random(in: 1...16, using: &random)))
                waiting.removeFirst(bytes.count)
                guard !bytes.isEmpty, product.receive(bytes, epoch: epoch) != .lost else { break }
                model.pending += bytes.map { NaiveReader.Byte(value: $0, time: product.now, epoch: epoch) }
            case 16...24:
                let isLong = Int.random(in: 0...40, using: &random) == 0
                product.now += isLong ? 6_000_000_000 : Int64.random(in: 0...80, using: &random) * millisecond
            case 25:
                product.now += Int64.random(in: 90...1200, using: &random) * millisecond
            case 26:
                guard Int.random(in: 0...2, using: &random) == 0 else { break }
                product.gate.close()
                model.refusedThrough = Int64.max
            case 27:
                product.gate.open(now: product.now)
                if model.refusedThrough == Int64.max { model.refusedThrough = product.now }
            case 28:
                product.gate.endLink(through: epoch)
                model.endedThrough = epoch
                if Int.random(in: 0...2, using: &random) == 0 {
                    product.gate.drop(through: epoch, .disconnected)
                    model.droppedThrough = epoch
                }
                epoch += 1
                if Bool.random(using: &random) { waiting = [] }
            default: break
            }
            if step % 3 > 0 {
                while case .write = product.next() {
                    try product.keyboard.take(product.outputEvents())
                    product.commit()
                }
                model.look(now: product.now)
                let account = product.ledger.snapshot()
                guard counts(account) == model.counts.filter({ $0.value > 0 }), product.keyboard.text == model.text
                else {
                    return "step \(step): \(counts(account)) \(product.keyboard.text.suffix(40).debugDescription), "
                        + "model \(model.counts) \(model.text.suffix(40).debugDescription)"
                }
                let sum = account.typed + account.discarded + account.rejected + account.gated + account.lost
                guard account.received == sum + account.waiting else { return "step \(step): \(account)" }
                if model.text.count > 2000 {
                    model.text = ""
                    product.keyboard.forgetText()
                }
            }
        }
        return nil
    }

    @Test("D-1, D-3: 100,000 random steps agree with a naive model in text and account", arguments: 0..<5)
    func conversations(number: Int) throws {
        for seed in 1...4 as ClosedRange<UInt64> {
            let difference = try Self.converse(Self.settings[number], flaw: nil, steps: 5_000, seed: seed)
            #expect(difference == nil, "\(difference ?? "")")
        }
    }

    @Test("A model without one of the rules is detected (control)", arguments: NaiveReader.Flaw.allCases)
    func controls(flaw: NaiveReader.Flaw) throws {
        let differences = try Self.settings.map { try Self.converse($0, flaw: flaw, steps: 5_000, seed: 1) }
        #expect(differences.contains { $0 != nil })
    }

    @Test("D-1: a link lost at every byte of a barcode: what is cut is rejected, and never joined to the next")
    func cuts() throws {
        let barcode = "4901234567894\r".bytes
        for length in 1..<barcode.count {
            for (rules, typesAfter) in [
                (try BarcodeRules(), "4901234567894\n"),
                (try BarcodeRules(terminators: [], idleGap: 50 * Self.millisecond), ""),
            ] {
                for isTold in [true, false] {
                    let path = try Path(barcodes: rules)
                    path.receive(Array(barcode[..<length]))
                    _ = try path.typeDue()
                    if isTold { path.gate.endLink(through: 1) }
                    _ = try path.typeDue()
                    #expect(path.ledger.snapshot().rejected(.cut) == (isTold ? UInt64(length) : 0))
                    path.receive(Array(barcode[length...]) + (typesAfter.isEmpty ? [] : barcode), epoch: 2)
                    path.gate.endLink(through: 2)
                    try path.typeAll()
                    let account = path.ledger.snapshot()
                    // In one case, the second link's first bytes are complete because of their terminator; in the
                    // other, they are cut.
                    let tail = String(decoding: barcode[length...], as: UTF8.self).replacing("\r", with: "\n")
                    let isTyped = !typesAfter.isEmpty && length < barcode.count - 1
                    #expect(path.keyboard.text == (isTyped ? tail + typesAfter : typesAfter))
                    #expect(account.rejected(.cut) == UInt64(typesAfter.isEmpty ? barcode.count : length))
                    #expect(account.waiting == 0)
                }
            }
        }
    }

    @Test("Data before and after a lost notification is not joined to a barcode")
    func missingNotifications() throws {
        let path = try Path(barcodes: try BarcodeRules())
        path.receive("123".bytes)
        path.feed.noteMissing(epoch: 1)
        path.receive("456\rabc\r".bytes)
        try path.typeAll()
        #expect(path.keyboard.text == "abc\n")
        path.receive("de".bytes)
        _ = try path.typeDue()
        path.feed.noteMissing(epoch: 1)
        // The lost notification may have contained the end, and the following bytes do not show this.
        _ = try path.typeDue()
        path.receive("f\rgh\r".bytes)
        try path.typeAll()
        #expect(path.keyboard.text == "abc\ngh\n")
        let account = path.ledger.snapshot()
        #expect(account.rejected(.cut) == 11 && account.typed == 7 && account.lost == 0 && account.waiting == 0)
    }

    @Test("Bytes lost in the middle of a barcode cut it, before and after them")
    func missingBytes() throws {
        let path = try Path(barcodes: try BarcodeRules(), capacity: 64)
        path.receive("123".bytes)
        #expect(path.receive([UInt8](repeating: 0x39, count: 60)) == .lost)
        _ = try path.typeDue()
        #expect(path.ledger.snapshot().rejected(.cut) == 3)
        path.receive("456\rabc\r".bytes)
        try path.typeAll()
        #expect(path.keyboard.text == "abc\n")
        let account = path.ledger.snapshot()
        #expect(account.rejected(.cut) == 7 && account.lost(.ringFull) == 60 && account.typed == 4)
    }

    @Test("A gate closed and opened in the middle of a barcode types neither its head nor its tail")
    func gate() throws {
        for barcodes in [try BarcodeRules(), nil] {
            let path = try Path(barcodes: barcodes)
            path.gate.close()
            path.receive("123".bytes)
            _ = try path.typeDue()
            path.gate.open(now: path.now)
            path.now += Self.millisecond
            path.receive("456\rnext\r".bytes)
            try path.typeAll()
            #expect(path.keyboard.text == "next\n")
            #expect(path.ledger.snapshot().gated == 7)
        }
    }

    @Test("Nothing is typed before a barcode is whole; a silence ends it where one is set")
    func wholeness() throws {
        let path = try Path(
            barcodes: try BarcodeRules(idleGap: 100 * Self.millisecond, suffix: try BarcodeAffix("{{{f9}"))
        )
        path.receive("12".bytes)
        #expect(try path.typeDue() == .wait(until: path.now + 100 * Self.millisecond + 1))
        path.now += 90 * Self.millisecond
        path.receive("34".bytes)
        #expect(try path.typeDue() == .wait(until: path.now + 100 * Self.millisecond + 1))
        #expect(path.recorded.isEmpty)
        path.now += 100 * Self.millisecond + 1
        #expect(path.next() == .write)
        let keys = path.outputEvents().filter { $0.value == 1 }.map(\.code)
        #expect(keys == [2, 3, 4, 5, 42, 26, 67])
    }

    @Test("A barcode too large for the window is paced from its first key; the gate stops the rest of it")
    func paced() throws {
        let path = try Path(stall: 100 * Self.millisecond, barcodes: try BarcodeRules(prefix: try BarcodeAffix("AB")))
        path.receive((String(repeating: "5", count: 40) + "\r").bytes)
        for _ in 0..<10 {
            if case .wait(let time) = try path.typeDue() { path.now = time }
        }
        #expect(path.keyboard.text.hasPrefix("AB555") && path.keyboard.text.count == 10)
        path.gate.close()
        #expect(try path.typeDue() == .sleep)
        let account = path.ledger.snapshot()
        #expect(account.typed == 8 && account.gated == 33 && account.waiting == 0)
    }

    @Test("A device that takes a part of a barcode: whole keystrokes are typed, the rest of the write is lost")
    func failures() throws {
        for accepted in 0...18 {
            let path = try Path(barcodes: try BarcodeRules(prefix: try BarcodeAffix("x")))
            path.receive("aB\r\n".bytes)
            try #require(path.next() == .write)
            try #require(path.outputEvents().count == 18)
            path.fail(accepted: accepted)
            try path.typeAll()
            let typed = [8: 1, 13: 2, 18: 4].filter { $0.key <= accepted }.map(\.value).max() ?? 0
            let account = path.ledger.snapshot()
            // The line feed is counted like its carriage return.
            #expect(account.typed == UInt64(typed), "\(accepted)")
            #expect(account.lost(.writeFailed) == UInt64(4 - typed) && account.waiting == 0)
        }
    }

    @Test("Impossible rules and affixes are refused with the reason")
    func faults() {
        #expect(throws: BarcodeRules.Fault.self) { try BarcodeRules(terminators: []) }
        #expect(throws: BarcodeRules.Fault.self) { try BarcodeRules(idleGap: 0) }
        #expect(throws: BarcodeRules.Fault.self) { try BarcodeRules(idleGap: Int64.max) }
        #expect(throws: BarcodeRules.Fault.self) { try BarcodeRules(minimumLength: 9, maximumLength: 8) }
        #expect(throws: BarcodeRules.Fault.self) { try BarcodeRules(minimumLength: -1) }
        #expect(throws: BarcodeRules.Fault.self) { try BarcodeRules(maximumLength: 65_537) }
        #expect(throws: BarcodeRules.Fault.self) { try BarcodeRules(duplicateWindow: -1) }
        for text in ["{", "{f25}", "{leftshift}", "{capslock}", "{sysrq}", "{power}", "\u{E9}", "\n", "a{b"] {
            #expect(throws: BarcodeAffix.Fault.self, "\(text)") { try BarcodeAffix(text) }
        }
        #expect(throws: BarcodeAffix.Fault.self) { try BarcodeAffix(String(repeating: "a", count: 257)) }
        #expect(throws: Never.self) { try BarcodeAffix("}") }
    }
}
