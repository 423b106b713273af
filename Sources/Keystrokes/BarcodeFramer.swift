// SPDX-License-Identifier: GPL-2.0-or-later

/// The bytes in scan mode: copied out of the ring until a barcode is whole, judged, and then typed with what goes
/// around it.
///
/// Memory is two barcodes of the greatest length, the one in hand and the one typed last, made once. A barcode is
/// refused as a whole, by the first of these that holds, before its first key:
///
/// 1. its first byte came to a closed gate, or its link was dropped;
/// 2. bytes of it were lost, or its link ended before it did: cut;
/// 3. it grows longer than the greatest length: too long, from that byte to its end;
/// 4. its first byte is older than the greatest age;
/// 5. it is too short, it has a byte that the layout cannot type, or it is a duplicate.
///
/// The rest of a refused barcode, up to its end, is refused too, so that no tail is ever taken for a barcode. Its end
/// is its terminator, another link, or a silence.
///
/// A class, so that the typist of stream mode carries a reference and not its hundreds of bytes.
final class BarcodeFramer {
    /// The silence that ends what is left of a refused barcode where no idle gap is set, in nanoseconds.
    static let refusedGap: Int64 = 1_000_000_000

    private enum State {
        /// The barcode in hand is not whole; it may have no byte yet.
        case collecting
        /// The rest of a refused barcode is refused too.
        case refusing(Ledger.Fate)
        /// The barcode in hand is whole.
        case whole
        /// Its first key has left.
        case typing
    }

    /// The rules and the table of every device, and as they hold for one that anybody may be (D-2).
    private let rules: BarcodeRules
    private let table: CompiledTable
    private let openRules: BarcodeRules
    private let openTable: CompiledTable
    private var state = State.collecting

    /// How far the ring was read, and given back.
    private var place: RingPlace
    /// True where it was seen already that bytes before the current chunk were lost.
    private var isMarkSeen = false
    /// Set when the last byte was a carriage return that ended a barcode.
    private var lineEnd: LineEnd?
    private var barcode: PartialBarcode
    /// The link and the time of its first byte, and the time of the last byte that was read.
    private var epoch: UInt32 = 0
    /// Whether a part of it came from an open device.
    private var isOpen = false
    private var began: Int64 = 0
    private var lastReceived: Int64 = 0

    /// The barcode typed last, without its terminator, and when it was whole; nil before the first.
    private var previous: [UInt8] = []
    private var previousTime: Int64?

    init(_ place: RingPlace, _ rules: BarcodeRules, _ table: CompiledTable) {
        self.place = place
        self.rules = rules
        self.table = table
        openRules = rules.forOpenDevices
        openTable = CompiledTable(open: table) { rules.terminators[Int($0)] }
        barcode = PartialBarcode(mostBytes: rules.lengths.upperBound + 1)
        previous.reserveCapacity(rules.lengths.upperBound + 1)
    }

    /// How far the ring was read.
    var position: UInt { place.position }

    /// Whether a barcode is in hand, whole and good; if not, `wakeUp` is when to look again though no byte comes.
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

    /// Reads on, up to the end of a barcode at most; false where nothing more is to be read now.
    private func collect(
        _ consumer: inout ByteRing.Consumer,
        _ ledger: Ledger,
        _ conditions: Typist.Conditions
    ) -> Bool {
        if !barcode.bytes.isEmpty, let fate = conditions.gate.refusal(epoch: epoch, received: began) {
            refuse(fate, ledger)
        }
        // Asked before the ring, so that bytes which come in between are found in the ring.
        let isMissingBytes = ledger.endsInMissingBytes
        guard place.findBytes(&consumer) else { return endWithoutBytes(isMissingBytes, ledger, conditions) }
        if place.isAtChunkStart, endsBeforeChunk(ledger) { return true }

        if let lineEnd, isFollowed(lineEnd, consumer, within: conditions.gate.lineFeedTime) {
            self.lineEnd = nil
            ledger.add(1, to: lineEnd.fate)
            release(1, &consumer)
            return true
        }
        lineEnd = nil
        if barcode.bytes.isEmpty, case .collecting = state {
            epoch = place.chunk.epoch
            began = place.chunk.received
            isOpen = false
            if let fate = conditions.gate.refusal(epoch: epoch, received: began) { refuse(fate, ledger) }
        }
        lastReceived = place.chunk.received
        isOpen = isOpen || place.chunk.isFromOpenDevice
        let count = take(place.bytes(of: consumer), ledger)
        release(count, &consumer)
        return true
    }

    /// Ends the barcode in hand where the ring has no more bytes but there is a reason; true where there was one.
    private func endWithoutBytes(_ isMissingBytes: Bool, _ ledger: Ledger, _ conditions: Typist.Conditions) -> Bool {
        guard !barcode.bytes.isEmpty, case .collecting = state else { return false }
        if epoch <= conditions.gate.endedThrough || isMissingBytes {
            refuse(.cut, ledger)
        } else if let gap = rules.idleGap, conditions.now &- lastReceived > gap {
            isWhole()
            return true
        } else if conditions.now &- lastReceived > conditions.maximumAge {
            refuse(.tooOld, ledger)
        }
        return false
    }

    /// Ends what is in hand where a chunk begins that is no part of it; true where that made a barcode whole.
    private func endsBeforeChunk(_ ledger: Ledger) -> Bool {
        let chunk = place.chunk
        if chunk.epoch != epoch {
            if !barcode.bytes.isEmpty { refuse(.cut, ledger) }
            state = .collecting
            epoch = chunk.epoch
        } else if chunk.received &- lastReceived > rules.idleGap ?? Self.refusedGap, !chunk.followsMissingBytes {
            if case .refusing = state { state = .collecting }
            if rules.idleGap != nil, !barcode.bytes.isEmpty {
                isWhole()
                return true
            }
        }
        if chunk.followsMissingBytes, !isMarkSeen {
            // The lost bytes may have had the barcode's end, so the bytes up to the next end are refused too.
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
        if case .collecting = state, barcode.bytes.count + length > rules.lengths.upperBound {
            refuse(.tooLong, ledger)
        }
        if case .refusing(let fate) = state {
            ledger.add(count, to: fate)
            if terminators > 0 {
                state = .collecting
                endLine(input[length], fate)
            }
        } else {
            for index in 0..<count { barcode.bytes.append(input[index]) }
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
        barcode.end(terminators: terminators, typedRules)
    }

    private func bytesBeforeTerminator(_ input: Span<UInt8>) -> Int {
        for index in input.indices where rules.terminators[Int(input[index])] { return index }
        return input.count
    }

    /// Refuses the bytes in hand, and what follows up to the barcode's end.
    private func refuse(_ fate: Ledger.Fate, _ ledger: Ledger) {
        ledger.add(barcode.bytes.count, to: fate)
        barcode.clear()
        state = .refusing(fate)
    }

    /// When to look again though no byte comes.
    private func nextLook(_ conditions: Typist.Conditions) -> Int64? {
        guard !barcode.bytes.isEmpty else { return nil }
        let (tooOld, isNever) = lastReceived.addingReportingOverflow(conditions.maximumAge)
        let old = isNever ? nil : tooOld
        let idle = rules.idleGap.map { lastReceived &+ $0 }
        let times = [old, idle].compactMap { $0 }
        return times.min().map { $0 &+ 1 }
    }

    // MARK: Judging

    /// Why the whole barcode in hand is not typed; nil where it is.
    private func judgement(_ conditions: Typist.Conditions) -> Ledger.Fate? {
        if let fate = conditions.gate.refusal(epoch: epoch, received: began) { return fate }
        if began < conditions.staleBefore { return .tooOld }
        if barcode.length < rules.lengths.lowerBound, barcode.meaning == nil { return .tooShort }
        if barcode.hasUntypable(typedRules, typedTable, capsLock: conditions.capsLock) { return .untypable }
        return isDuplicate ? .duplicate : nil
    }

    private var isDuplicate: Bool {
        guard rules.duplicateWindow > 0, let previousTime, lastReceived &- previousTime <= rules.duplicateWindow else {
            return false
        }
        return barcode.body == previous[...]
    }

    /// Refuses what has no outcome yet of the barcode in hand, which is whole.
    private func refuseRest(_ fate: Ledger.Fate, _ ledger: Ledger) {
        ledger.add(barcode.bytesWithoutOutcome, to: fate)
        finish(fate)
    }

    private func finish(_ fate: Ledger.Fate) {
        if let terminator = barcode.terminator { endLine(terminator, fate) }
        if case .typing = state {
            barcode.swapBody(&previous)
            previousTime = lastReceived
        }
        barcode.clear()
        state = .collecting
    }

    // MARK: Typing

    private var typedRules: BarcodeRules { isOpen ? openRules : rules }
    private var typedTable: CompiledTable { isOpen ? openTable : table }

    /// Goes back to what has no outcome yet.
    func begin() { barcode.begin() }

    /// Encodes on, until `limit` events or the barcode's end, for readers with CapsLock off or on.
    func encode(_ batch: inout EventBatch, limit: Int, capsLock: Bool) -> Typist.End {
        barcode.encode(&batch, typedRules, typedTable, limit: limit, capsLock: capsLock)
    }

    /// Counts what became of everything encoded.
    func settle(_ ledger: Ledger) {
        state = .typing
        if let fate = barcode.settle(ledger) { finish(fate) }
    }

    /// Counts what became of everything encoded where only the first keystrokes have left: the others' bytes are lost.
    func settle(_ ledger: Ledger, _ batch: inout EventBatch, typing keystrokes: Int) {
        barcode.loseAll(after: keystrokes, ledger, &batch, typedRules, typedTable)
        settle(ledger)
    }

    // MARK: Line ends

    private func isFollowed(_ lineEnd: LineEnd, _ consumer: borrowing ByteRing.Consumer, within time: Int64) -> Bool {
        (table.joinsLineEnds || rules.joinsLineEnds)
            && lineEnd.isFollowed(by: place.bytes(of: consumer)[0], of: place.chunk, within: time)
    }

    private func endLine(_ byte: UInt8, _ fate: Ledger.Fate) {
        guard byte == ByteTable.carriageReturn else { return }
        lineEnd = LineEnd(epoch: epoch, received: lastReceived, fate: fate)
    }
}
