// SPDX-License-Identifier: GPL-2.0-or-later

/// Parser for scan mode.
///
/// It collects bytes from the ring until a barcode is complete, checks the barcode, and then types it with its prefix
/// and suffix.
///
/// The memory is allocated once, for two barcodes of the maximum length: the current one and the one typed last. A
/// barcode is refused as a whole, before its first key, for the first of these reasons that applies:
///
/// 1. its first byte arrived while the gate was closed, or its link was dropped;
/// 2. some of its bytes were lost, or its link ended before the barcode did: cut;
/// 3. it exceeds the maximum length: too long, from the first excess byte to its end;
/// 4. its first byte is older than the maximum age;
/// 5. it is too short, contains a byte that the layout cannot type, or is a duplicate.
///
/// The rest of a refused barcode is refused too, so that no fragment is ever mistaken for a barcode. A refused barcode
/// ends with its terminator, at the first byte of another link, or with a silence.
///
/// This is a class, so that a typist in stream mode contains a reference instead of hundreds of unused bytes.
final class BarcodeFramer {
    /// Silence that ends a refused barcode if no idle gap is configured, in nanoseconds.
    static let refusedGap: Int64 = 1_000_000_000

    private enum State {
        /// The current barcode is incomplete; it may be empty.
        case collecting
        /// The current barcode was refused; its remaining bytes are refused too.
        case refusing(Ledger.Fate)
        /// The current barcode is complete.
        case whole
        /// The first key of the current barcode was written.
        case typing
    }

    /// Rules and table, each with a restricted version for unpaired devices (D-2).
    private let rules: BarcodeRules
    private let table: CompiledTable
    private let openRules: BarcodeRules
    private let openTable: CompiledTable
    private var state = State.collecting

    /// Position up to which the ring has been read and released.
    private var place: RingPlace
    /// True if the loss of bytes before the current chunk has already been handled.
    private var isMarkSeen = false
    /// Carriage return that ended a barcode, if it was the last byte read; else nil.
    private var lineEnd: LineEnd?
    private var barcode: PartialBarcode
    /// Link on which the barcode's first byte arrived.
    private var epoch: UInt32 = 0
    /// True if a part of the barcode came from an unpaired device.
    private var isOpen = false
    /// Time of the barcode's first byte, and time of the last byte read.
    private var began: Int64 = 0
    private var lastReceived: Int64 = 0

    /// Barcode typed last, without its terminator, and the time of its last byte; nil before the first barcode.
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

    /// Position up to which the ring has been read.
    var position: UInt { place.position }

    /// Continues reading until a barcode is complete and accepted, and returns true; returns false if the ring does not
    /// contain one yet.
    ///
    /// If it returns false, it sets `wakeUp` to the time at which to check again even if no byte arrives, or to nil.
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

    /// Continues reading, at most to the end of a barcode; returns false if there is nothing more to read now.
    private func collect(
        _ consumer: inout ByteRing.Consumer,
        _ ledger: Ledger,
        _ conditions: Typist.Conditions
    ) -> Bool {
        if !barcode.bytes.isEmpty, let fate = conditions.gate.refusal(epoch: epoch, received: began) {
            refuse(fate, ledger)
        }
        // Load this before reading the ring, so that bytes that arrive in between are found in the ring.
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

    /// Ends the current barcode if something other than a received byte ends it, such as a silence or the end of its
    /// link.
    ///
    /// Returns true if the barcode is then complete.
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

    /// Ends the current barcode if the next chunk does not belong to it; returns true if the barcode is then complete.
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
            // The lost bytes may have contained the end of the barcode, so all bytes up to the next barcode end are
            // refused.
            refuse(.cut, ledger)
            isMarkSeen = true
            lineEnd = nil
        }
        return false
    }

    /// Consumes bytes up to and including a terminator, or all bytes if there is none; returns the number of consumed
    /// bytes.
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

    /// Refuses the collected bytes and the following bytes up to the end of the barcode.
    private func refuse(_ fate: Ledger.Fate, _ ledger: Ledger) {
        ledger.add(barcode.bytes.count, to: fate)
        barcode.clear()
        state = .refusing(fate)
    }

    /// Returns the time at which to check again even if no byte arrives; nil if no check is needed.
    private func nextLook(_ conditions: Typist.Conditions) -> Int64? {
        guard !barcode.bytes.isEmpty else { return nil }
        let (tooOld, isNever) = lastReceived.addingReportingOverflow(conditions.maximumAge)
        let old = isNever ? nil : tooOld
        let idle = rules.idleGap.map { lastReceived &+ $0 }
        let times = [old, idle].compactMap { $0 }
        return times.min().map { $0 &+ 1 }
    }

    // MARK: Judging

    /// Returns the reason for refusing the complete current barcode; nil to type it.
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

    /// Refuses the bytes of the complete current barcode whose outcome has not been counted.
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

    /// Moves back to the first byte whose outcome has not been counted.
    func begin() { barcode.begin() }

    /// Encodes the barcode up to `limit` events or to its end, for the given CapsLock state.
    func encode(_ batch: inout EventBatch, limit: Int, capsLock: Bool) -> Typist.End {
        barcode.encode(&batch, typedRules, typedTable, limit: limit, capsLock: capsLock)
    }

    /// Counts the outcome of all encoded bytes.
    func settle(_ ledger: Ledger) {
        state = .typing
        if let fate = barcode.settle(ledger) { finish(fate) }
    }

    /// Counts the outcome of all encoded bytes if only the first `keystrokes` keystrokes were written.
    ///
    /// The bytes of the other keystrokes are lost.
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
