// SPDX-License-Identifier: GPL-2.0-or-later

@testable import Keystrokes

/// Independent model of both modes, byte by byte, for the `linble` table without pacing.
///
/// Bytes are stored until they are examined; then everything that is certain is reported at once. A flaw leaves out one
/// rule, which a comparison must detect.
struct NaiveReader {
    enum Flaw: CaseIterable {
        case joinsOverLinks, typesTails, forgetsDuplicates, forgetsAge, countsShort, typesCut, typesLineFeeds,
            forgetsGate
    }

    struct Byte {
        var value: UInt8
        var time: Int64
        var epoch: UInt32
    }

    /// Settings of scan mode; nil for stream mode.
    struct Rules {
        var terminators: Set<UInt8>
        var idleGap: Int64?
        var lengths: ClosedRange<Int>
        var prefix: String
        var suffix: String?
        var duplicates: Int64
    }

    var rules: Rules?
    var flaw: Flaw?
    var pending: [Byte] = []
    var text = ""
    var counts: [String: Int] = [:]

    var refusedThrough = Int64.min
    var droppedThrough: UInt32 = 0
    var endedThrough: UInt32 = 0
    let maximumAge: Int64 = 5_000_000_000

    private var lastLook = Int64.min / 2
    private var staleBefore = Int64.min

    private var barcode: [Byte] = []
    private var refusing: String?
    private var isInBarcode = false
    private var last = Byte(value: 0, time: 0, epoch: 0)
    private var lineEnd: (byte: Byte, fate: String)?
    private var typedLast: (values: [UInt8], time: Int64)?

    init(rules: Rules?, flaw: Flaw? = nil) {
        self.rules = rules
        self.flaw = flaw
    }

    mutating func look(now: Int64) {
        if now - lastLook > maximumAge { staleBefore = now - maximumAge }
        lastLook = now
        for byte in pending {
            if let rules { take(byte, rules, now) } else { stream(byte, now) }
            last = byte
        }
        pending = []
        guard let rules, !barcode.isEmpty else { return }
        if let fate = refusal(barcode[0]) { return refuse(fate) }
        if last.epoch <= endedThrough, flaw != .typesCut { return refuse("cut") }
        if let gap = rules.idleGap, now - last.time > gap { return finish(nil, rules, now) }
        if now - last.time > maximumAge { refuse("tooOld") }
    }

    private func refusal(_ byte: Byte) -> String? {
        if byte.time <= refusedThrough, flaw != .forgetsGate { return "gated" }
        return byte.epoch <= droppedThrough ? "disconnected" : nil
    }

    private mutating func count(_ number: Int, _ fate: String) { counts[fate, default: 0] += number }

    private mutating func absorbs(_ byte: Byte) -> Bool {
        defer { lineEnd = nil }
        guard let lineEnd, byte.value == 10, lineEnd.byte.epoch == byte.epoch, flaw != .typesLineFeeds,
            byte.time - lineEnd.byte.time <= 100_000_000
        else { return false }
        count(1, lineEnd.fate)
        return true
    }

    /// Returns the text for one byte according to the table.
    private static func meaning(_ value: UInt8) -> String? {
        switch value {
        case 0x20...0x7E: String(Unicode.Scalar(value))
        case 8, 9: String(Unicode.Scalar(value))
        case 10, 13: "\n"
        default: nil
        }
    }

    // MARK: Stream mode

    private mutating func stream(_ byte: Byte, _ now: Int64) {
        if byte.epoch != last.epoch || byte.time - last.time > 100_000_000 {
            isInBarcode = false
            refusing = nil
        }
        guard !absorbs(byte) else { return }
        if let fate = refusal(byte) {
            refusing = flaw == .typesTails ? nil : fate
            count(1, fate)
            if refusing == nil { isInBarcode = true }
        } else if let refusing {
            count(1, refusing)
        } else if !isInBarcode, byte.time < staleBefore, flaw != .forgetsAge {
            refusing = "tooOld"
            count(1, "tooOld")
        } else {
            isInBarcode = true
            let meaning = Self.meaning(byte.value)
            text += meaning ?? ""
            count(1, meaning == nil ? "discarded" : "typed")
        }
        let fate = refusing ?? refusal(byte) ?? "typed"
        if [9, 10, 13].contains(byte.value) {
            isInBarcode = false
            refusing = nil
        }
        if byte.value == 13 { lineEnd = (byte, fate) }
    }

    // MARK: Scan mode

    private mutating func take(_ byte: Byte, _ rules: Rules, _ now: Int64) {
        if !barcode.isEmpty, let fate = refusal(barcode[0]) { refuse(fate) }
        if byte.epoch != last.epoch, flaw != .joinsOverLinks {
            if !barcode.isEmpty { refuse("cut") }
            refusing = nil
        } else if byte.time - last.time > rules.idleGap ?? 1_000_000_000 {
            refusing = nil
            if rules.idleGap != nil, !barcode.isEmpty { finish(nil, rules, now) }
        }
        guard !absorbs(byte) else { return }
        let isEnd = rules.terminators.contains(byte.value)
        if refusing == nil, !isEnd, barcode.count == rules.lengths.upperBound { refuse("tooLong") }
        if let fate = refusing, flaw != .typesTails {
            count(1, fate)
            if isEnd {
                refusing = nil
                if byte.value == 13 { lineEnd = (byte, fate) }
            }
        } else if isEnd {
            finish(byte, rules, now)
        } else {
            barcode.append(byte)
        }
    }

    private mutating func refuse(_ fate: String) {
        count(barcode.count, fate)
        barcode = []
        refusing = fate
    }

    private mutating func finish(_ end: Byte?, _ rules: Rules, _ now: Int64) {
        let bytes = barcode + (end.map { [$0] } ?? [])
        let time = end?.time ?? last.time
        let values = barcode.map(\.value)
        let isAgain = typedLast.map { $0.values == values && time - $0.time <= rules.duplicates } ?? false
        barcode = []
        var fate: String?
        if let first = bytes.first {
            fate = refusal(first)
            if fate == nil, first.time < staleBefore, flaw != .forgetsAge { fate = "tooOld" }
        }
        if fate == nil, values.count < rules.lengths.lowerBound, flaw != .countsShort { fate = "tooShort" }
        if fate == nil, rules.duplicates > 0, isAgain, flaw != .forgetsDuplicates { fate = "duplicate" }
        if let fate {
            count(bytes.count, fate)
            if let end, end.value == 13 { lineEnd = (end, fate) }
            return
        }
        typedLast = (values, time)
        text += rules.prefix
        let typed = rules.suffix == nil ? bytes : Array(bytes.prefix(values.count))
        var previous: UInt8 = 0
        for byte in typed {
            let isAbsorbed = previous == 13 && byte.value == 10
            previous = isAbsorbed ? 0 : byte.value
            let meaning = Self.meaning(byte.value)
            if !isAbsorbed { text += meaning ?? "" }
            count(1, meaning == nil ? "discarded" : "typed")
        }
        text += rules.suffix ?? ""
        if rules.suffix != nil, end != nil { count(1, "discarded") }
        if let end, end.value == 13 { lineEnd = (end, rules.suffix == nil ? "typed" : "discarded") }
    }
}
