// SPDX-License-Identifier: GPL-2.0-or-later

/// The bytes in stream mode: read in place in the ring, and given back when what they type has left.
///
/// A barcode is what comes up to and with the first Enter or Tab, or before a silence. Its beginning decides: what
/// follows one that was begun is typed however old it grows, and what follows one that was refused is refused too, to
/// its end.
struct StreamReader {
    /// The silence after which bytes begin another barcode though nothing has ended the last, in nanoseconds.
    static let barcodeGap: Int64 = 100_000_000

    /// How the barcode that a place lies in stands.
    enum Barcode {
        /// The next byte is the barcode's first.
        case begins
        /// Its beginning was typed, and so is the rest of it, however old that grows: half a barcode is worse than a
        /// late one.
        case typed
        /// Its beginning was refused, and so is the rest of it.
        case refused(Ledger.Fate)
    }

    /// A place, and the outcomes of the bytes from `done` to it.
    private struct Progress {
        var place: RingPlace
        /// Set when the last byte was a carriage return.
        var lineEnd: LineEnd?
        var barcode = Barcode.begins
        var typed = 0
        var discarded = 0
        var rejected = 0
    }

    /// How far bytes have an outcome.
    private var done: Progress
    /// How far they are encoded.
    private var ahead: Progress
    /// Whether they were encoded for readers with CapsLock on.
    private var capsLock = false
    /// Whether lines go to another end, and none may be joined with another.
    private let keepsLines: Bool
    /// True where bytes before what is encoded were lost, and nobody was told yet.
    private var isMissingBytes = false

    /// A reader that begins at a place; with `keepsLines`, lost bytes and late line feeds are told of.
    init(_ place: RingPlace, keepsLines: Bool) {
        self.keepsLines = keepsLines
        done = Progress(place: place, lineEnd: nil)
        ahead = done
    }

    /// How far bytes have an outcome.
    var position: UInt { done.place.position }

    /// Whether bytes were lost before what is encoded; asked once.
    mutating func takeMissingMark() -> Bool {
        defer { isMissingBytes = false }
        return isMissingBytes
    }

    /// Goes back to what has no outcome yet.
    @inline(__always)
    mutating func begin() { ahead = done }

    /// Encodes on, until `limit` events, the ring's end, bytes that are not typed or, if asked for, a barcode's end.
    ///
    /// Bytes that are refused are counted at once where they come first.
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
        var end: Typist.End?
        while end == nil {
            guard findBytes(&consumer) else { break }
            if keepsLines, ahead.place.isAtChunkStart, ahead.place.chunk.followsMissingBytes {
                guard isNothingEncoded else { break }
                isMissingBytes = true
                ahead.lineEnd = nil
            }
            if table.joinsLineEnds, let lineEnd = ahead.lineEnd, isFollowed(lineEnd, consumer) {
                ahead.lineEnd = nil
                ahead.place.advance(1)
                // A carriage return that was not typed has its outcome already, so nothing is between `done` and here. Where
                // lines are kept, it has, too, and its line feed is not the next line's.
                if lineEnd.fate == .typed, !keepsLines {
                    ahead.typed &+= 1
                } else {
                    refused(1, lineEnd.fate, &consumer, ledger)
                }
            } else if let fate = refusal(conditions) {
                guard isNothingEncoded else { break }
                let count = takeBarcode(ahead.place.bytes(of: consumer), fate, table)
                refused(count, fate, &consumer, ledger)
            } else {
                let input = ahead.place.bytes(of: consumer)
                // An old chunk is looked at barcode by barcode: the first may have been begun, the next is too old.
                let isOld = ahead.place.chunk.received < conditions.staleBefore
                let run = batch.type(
                    input,
                    table,
                    limit: limit,
                    stopAtBarcodeEnd: stopAtBarcodeEnd || isOld,
                    capsLock: capsLock
                )
                take(run, of: input, table)
                end = run.stop == .barcodeEnd && !stopAtBarcodeEnd ? nil : run.stop
            }
        }
        batch.finish()
        return end ?? .exhausted
    }

    /// Counts what became of everything encoded, and gives it back to the ring.
    @inline(__always)
    mutating func settle(_ consumer: inout ByteRing.Consumer, _ ledger: Ledger) {
        ledger.add(ahead.typed, to: .typed)
        ledger.add(ahead.discarded, to: .discarded)
        ledger.add(ahead.rejected, to: .untypable)
        ahead.typed = 0
        ahead.discarded = 0
        ahead.rejected = 0
        done = ahead
        consumer.release(through: position)
    }

    /// Counts what became of everything encoded where only the first keystrokes have left: the others' bytes are lost.
    mutating func settle(
        _ consumer: inout ByteRing.Consumer,
        _ ledger: Ledger,
        _ batch: inout EventBatch,
        _ table: CompiledTable,
        typing keystrokes: Int
    ) {
        let all = ahead
        begin()
        // None of these bytes is refused: they were encoded before, when they were not.
        let open = Typist.Conditions(
            now: 0,
            maximumAge: Int64.max,
            staleBefore: Int64.min,
            gate: .open,
            capsLock: capsLock
        )
        _ = encode(&batch, &consumer, table, ledger, limit: 0, stopAtBarcodeEnd: false, open)
        var typed = ahead.typed
        var left = keystrokes
        while left > 0 {
            _ = encode(&batch, &consumer, table, ledger, limit: EventBatch.oneByte, stopAtBarcodeEnd: false, open)
            guard batch.count > 0 else { break }
            left -= batch.keystrokes(in: batch.count)
            if left >= 0 { typed = ahead.typed }
        }
        typed = min(typed, all.typed)
        let lost = all.typed &- typed
        ahead = all
        ahead.typed = typed
        if lost > 0 { ahead.lineEnd?.fate = .writeFailed }
        ledger.add(lost, to: .writeFailed)
        settle(&consumer, ledger)
    }

    /// True where nothing is between `done` and here.
    private var isNothingEncoded: Bool { ahead.typed | ahead.discarded | ahead.rejected == 0 }

    /// Goes on to the next byte; false where the ring has no more.
    @inline(__always)
    private mutating func findBytes(_ consumer: inout ByteRing.Consumer) -> Bool {
        guard ahead.place.remaining == 0 else { return true }
        let last = ahead.place.chunk
        guard ahead.place.findBytes(&consumer) else { return false }
        let chunk = ahead.place.chunk
        if chunk.epoch != last.epoch || chunk.received &- last.received > Self.barcodeGap { ahead.barcode = .begins }
        return true
    }

    /// Why the next bytes are not typed; nil where they are.
    @inline(__always)
    private func refusal(_ conditions: Typist.Conditions) -> Ledger.Fate? {
        let chunk = ahead.place.chunk
        if let fate = conditions.gate.refusal(epoch: chunk.epoch, received: chunk.received) { return fate }
        switch ahead.barcode {
        case .begins: return chunk.received < conditions.staleBefore ? .tooOld : nil
        case .typed: return nil
        case .refused(let fate): return fate
        }
    }

    /// Takes the bytes that the encoder took of `input`.
    @inline(__always)
    private mutating func take(_ run: EventBatch.Run, of input: Span<UInt8>, _ table: CompiledTable) {
        guard run.taken > 0 else { return }
        ahead.barcode = table.endsBarcode(input[run.taken - 1]) ? .begins : .typed
        ahead.place.advance(run.taken)
        ahead.typed &+= run.typed
        ahead.rejected &+= run.rejected
        ahead.discarded &+= run.taken &- run.typed &- run.rejected
        endLine(run.endsInCarriageReturn, .typed)
    }

    /// Takes bytes up to a barcode's end, all with one outcome; answers how many bytes that are.
    private mutating func takeBarcode(_ input: Span<UInt8>, _ fate: Ledger.Fate, _ table: CompiledTable) -> Int {
        let count = table.barcodeLength(input)
        let last = input[count - 1]
        ahead.barcode = table.endsBarcode(last) ? .begins : .refused(fate)
        ahead.place.advance(count)
        endLine(table.joinsLineEnds && last == ByteTable.carriageReturn, fate)
        return count
    }

    private func isFollowed(_ lineEnd: LineEnd, _ consumer: borrowing ByteRing.Consumer) -> Bool {
        lineEnd.isFollowed(by: ahead.place.bytes(of: consumer)[0], of: ahead.place.chunk)
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

    @inline(__always)
    private mutating func endLine(_ isEnd: Bool, _ fate: Ledger.Fate) {
        let chunk = ahead.place.chunk
        ahead.lineEnd = isEnd ? LineEnd(epoch: chunk.epoch, received: chunk.received, fate: fate) : nil
    }
}
