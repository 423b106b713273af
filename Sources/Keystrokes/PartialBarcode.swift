// SPDX-License-Identifier: GPL-2.0-or-later

/// Barcode in scan mode: collects its bytes, and then tracks its typing progress, including prefix and suffix.
///
/// Within a barcode, a line feed after a carriage return is absorbed, regardless of the time between them.
struct PartialBarcode {
    private enum Part: Int {
        case prefix, body, end, nothing
    }

    /// Position in the barcode, with the outcomes of the bytes between `done` and this position.
    private struct Progress {
        var part = Part.prefix
        /// Number of bytes of the current part that precede the position.
        var offset = 0
        var typed = 0
        var discarded = 0
        var rejected = 0
        var withheld = 0
        var last = Ledger.Fate.discarded
    }

    /// The received bytes, including the terminator if there is one.
    var bytes: [UInt8] = []
    /// Number of bytes before the terminator.
    private(set) var length = 0
    /// Text typed instead of the barcode; nil to type its bytes.
    private(set) var meaning: BarcodeAffix?
    /// Position up to which the bytes have an outcome, and position up to which they are encoded.
    private var done = Progress()
    private var ahead = Progress()
    /// CapsLock state for which the barcode was last encoded.
    private var capsLock = false

    init(mostBytes: Int) {
        bytes.reserveCapacity(mostBytes)
    }

    /// Marks the barcode as complete.
    mutating func end(terminators: Int, _ rules: BarcodeRules) {
        length = bytes.count - terminators
        if !rules.meanings.isEmpty { meaning = rules.meanings[Array(body)] }
    }

    mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
        length = 0
        meaning = nil
        done = Progress()
    }

    /// The bytes without the terminator.
    var body: ArraySlice<UInt8> { bytes.prefix(length) }

    var terminator: UInt8? { length < bytes.count ? bytes.last : nil }

    /// Swaps the bytes without the terminator with `other`.
    mutating func swapBody(_ other: inout [UInt8]) {
        bytes.removeLast(bytes.count - length)
        swap(&bytes, &other)
    }

    /// Number of bytes whose outcome has not been counted.
    var bytesWithoutOutcome: Int {
        switch done.part {
        case .prefix: bytes.count
        case .body: bytes.count - done.offset
        case .end, .nothing: bytes.count - length
        }
    }

    /// Returns true if the layout has no keys for a byte of the barcode or for a part of its replacement text.
    ///
    /// The terminator counts too, unless a suffix or the replacement text is typed instead of it.
    func hasUntypable(_ rules: BarcodeRules, _ table: CompiledTable, capsLock: Bool) -> Bool {
        if let meaning { return meaning.hasUntypable(capsLock: capsLock) }
        let typed = rules.suffix == nil ? bytes.count : length
        return bytes.prefix(typed).contains { table.isRejected($0, capsLock: capsLock) }
    }

    /// Moves back to the first byte whose outcome has not been counted.
    mutating func begin() { ahead = done }

    /// Encodes the barcode up to `limit` events or to its end, for the given CapsLock state.
    mutating func encode(
        _ batch: inout EventBatch,
        _ rules: BarcodeRules,
        _ table: CompiledTable,
        limit: Int,
        capsLock: Bool
    ) -> Typist.End {
        batch.clear()
        self.capsLock = capsLock
        var isFull = false
        while !isFull, ahead.part != .nothing {
            switch ahead.part {
            case .prefix: isFull = encode(meaning ?? rules.prefix, &batch, limit)
            case .body: isFull = encodeBytes(0..<length, &batch, table, limit)
            case .end:
                if let suffix = rules.suffix {
                    isFull = encode(suffix, &batch, limit)
                } else if endsInLineFeed(table) {
                    ahead.typed += 1
                    ahead.last = .typed
                } else {
                    isFull = encodeBytes(length..<bytes.count, &batch, table, limit)
                }
            case .nothing: break
            }
            if !isFull, let meaning {
                // The bytes of a replaced barcode count as typed when the last key of its replacement text is encoded.
                if meaning.isEmpty { ahead.discarded += length } else { ahead.typed += length }
                ahead.discarded += bytes.count - length
                ahead.part = .nothing
            } else if !isFull {
                if ahead.part == .end, rules.suffix != nil { ahead.discarded += bytes.count - length }
                ahead.part = Part(rawValue: ahead.part.rawValue + 1) ?? .nothing
                ahead.offset = 0
            }
        }
        batch.finish()
        return isFull ? .full : .barcodeEnd
    }

    /// Encodes the rest of a prefix, suffix or replacement text; returns true if it stopped at the limit.
    private mutating func encode(_ affix: BarcodeAffix, _ batch: inout EventBatch, _ limit: Int) -> Bool {
        ahead.last = .discarded
        guard let table = affix.table else { return false }
        let rest = affix.bytes.span.extracting(droppingFirst: ahead.offset)
        let run = batch.type(rest, table, limit: limit, stopAtBarcodeEnd: false, capsLock: capsLock)
        ahead.offset += run.taken
        return run.stop != nil
    }

    /// Encodes the rest of this part of the barcode; returns true if it stopped at the limit.
    private mutating func encodeBytes(
        _ part: Range<Int>,
        _ batch: inout EventBatch,
        _ table: CompiledTable,
        _ limit: Int
    ) -> Bool {
        // Copies the reference, so that the bytes can be read while the progress is written.
        let bytes = bytes
        let rest = bytes.span.extracting(part).extracting(droppingFirst: ahead.offset)
        guard !rest.isEmpty else { return false }
        let run = batch.type(rest, table, limit: limit, stopAtBarcodeEnd: false, capsLock: capsLock)
        ahead.offset += run.taken
        ahead.typed += run.typed
        ahead.rejected += run.rejected
        ahead.withheld += run.withheld
        ahead.discarded += run.taken - run.typed - run.rejected - run.withheld
        ahead.last = run.typed > 0 ? .typed : run.rejected > 0 ? .untypable : .discarded
        if table.joinsLineEnds, run.taken > 0, run.taken < rest.count, rest[run.taken - 1] == ByteTable.carriageReturn,
            rest[run.taken] == ByteTable.lineFeed
        {
            ahead.offset += 1
            ahead.typed += 1
        }
        return run.stop != nil
    }

    /// Counts the outcome of all encoded bytes; returns the outcome of the last byte, or nil if the barcode is
    /// unfinished.
    mutating func settle(_ ledger: Ledger) -> Ledger.Fate? {
        ledger.add(ahead.typed, to: .typed)
        ledger.add(ahead.discarded, to: .discarded)
        ledger.add(ahead.rejected, to: .untypable)
        ledger.add(ahead.withheld, to: .withheld)
        ahead.typed = 0
        ahead.discarded = 0
        ahead.rejected = 0
        ahead.withheld = 0
        done = ahead
        return done.part == .nothing ? done.last : nil
    }

    /// Counts the bytes of all encoded keystrokes after the first `keystrokes` as lost.
    mutating func loseAll(
        after keystrokes: Int,
        _ ledger: Ledger,
        _ batch: inout EventBatch,
        _ rules: BarcodeRules,
        _ table: CompiledTable
    ) {
        let all = ahead
        begin()
        _ = encode(&batch, rules, table, limit: 0, capsLock: capsLock)
        var typed = ahead.typed
        var left = keystrokes
        while left > 0 {
            _ = encode(&batch, rules, table, limit: EventBatch.oneByte, capsLock: capsLock)
            guard batch.count > 0 else { break }
            left -= batch.keystrokes(in: batch.count)
            if left >= 0 { typed = ahead.typed }
        }
        typed = min(typed, all.typed)
        let lost = all.typed - typed
        ahead = all
        ahead.typed = typed
        if lost > 0, ahead.last == .typed { ahead.last = .writeFailed }
        ledger.add(lost, to: .writeFailed)
    }

    /// Returns true if the terminator is a line feed that follows a carriage return and is typed together with it.
    private func endsInLineFeed(_ table: CompiledTable) -> Bool {
        table.joinsLineEnds && length > 0 && length < bytes.count && bytes[length - 1] == ByteTable.carriageReturn
            && bytes[length] == ByteTable.lineFeed
    }
}
