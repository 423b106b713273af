// SPDX-License-Identifier: GPL-2.0-or-later

/// The bytes in stream mode: read in place in the ring, and given back when what they type has left.
///
/// A barcode is what comes up to and with the first Enter or Tab, or before a silence. Its beginning decides: what
/// follows one that was begun is typed however old it grows, and what follows one that was refused is refused too, to
/// its end.
struct StreamReader {
    /// The silence after which bytes begin another barcode though nothing has ended the last, in nanoseconds.
    static let barcodeGap: Int64 = 100_000_000

    /// The outcome of the last byte before a place.
    private enum Outcome: Equatable {
        /// A silence, another link or the beginning of everything: the next byte is a barcode's first.
        case none
        case typed
        /// It was begun, and its keystroke did not leave.
        case writeFailed
        case refused(Ledger.Fate)
    }

    /// A place in the ring, and the byte before it.
    private struct Progress {
        var place: RingPlace
        /// Link and time of the chunk before the current one.
        var before: ChunkHeader
        /// The byte before the place.
        var last: UInt8 = 0
        /// The outcome of that byte: what follows a typed one within its barcode is typed however old it grows, because half a
        /// barcode is worse than a late one.
        var outcome = Outcome.none
    }

    /// The bytes between `done` and `ahead`, by outcome.
    private struct Tally {
        /// All of them; those neither typed nor rejected are discarded.
        var taken = 0
        var typed = 0
        var rejected = 0
    }

    /// The end of the bytes that have an outcome.
    private var done: Progress
    /// The end of the bytes that are encoded.
    private var ahead: Progress
    private var tally = Tally()
    /// The state of CapsLock that they were encoded for.
    private var capsLock = false
    /// The longest time between a carriage return and its line feed then, in nanoseconds.
    private var lineFeedTime = LineEnd.usualTime
    /// True where lines go to another output than a keyboard, and none may be joined with another.
    private let keepsLines: Bool
    /// True where bytes before the encoded ones were lost, and `takeMissingMark` was not called since.
    private var isMissingBytes = false

    /// A reader that begins at a place; with `keepsLines`, lost bytes and late line feeds are reported.
    init(_ place: RingPlace, keepsLines: Bool) {
        self.keepsLines = keepsLines
        done = Progress(place: place, before: place.chunk)
        ahead = done
    }

    /// The end of the bytes that have an outcome.
    var position: UInt { done.place.position }

    /// True where everything in the ring has an outcome.
    @inline(__always)
    func isDone(_ consumer: inout ByteRing.Consumer) -> Bool {
        done.place.remaining == 0 && consumer.available(from: position) == 0
    }

    /// True where bytes were lost before the encoded ones; true once.
    mutating func takeMissingMark() -> Bool {
        defer { isMissingBytes = false }
        return isMissingBytes
    }

    /// Goes back to the first byte without an outcome: a batch that was encoded and has not left is encoded anew.
    @inline(__always)
    mutating func begin() {
        guard ahead.place.position != done.place.position else { return }
        ahead = done
        tally = Tally()
    }

    /// Encodes on, until `limit` events, the ring's end, bytes that are not typed or, if asked for, a barcode's end.
    ///
    /// Bytes that are refused are counted at once where they come first.
    @inline(__always)
    mutating func encode(
        _ batch: inout EventBatch,
        _ consumer: inout ByteRing.Consumer,
        _ table: CompiledTable,
        _ ledger: Ledger,
        limit: Int,
        stopAtBarcodeEnd: Bool,
        _ conditions: Typist.Conditions
    ) -> Typist.End {
        batch.clear()
        capsLock = conditions.capsLock
        lineFeedTime = conditions.gate.lineFeedTime
        // Sound: the table, and so its rows, live for the call.
        let rules = unsafe EventBatch.Rules(
            table,
            limit: limit,
            stopAtBarcodeEnd: stopAtBarcodeEnd,
            capsLock: conditions.capsLock
        )
        let border = conditions.border
        var end: Typist.End?
        while end == nil, findBytes(&consumer) {
            if isPlain(consumer, after: border, conditions) {
                let input = ahead.place.bytes(of: consumer)
                let run = unsafe batch.type(input, table, rules)
                take(run, of: input)
                end = run.stop
            } else {
                switch look(&consumer, table, ledger, conditions) {
                case .taken: break
                case .later: end = .exhausted
                case .typed:
                    end = typeBarcode(
                        &batch,
                        consumer,
                        table,
                        limit: limit,
                        stopAtBarcodeEnd: stopAtBarcodeEnd,
                        conditions
                    )
                }
            }
        }
        batch.finish()
        return end ?? .exhausted
    }

    /// Types the next bytes of a chunk, those of an old one barcode by barcode: the first may have been begun, and the next
    /// is too old.
    @inline(never)
    private mutating func typeBarcode(
        _ batch: inout EventBatch,
        _ consumer: borrowing ByteRing.Consumer,
        _ table: CompiledTable,
        limit: Int,
        stopAtBarcodeEnd: Bool,
        _ conditions: Typist.Conditions
    ) -> Typist.End? {
        let input = ahead.place.bytes(of: consumer)
        let isOld = ahead.place.chunk.received < conditions.staleBefore
        let stops = stopAtBarcodeEnd || isOld
        let run = batch.type(input, table, limit: limit, stopAtBarcodeEnd: stops, capsLock: conditions.capsLock)
        take(run, of: input)
        return run.stop == .barcodeEnd && !stopAtBarcodeEnd ? nil : run.stop
    }

    /// Encodes without inlining, where speed does not matter.
    @inline(never)
    private mutating func encodeAgain(
        _ batch: inout EventBatch,
        _ consumer: inout ByteRing.Consumer,
        _ table: CompiledTable,
        _ ledger: Ledger,
        limit: Int,
        _ conditions: Typist.Conditions
    ) {
        _ = encode(&batch, &consumer, table, ledger, limit: limit, stopAtBarcodeEnd: false, conditions)
    }

    /// Counts what became of everything encoded, and gives it back to the ring.
    @inline(__always)
    mutating func settle(_ consumer: inout ByteRing.Consumer, _ ledger: Ledger) {
        ledger.add(tally.typed, to: .typed)
        let others = tally.taken &- tally.typed
        if others != 0 {
            ledger.add(others &- tally.rejected, to: .discarded)
            ledger.add(tally.rejected, to: .untypable)
        }
        tally = Tally()
        done = ahead
        consumer.release(through: position)
    }

    /// Counts what became of everything encoded where only the first keystrokes have left: the others' bytes are lost.
    @inline(never)
    mutating func settle(
        _ consumer: inout ByteRing.Consumer,
        _ ledger: Ledger,
        _ batch: inout EventBatch,
        _ table: CompiledTable,
        typing keystrokes: Int
    ) {
        let (all, allTally) = (ahead, tally)
        begin()
        // None of these bytes is refused: they were encoded before, when they were not.
        let open = Typist.Conditions(
            now: 0,
            maximumAge: Int64.max,
            staleBefore: Int64.min,
            gate: .open(lineFeedTime: lineFeedTime),
            capsLock: capsLock
        )
        encodeAgain(&batch, &consumer, table, ledger, limit: 0, open)
        var typed = tally.typed
        var left = keystrokes
        while left > 0 {
            encodeAgain(&batch, &consumer, table, ledger, limit: EventBatch.oneByte, open)
            guard batch.count > 0 else { break }
            left -= batch.keystrokes(in: batch.count)
            if left >= 0 { typed = tally.typed }
        }
        typed = min(typed, allTally.typed)
        let lost = allTally.typed &- typed
        (ahead, tally) = (all, allTally)
        tally.taken &-= lost
        tally.typed = typed
        if lost > 0, ahead.outcome == .typed { ahead.outcome = .writeFailed }
        ledger.add(lost, to: .writeFailed)
        settle(&consumer, ledger)
    }

    /// True where nothing is between `done` and here.
    private var isNothingEncoded: Bool { tally.taken == 0 }

    /// Advances to the next byte; false where the ring has no more.
    @inline(__always)
    private mutating func findBytes(_ consumer: inout ByteRing.Consumer) -> Bool {
        guard ahead.place.remaining == 0 else { return true }
        let last = ahead.place.chunk
        guard ahead.place.findBytes(&consumer) else { return false }
        ahead.before = last
        return true
    }

    /// True where the next bytes are typed whatever was before them: they are neither refused nor old, no line feed of a
    /// carriage return is among them, and no lost bytes are to be reported.
    @inline(__always)
    private func isPlain(
        _ consumer: borrowing ByteRing.Consumer,
        after border: Int64,
        _ conditions: Typist.Conditions
    ) -> Bool {
        let chunk = ahead.place.chunk
        guard chunk.received > border, chunk.epoch > conditions.gate.droppedThrough else { return false }
        if case .refused = ahead.outcome { return false }
        if ahead.last == ByteTable.carriageReturn, ahead.place.bytes(of: consumer)[0] == ByteTable.lineFeed {
            return false
        }
        return !(keepsLines && chunk.followsMissingBytes)
    }

    /// What becomes of the next bytes where they are not plain.
    private enum Look {
        /// They were absorbed or refused, and counted.
        case taken
        /// They wait until the encoded ones have left.
        case later
        case typed
    }

    @inline(never)
    private mutating func look(
        _ consumer: inout ByteRing.Consumer,
        _ table: CompiledTable,
        _ ledger: Ledger,
        _ conditions: Typist.Conditions
    ) -> Look {
        let isLineEnd =
            table.joinsLineEnds && ahead.last == ByteTable.carriageReturn && ahead.outcome != .none
        if keepsLines, ahead.place.isAtChunkStart, ahead.place.chunk.followsMissingBytes {
            guard isNothingEncoded else { return .later }
            isMissingBytes = true
            if isLineEnd { ahead.outcome = .none }
        }
        if isLineEnd, ahead.outcome != .none, isFollowed(consumer) {
            ahead.last = ByteTable.lineFeed
            ahead.place.advance(1)
            // A carriage return that was not typed has its outcome already, so nothing is between `done` and here. Where
            // lines are kept, it has, too, and its line feed is not the next line's.
            switch ahead.outcome {
            case .typed where !keepsLines:
                tally.taken &+= 1
                tally.typed &+= 1
            case .typed, .none: refused(1, .typed, &consumer, ledger)
            case .writeFailed: refused(1, .writeFailed, &consumer, ledger)
            case .refused(let fate): refused(1, fate, &consumer, ledger)
            }
            return .taken
        }
        guard let fate = refusal(conditions, table) else { return .typed }
        guard isNothingEncoded else { return .later }
        let count: Int
        do {
            let input = ahead.place.bytes(of: consumer)
            count = table.barcodeLength(input)
            ahead.last = input[count - 1]
        }
        ahead.outcome = .refused(fate)
        ahead.place.advance(count)
        refused(count, fate, &consumer, ledger)
        return .taken
    }

    /// The reason why the next bytes are not typed; nil where they are.
    private func refusal(_ conditions: Typist.Conditions, _ table: CompiledTable) -> Ledger.Fate? {
        let chunk = ahead.place.chunk
        if let fate = conditions.gate.refusal(epoch: chunk.epoch, received: chunk.received) { return fate }
        if beginsBarcode(table) { return chunk.received < conditions.staleBefore ? .tooOld : nil }
        if case .refused(let fate) = ahead.outcome { return fate }
        return nil
    }

    /// True where the next byte is the first of a barcode.
    private func beginsBarcode(_ table: CompiledTable) -> Bool {
        let (chunk, before) = (ahead.place.chunk, ahead.before)
        return ahead.outcome == .none || table.endsBarcode(ahead.last)
            || ahead.place.isAtChunkStart
                && (chunk.epoch != before.epoch || chunk.received &- before.received > Self.barcodeGap)
    }

    /// Takes the bytes that the encoder took of `input`.
    @inline(__always)
    private mutating func take(_ run: EventBatch.Run, of input: Span<UInt8>) {
        guard run.taken > 0 else { return }
        ahead.last = input[run.taken &- 1]
        ahead.outcome = .typed
        ahead.place.advance(run.taken)
        tally.taken &+= run.taken
        tally.typed &+= run.typed
        if run.rejected != 0 { tally.rejected &+= run.rejected }
    }

    /// True where the next byte is the line feed of the carriage return before it.
    private func isFollowed(_ consumer: borrowing ByteRing.Consumer) -> Bool {
        let byte = ahead.place.bytes(of: consumer)[0]
        guard ahead.place.isAtChunkStart else { return byte == ByteTable.lineFeed }
        return LineEnd(epoch: ahead.before.epoch, received: ahead.before.received, fate: .typed)
            .isFollowed(by: byte, of: ahead.place.chunk, within: lineFeedTime)
    }

    /// Counts bytes that were taken and are not typed, and gives them back to the ring.
    private mutating func refused(
        _ count: Int,
        _ fate: Ledger.Fate,
        _ consumer: inout ByteRing.Consumer,
        _ ledger: Ledger
    ) {
        ledger.add(count, to: fate)
        settle(&consumer, ledger)
    }
}
