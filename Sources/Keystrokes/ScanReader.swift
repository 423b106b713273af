// SPDX-License-Identifier: GPL-2.0-or-later

/// The bytes in scan mode: copied out of the ring until a scan is whole, judged, and then typed with what goes around it.
///
/// Memory is two scans of the greatest length, the one in hand and the one typed last, made once. A scan is refused as a
/// whole, by the first of these that holds, before its first key:
///
/// 1. its first byte came to a closed gate, or its link was dropped;
/// 2. bytes of it were lost, or its link ended before it did: cut;
/// 3. it grows longer than the greatest length: too long, from that byte to its end;
/// 4. its first byte is older than the greatest age;
/// 5. it is too short, or a duplicate.
///
/// What is left of a refused scan, up to its end, fares alike, so that no tail is ever taken for a scan. Its end is its
/// terminator, another link, or a silence.
///
/// Within a scan a line feed after a carriage return is absorbed, whatever the time between them.
///
/// A class, so that the typist of stream mode carries a reference and not its hundreds of bytes.
final class ScanReader {
    /// The silence that ends what is left of a refused scan where no idle gap is set, in nanoseconds.
    static let refusedGap: Int64 = 1_000_000_000

    /// What a scan in hand is typed from, one after the other.
    private enum Part: Int {
        case prefix, body, end, nothing
    }

    /// A place in a scan in hand, and what the bytes since `done` do.
    private struct Progress {
        var part = Part.prefix
        /// Bytes of that part that are behind.
        var offset = 0
        var typed = 0
        var discarded = 0
        var rejected = 0
        /// What became of the last byte of the scan.
        var last = Ledger.Fate.discarded
    }

    /// Where the reader stands.
    private enum State {
        /// The scan in hand is not whole; it may have no byte yet.
        case collecting
        /// What is left of a refused scan is refused too.
        case refusing(Ledger.Fate)
        /// The scan in hand is whole.
        case whole
        /// Its first key has left.
        case typing
    }

    private let rules: ScanRules
    private let table: CompiledTable
    private var state = State.collecting

    /// How far the ring was read, and given back.
    private var place: RingPlace
    /// True where it was seen already that bytes before the current chunk were lost.
    private var isMarkSeen = false
    /// Set when the last byte was a carriage return that ended a scan.
    private var lineEnd: LineEnd?
    /// The scan in hand, its terminator with it if it has one.
    private var scan: [UInt8] = []
    /// The bytes of `scan` before the terminator.
    private var length = 0
    /// The link and the time of its first byte, and the time of the last byte that was read.
    private var epoch: UInt32 = 0
    private var began: Int64 = 0
    private var lastReceived: Int64 = 0

    /// How far the scan in hand has an outcome, and how far it is encoded.
    private var done = Progress()
    private var ahead = Progress()
    /// Whether it was encoded for readers with CapsLock on.
    private var capsLock = false

    /// The scan typed last, without its terminator, and when it was whole; nil before the first.
    private var previous: [UInt8] = []
    private var previousTime: Int64?

    /// A reader that begins at a place.
    init(_ place: RingPlace, _ rules: ScanRules, _ table: CompiledTable) {
        self.place = place
        self.rules = rules
        self.table = table
        scan.reserveCapacity(rules.lengths.upperBound + 1)
        previous.reserveCapacity(rules.lengths.upperBound + 1)
    }

    /// How far the ring was read.
    var position: UInt { place.position }

    /// Whether a scan is in hand, whole and good; if not, `wakeUp` is when to look again though no byte comes.
    func find(
        _ consumer: inout ByteRing.Consumer,
        _ ledger: Ledger,
        _ conditions: Typist.Conditions,
        _ wakeUp: inout Int64?
    ) -> Bool {
        while true {
            switch state {
            case .typing:
                guard let fate = conditions.gate.refusal(epoch: epoch, received: began) else { return true }
                refuseRest(fate, ledger)
            case .whole:
                guard let fate = judgement(conditions) else { return true }
                refuseRest(fate, ledger)
            case .collecting, .refusing:
                guard collect(&consumer, ledger, conditions) else {
                    wakeUp = nextLook(conditions)
                    return false
                }
            }
        }
    }

    // MARK: Collecting

    /// Reads on, up to the end of a scan at most; false where nothing more is to be read now.
    private func collect(
        _ consumer: inout ByteRing.Consumer,
        _ ledger: Ledger,
        _ conditions: Typist.Conditions
    ) -> Bool {
        if !scan.isEmpty, let fate = conditions.gate.refusal(epoch: epoch, received: began) { refuse(fate, ledger) }
        // Asked before the ring: what comes between the two looks is seen in the ring.
        let isMissingBytes = ledger.endsInMissingBytes
        guard place.findBytes(&consumer) else { return endWithoutBytes(isMissingBytes, ledger, conditions) }
        if place.isAtChunkStart, endsBeforeChunk(ledger) { return true }

        if let lineEnd, isFollowed(lineEnd, consumer) {
            self.lineEnd = nil
            ledger.add(1, to: lineEnd.fate)
            release(1, &consumer)
            return true
        }
        lineEnd = nil
        if scan.isEmpty, case .collecting = state {
            epoch = place.chunk.epoch
            began = place.chunk.received
            if let fate = conditions.gate.refusal(epoch: epoch, received: began) { refuse(fate, ledger) }
        }
        lastReceived = place.chunk.received
        let count = take(place.bytes(of: consumer), ledger)
        release(count, &consumer)
        return true
    }

    /// Ends the scan in hand where the ring has no more bytes but there is a reason; true where there was one.
    private func endWithoutBytes(
        _ isMissingBytes: Bool,
        _ ledger: Ledger,
        _ conditions: Typist.Conditions
    ) -> Bool {
        guard !scan.isEmpty, case .collecting = state else { return false }
        if epoch <= conditions.gate.endedThrough || isMissingBytes {
            refuse(.cut, ledger)
        } else if let gap = rules.idleGap, conditions.now &- lastReceived > gap {
            isWhole()
            return true
        } else if conditions.now &- began > conditions.maximumAge {
            refuse(.tooOld, ledger)
        }
        return false
    }

    /// Ends what is in hand where a chunk begins that is no part of it; true where that made a scan whole.
    private func endsBeforeChunk(_ ledger: Ledger) -> Bool {
        let chunk = place.chunk
        if chunk.epoch != epoch {
            if !scan.isEmpty { refuse(.cut, ledger) }
            state = .collecting
            epoch = chunk.epoch
        } else if chunk.received &- lastReceived > rules.idleGap ?? Self.refusedGap, !chunk.followsMissingBytes {
            if case .refusing = state { state = .collecting }
            if rules.idleGap != nil, !scan.isEmpty {
                isWhole()
                return true
            }
        }
        if chunk.followsMissingBytes, !isMarkSeen {
            // Nobody knows where the scan ends that those bytes were of.
            refuse(.cut, ledger)
            isMarkSeen = true
            lineEnd = nil
        }
        return false
    }

    /// Takes bytes up to and with a terminator, or all there are; answers how many.
    private func take(_ input: Span<UInt8>, _ ledger: Ledger) -> Int {
        let length = bytesBeforeTerminator(input)
        let terminators = length < input.count ? 1 : 0
        let count = length + terminators
        if case .collecting = state, scan.count + length > rules.lengths.upperBound { refuse(.tooLong, ledger) }
        if case .refusing(let fate) = state {
            ledger.add(count, to: fate)
            if terminators > 0 {
                state = .collecting
                endLine(input[length], fate)
            }
        } else {
            for index in 0..<count { scan.append(input[index]) }
            if terminators > 0 { isWhole(terminators: terminators) }
        }
        return count
    }

    private func release(_ count: Int, _ consumer: inout ByteRing.Consumer) {
        place.advance(count)
        isMarkSeen = false
        consumer.release(through: place.position)
    }

    private func isWhole(terminators: Int = 0) {
        state = .whole
        length = scan.count - terminators
    }

    private func bytesBeforeTerminator(_ input: Span<UInt8>) -> Int {
        for index in input.indices where rules.terminators[Int(input[index])] { return index }
        return input.count
    }

    /// Refuses the bytes in hand, and what follows up to the scan's end.
    private func refuse(_ fate: Ledger.Fate, _ ledger: Ledger) {
        ledger.add(scan.count, to: fate)
        scan.removeAll(keepingCapacity: true)
        state = .refusing(fate)
    }

    /// When to look again though no byte comes.
    private func nextLook(_ conditions: Typist.Conditions) -> Int64? {
        guard !scan.isEmpty else { return nil }
        let (tooOld, isNever) = began.addingReportingOverflow(conditions.maximumAge)
        let old = isNever ? nil : tooOld
        let idle = rules.idleGap.map { lastReceived &+ $0 }
        let times = [old, idle].compactMap { $0 }
        return times.min().map { $0 &+ 1 }
    }

    // MARK: Judging

    /// Why the whole scan in hand is not typed; nil where it is.
    private func judgement(_ conditions: Typist.Conditions) -> Ledger.Fate? {
        if let fate = conditions.gate.refusal(epoch: epoch, received: began) { return fate }
        if conditions.now &- began > conditions.maximumAge { return .tooOld }
        if length < rules.lengths.lowerBound { return .tooShort }
        return isDuplicate ? .duplicate : nil
    }

    private var isDuplicate: Bool {
        guard rules.duplicateWindow > 0, let previousTime, lastReceived &- previousTime <= rules.duplicateWindow else {
            return false
        }
        return length == previous.count && scan.prefix(length) == previous[...]
    }

    /// Refuses what has no outcome yet of the scan in hand, which is whole.
    private func refuseRest(_ fate: Ledger.Fate, _ ledger: Ledger) {
        let behind =
            switch done.part {
            case .prefix: 0
            case .body: done.offset
            case .end, .nothing: length
            }
        ledger.add(scan.count - behind, to: fate)
        finish(fate)
    }

    private func finish(_ fate: Ledger.Fate) {
        if let last = scan.last, length < scan.count { endLine(last, fate) }
        if case .typing = state {
            scan.removeLast(scan.count - length)
            swap(&scan, &previous)
            previousTime = lastReceived
        }
        scan.removeAll(keepingCapacity: true)
        length = 0
        done = Progress()
        state = .collecting
    }

    // MARK: Typing

    /// Goes back to what has no outcome yet.
    func begin() { ahead = done }

    /// Encodes on, until `limit` events or the scan's end.
    func encode(_ batch: inout EventBatch, limit: Int, capsLock: Bool) -> Typist.End {
        batch.clear()
        self.capsLock = capsLock
        var isFull = false
        while !isFull, ahead.part != .nothing {
            switch ahead.part {
            case .prefix: isFull = encode(rules.prefix, &batch, limit)
            case .body: isFull = encodeBytes(0..<length, &batch, limit)
            case .end:
                if let suffix = rules.suffix {
                    isFull = encode(suffix, &batch, limit)
                } else if endsInLineFeed {
                    ahead.typed += 1
                    ahead.last = .typed
                } else {
                    isFull = encodeBytes(length..<scan.count, &batch, limit)
                }
            case .nothing: break
            }
            if !isFull {
                if ahead.part == .end, rules.suffix != nil { ahead.discarded += scan.count - length }
                ahead.part = Part(rawValue: ahead.part.rawValue + 1) ?? .nothing
                ahead.offset = 0
            }
        }
        batch.finish()
        return isFull ? .full : .scanEnd
    }

    /// Encodes on in a prefix or suffix; true where the limit ends it.
    private func encode(_ affix: ScanAffix, _ batch: inout EventBatch, _ limit: Int) -> Bool {
        ahead.last = .discarded
        guard let table = affix.table else { return false }
        let rest = affix.bytes.span.extracting(droppingFirst: ahead.offset)
        let run = batch.type(rest, table, limit: limit, stopAtScanEnd: false, capsLock: capsLock)
        ahead.offset += run.taken
        return run.stop != nil
    }

    /// Encodes on in that part of the scan; true where the limit ends it.
    private func encodeBytes(_ bytes: Range<Int>, _ batch: inout EventBatch, _ limit: Int) -> Bool {
        var progress = ahead
        defer { ahead = progress }
        return encodeBytes(bytes, &progress, &batch, limit)
    }

    private func encodeBytes(
        _ bytes: Range<Int>,
        _ progress: inout Progress,
        _ batch: inout EventBatch,
        _ limit: Int
    ) -> Bool {
        let scan = scan
        let rest = scan.span.extracting(bytes).extracting(droppingFirst: progress.offset)
        guard !rest.isEmpty else { return false }
        let run = batch.type(rest, table, limit: limit, stopAtScanEnd: false, capsLock: capsLock)
        progress.offset += run.taken
        progress.typed += run.typed
        progress.rejected += run.rejected
        progress.discarded += run.taken - run.typed - run.rejected
        progress.last = run.typed > 0 ? .typed : run.rejected > 0 ? .untypable : .discarded
        if run.endsInCarriageReturn, run.taken < rest.count, rest[run.taken] == ByteTable.lineFeed {
            progress.offset += 1
            progress.typed += 1
        }
        return run.stop != nil
    }

    /// Counts what became of everything encoded.
    func settle(_ ledger: Ledger) {
        ledger.add(ahead.typed, to: .typed)
        ledger.add(ahead.discarded, to: .discarded)
        ledger.add(ahead.rejected, to: .untypable)
        ahead.typed = 0
        ahead.discarded = 0
        ahead.rejected = 0
        done = ahead
        state = .typing
        if done.part == .nothing { finish(done.last) }
    }

    /// The same where only the first keystrokes have left: the bytes of the others are lost.
    func settle(_ ledger: Ledger, _ batch: inout EventBatch, typing keystrokes: Int) {
        let all = ahead
        begin()
        _ = encode(&batch, limit: 0, capsLock: capsLock)
        var typed = ahead.typed
        var left = keystrokes
        while left > 0 {
            _ = encode(&batch, limit: EventBatch.oneByte, capsLock: capsLock)
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
        settle(ledger)
    }

    // MARK: Line ends

    /// Whether the terminator is the line feed of a carriage return, and typed with it.
    private var endsInLineFeed: Bool {
        table.joinsLineEnds && length > 0 && length < scan.count && scan[length - 1] == ByteTable.carriageReturn
            && scan[length] == ByteTable.lineFeed
    }

    private func isFollowed(_ lineEnd: LineEnd, _ consumer: borrowing ByteRing.Consumer) -> Bool {
        (table.joinsLineEnds || rules.joinsLineEnds)
            && lineEnd.isFollowed(by: place.bytes(of: consumer)[0], of: place.chunk)
    }

    private func endLine(_ byte: UInt8, _ fate: Ledger.Fate) {
        guard byte == ByteTable.carriageReturn else { return }
        lineEnd = LineEnd(epoch: epoch, received: lastReceived, fate: fate)
    }
}
