// SPDX-License-Identifier: GPL-2.0-or-later

/// Parser for stream mode: reads bytes in place in the ring, and releases them when they are typed.
///
/// A barcode extends up to and including the first Enter or Tab, or up to a silence. The decision about its first byte
/// applies to the whole barcode: once a barcode is begun, the rest is typed regardless of its age, and if its first
/// byte is refused, the rest is refused too.
struct StreamReader {
    /// Silence after which the next byte begins a new barcode even without an Enter or Tab, in nanoseconds.
    static let barcodeGap: Int64 = 100_000_000

    /// Outcome of the last byte before a position.
    private enum Outcome: Equatable {
        /// There is no byte before the position, or bytes were lost after that byte, so the next byte begins a barcode.
        case none
        case typed
        /// The barcode was in progress, but the keystroke of the byte could not be written.
        case writeFailed
        case refused(Ledger.Fate)
    }

    /// Position in the ring, with the state of the byte before it.
    private struct Progress {
        var place: RingPlace
        /// Header of the chunk before the current one.
        var before: ChunkHeader
        /// Byte before the position.
        var last: UInt8 = 0
        /// Outcome of `last`.
        ///
        /// If it is typed, the bytes that follow in the same barcode are typed regardless of their age, because half a
        /// barcode is worse than a late one.
        var outcome = Outcome.none
    }

    /// Number of bytes between `done` and `ahead`, by outcome.
    private struct Tally {
        /// Number of all bytes; bytes neither typed nor rejected are discarded.
        var taken = 0
        var typed = 0
        var rejected = 0
    }

    /// Position after the last byte that has an outcome, with the state of that byte.
    private var done: Progress
    /// Position after the last encoded byte, with the state of that byte.
    private var ahead: Progress
    private var tally = Tally()
    /// CapsLock state for which the bytes before `ahead` were encoded.
    private var capsLock = false
    /// Maximum time between a carriage return and its line feed in the encoded bytes, in nanoseconds.
    private var lineFeedTime = LineEnd.usualTime
    /// True if lines go to an output other than the keyboard, so that two lines must not be joined.
    private let keepsLines: Bool
    /// True if bytes before the encoded ones were lost and `takeMissingMark` has not been called since.
    private var isMissingBytes = false

    /// Creates a parser that begins at this position; with `keepsLines`, it reports lost bytes and never joins lines.
    init(_ place: RingPlace, keepsLines: Bool) {
        self.keepsLines = keepsLines
        done = Progress(place: place, before: place.chunk)
        ahead = done
    }

    /// Position after the last byte that has an outcome.
    var position: UInt { done.place.position }

    /// Returns true if the outcome of every byte in the ring has been counted.
    @inline(__always)
    func isDone(_ consumer: inout ByteRing.Consumer) -> Bool {
        done.place.remaining == 0 && consumer.available(from: position) == 0
    }

    /// Returns true if bytes before the encoded ones were lost, and clears the flag.
    mutating func takeMissingMark() -> Bool {
        defer { isMissingBytes = false }
        return isMissingBytes
    }

    /// Moves back to the first byte whose outcome is not counted, so that an unwritten batch is encoded again.
    @inline(__always)
    mutating func begin() {
        guard ahead.place.position != done.place.position else { return }
        ahead = done
        tally = Tally()
    }

    /// Encodes bytes until the batch has `limit` events or the encoder must stop earlier.
    ///
    /// The encoder stops earlier at the end of the ring, before bytes that are not typed and, if requested, at the end
    /// of a barcode. Refused bytes are counted immediately if no encoded bytes precede them.
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
        // Sound: the table, and thus its rows, is alive during the call.
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

    /// Types the next bytes of a chunk.
    ///
    /// A stale chunk is typed barcode by barcode, because a barcode in progress is still finished, but the one after it
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

    /// Calls the encoder without inlining it, where speed does not matter.
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

    /// Counts the outcome of all encoded bytes, and releases their space in the ring.
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

    /// Counts the outcome of all encoded bytes if only the first keystrokes were written; the other bytes are lost.
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
        // No byte is refused here, because none was refused when the bytes were first encoded.
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

    /// True if there are no bytes between `done` and `ahead`.
    private var isNothingEncoded: Bool { tally.taken == 0 }

    /// Advances to the next byte; returns false if the ring has no more.
    @inline(__always)
    private mutating func findBytes(_ consumer: inout ByteRing.Consumer) -> Bool {
        guard ahead.place.remaining == 0 else { return true }
        let last = ahead.place.chunk
        guard ahead.place.findBytes(&consumer) else { return false }
        ahead.before = last
        return true
    }

    /// Returns true if the next bytes can be typed without checking the bytes before them.
    ///
    /// In that case, they are neither refused nor stale, do not begin with the line feed of a carriage return, and do
    /// not follow lost bytes that must be reported.
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

    /// Result of `look`, which examines the next bytes if they are not plain.
    private enum Look {
        /// The bytes were absorbed or refused, and their outcome was counted.
        case taken
        /// The bytes must wait until the encoded ones are written.
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
            // If the carriage return was not typed, it already has its outcome, so there is nothing between `done` and
            // `ahead`. With `keepsLines`, a typed one also has its outcome, and its line feed is not part of the next
            // line.
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

    /// Returns the reason why the next bytes are not typed; nil if they are typed.
    private func refusal(_ conditions: Typist.Conditions, _ table: CompiledTable) -> Ledger.Fate? {
        let chunk = ahead.place.chunk
        if let fate = conditions.gate.refusal(epoch: chunk.epoch, received: chunk.received) { return fate }
        if beginsBarcode(table) { return chunk.received < conditions.staleBefore ? .tooOld : nil }
        if case .refused(let fate) = ahead.outcome { return fate }
        return nil
    }

    /// Returns true if the next byte is the first of a barcode.
    private func beginsBarcode(_ table: CompiledTable) -> Bool {
        let (chunk, before) = (ahead.place.chunk, ahead.before)
        return ahead.outcome == .none || table.endsBarcode(ahead.last)
            || ahead.place.isAtChunkStart
                && (chunk.epoch != before.epoch || chunk.received &- before.received > Self.barcodeGap)
    }

    /// Advances past the bytes of `input` that the encoder consumed, and counts them.
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

    /// Returns true if the next byte is the line feed that belongs to the previous carriage return.
    private func isFollowed(_ consumer: borrowing ByteRing.Consumer) -> Bool {
        let byte = ahead.place.bytes(of: consumer)[0]
        guard ahead.place.isAtChunkStart else { return byte == ByteTable.lineFeed }
        return LineEnd(epoch: ahead.before.epoch, received: ahead.before.received, fate: .typed)
            .isFollowed(by: byte, of: ahead.place.chunk, within: lineFeedTime)
    }

    /// Counts consumed bytes that are not typed, and releases their space in the ring.
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
