// SPDX-License-Identifier: GPL-2.0-or-later

/// Engine of the typing thread: reads bytes from the ring, and decides which events to write, and when.
///
/// It performs no I/O: the caller calls `next`, performs the returned step, reports the result with `commit` or `fail`,
/// and calls `next` again.
///
///     while running {
///         switch typist.next(now: clock()) {
///         case .write: device.write(typist.output) → typist.commit(now: clock())
///         case .wait(let time): wait for that time or a wake-up
///         case .sleep: wait for a wake-up
///         }
///     }
///
/// `StreamReader` or `BarcodeFramer` determines which bytes are typed and counts their outcomes, the pacer determines
/// when keys may be written, and this type connects the two. In stream mode (`StreamReader`), bytes are read in place,
/// and a barcode is the waiting text up to and including the first Enter or Tab. In scan mode (`BarcodeFramer`),
/// nothing is typed before a barcode is complete and accepted (D-2, X-12).
///
/// A complete barcode that fits into the pacer's window is written at once; any other is written keystroke by
/// keystroke, from its first key on. Waiting text without an end may be the beginning of a barcode: it is written at
/// once only if its continuation could follow within `Pace.longestGap`.
public struct Typist: ~Copyable {
    /// Next action of the caller.
    public enum Step: Equatable, Sendable {
        /// Write `output` in one write, then call `commit` or `fail`.
        case write
        /// Call `next` again at or after this time, in nanoseconds, or earlier if the feed requests a wake-up.
        case wait(until: Int64)
        /// Wait until the feed requests a wake-up, because there is nothing to type, then call `next` again.
        case sleep
    }

    /// Default maximum age, in nanoseconds, of a barcode that waited while nothing could be typed.
    ///
    /// Older barcodes are dropped.
    public static let defaultMaximumAge: Int64 = 5_000_000_000

    private var consumer: ByteRing.Consumer
    private let table: CompiledTable
    private var pacer: Pacer
    /// Copies of the pacer's properties that every write needs, because a call to the pacer copies its two kilobytes.
    private let isUnlimited: Bool
    private let isSpread: Bool
    /// True if a write contains at most one barcode in stream mode; in scan mode, this is always so.
    private let stopsAtBarcodeEnd: Bool
    private let leadsModifiers: Bool
    private let maximumAge: Int64
    private let gate: Gate
    private let light: CapsLockLight?
    private let ledger: Ledger

    /// Parser of the bytes in stream mode; unused in scan mode.
    private var stream: StreamReader
    /// Parser of the bytes in scan mode; nil in stream mode.
    private let barcodes: BarcodeFramer?
    private var batch = EventBatch()
    /// End of the part of `batch` that is already written, and end of the part that the next write contains, in bytes.
    private var written = 0
    private var due = 0
    /// True from the time that `next` returns `write` until the caller reports the result.
    private var isWriting = false
    /// Reason why encoding of the batch stopped.
    private var end = End.exhausted
    /// True while a barcode is typed keystroke by keystroke, until its end.
    private var isPacing = false
    private var lastKeystroke = Int64.min
    /// True while the typist sleeps and the feed must wake it.
    private var isDrowsy = false
    /// Last time at which the typist was called or known to be busy; it has been idle since that time.
    private var free = Int64.min / 2
    /// Time before which received bytes are stale, because they waited for too long while nothing could be typed.
    private var staleBefore = Int64.min

    /// Creates an engine that types the bytes of `consumer`: as barcodes by `barcodes`, or as a stream if it is nil.
    ///
    /// `maximumAge` is in nanoseconds; nil types bytes of any age. Bytes are dropped if they waited longer than that
    /// while the typist was not called, because there was no keyboard, or because the process or the machine slept.
    /// Bytes that wait behind other bytes being typed are not dropped, however long that takes (D-1a). The age of a
    /// barcode's first byte decides for the whole barcode: a barcode in progress is finished, and an expired one is
    /// dropped to its end. `light` is the CapsLock state, which is read again for every write; nil assumes that
    /// CapsLock is off. With `keepsLines` or `separatesBarcodes`, no write contains more than one barcode.
    /// `keepsLines` is for outputs other than the keyboard, `separatesBarcodes` for a keyboard that several typists
    /// use.
    public init(
        _ consumer: consuming ByteRing.Consumer,
        table: CompiledTable,
        pacer: Pacer,
        barcodes: BarcodeRules? = nil,
        maximumAge: Int64? = Typist.defaultMaximumAge,
        gate: Gate,
        light: CapsLockLight? = nil,
        keepsLines: Bool = false,
        separatesBarcodes: Bool = false,
        ledger: Ledger
    ) {
        let place = RingPlace(position: consumer.position)
        stream = StreamReader(place, keepsLines: keepsLines)
        stopsAtBarcodeEnd = !pacer.isUnlimited || keepsLines || separatesBarcodes
        self.barcodes = barcodes.map { BarcodeFramer(place, $0, table) }
        self.consumer = consumer
        self.table = table
        self.pacer = pacer
        isUnlimited = pacer.isUnlimited
        isSpread = pacer.isSpread
        leadsModifiers = pacer.pace.lead > 0
        self.maximumAge = maximumAge ?? Int64.max
        self.gate = gate
        self.light = light
        self.ledger = ledger
    }

    /// Events to write when `next` has returned `write`.
    public var output: RawSpan {
        @_lifetime(borrow self)
        borrowing get { batch.bytes.extracting(written..<due) }
    }

    /// Number of events in `output`.
    public var outputEvents: Int { (due &- written) / InputEvent.size }

    /// Number of keys other than modifiers that `output` presses.
    public var outputKeystrokes: Int { batch.presses(written / InputEvent.size, due / InputEvent.size) }

    /// True after `commit` if no byte is typed in part.
    public var isBetweenKeystrokes: Bool { written == 0 }

    /// True if the last event of `output` completes a barcode.
    public var endsBarcode: Bool { end == .barcodeEnd }

    /// True if `output` ends a line even without an Enter, because it completes a barcode in scan mode.
    public var endsWhole: Bool { barcodes != nil && endsBarcode }

    /// Number of received bytes whose keystrokes the keyboard device has accepted.
    public var handedOver: UInt64 { ledger.handedOver }

    /// Returns true if bytes before those of `output` were lost, and clears the flag.
    public mutating func takeMissingMark() -> Bool { stream.takeMissingMark() }

    /// Marks the typist as busy until `now`, so that waiting bytes do not expire.
    ///
    /// Call it while another typist uses the same keyboard, or while this one waits for a slow output.
    public mutating func attend(now: Int64) { free = max(free, now) }

    /// Returns the next step at `now`, in nanoseconds of a clock that keeps running while the machine sleeps.
    public mutating func next(now: Int64) -> Step {
        called(now)
        if isWriting { return .write }
        if isDrowsy {
            consumer.stayAwake()
            isDrowsy = false
        }
        // A keystroke whose press was written is always finished.
        if written == 0, let step = choose(now) { return step }
        if isPacing, let time = pacedTime(after: now) { return .wait(until: time) }
        isWriting = true
        return .write
    }

    /// Returns the time of the next paced keystroke; nil if it may be written now.
    @inline(never)
    private mutating func pacedTime(after now: Int64) -> Int64? {
        let time = pacer.pacedTime(forEvents: outputEvents, now: now)
        guard time > now else { return nil }
        attend(now: time)
        return time
    }

    /// Withdraws a write that must be delayed.
    ///
    /// `next` then examines the gate, the age of the bytes and CapsLock again, except within a keystroke.
    public mutating func withdraw() { isWriting = false }

    /// Records that the keyboard device accepted all of `output`; `now` is the time after the write.
    public mutating func commit(now: Int64) {
        guard isWriting else { return }
        called(now)
        isWriting = false
        if !isUnlimited { record(now) }
        written = due
        if written < batch.byteCount {
            cut()
        } else {
            settle()
            keystrokesLeft(now: now)
        }
    }

    /// Reports `output` to the pacer.
    @inline(never)
    private mutating func record(_ now: Int64) {
        let part = batch.part(written / InputEvent.size, due / InputEvent.size)
        pacer.record(events: outputEvents, now: now, part)
    }

    /// Records that the keyboard device accepted only the first `events` events; `now` is the time after the write.
    ///
    /// Bytes whose keystrokes were completely accepted count as typed; the other bytes of this write are lost and are
    /// not retried. The kernel releases keys that are still down when the keyboard device is removed.
    public mutating func fail(acceptedEvents events: Int, now: Int64) {
        guard isWriting else { return }
        isWriting = false
        let accepted = min(max(events, 0), outputEvents)
        pacer.record(events: accepted, now: now, .whole)
        settle(typing: batch.keystrokes(in: written / InputEvent.size + accepted))
        keystrokesLeft(now: now)
    }
}

extension Typist {
    /// Reason why encoding stopped.
    enum End {
        /// No more bytes are waiting, or the next bytes are not typed.
        case exhausted
        /// The next keystroke does not fit into the limit.
        case full
        /// The last key of a barcode has been encoded.
        case barcodeEnd
    }

    /// Conditions for one call of `next`.
    struct Conditions {
        var now: Int64
        var maximumAge: Int64
        var staleBefore: Int64
        var gate: Gate.State
        var capsLock: Bool

        /// Time up to which received bytes may be gated or too old; bytes received later are neither.
        var border: Int64 { max(gate.refusedThrough, staleBefore == .min ? .min : staleBefore &- 1) }
    }

    /// Records a call; after an idle time longer than `maximumAge`, bytes older than that become stale.
    @inline(__always)
    private mutating func called(_ now: Int64) {
        if now &- free > maximumAge { staleBefore = max(staleBefore, now &- maximumAge) }
        free = max(free, now)
    }

    /// Fills the batch with the next write; returns the step for the caller if there is nothing to write.
    @inline(__always)
    private mutating func choose(_ now: Int64) -> Step? {
        if let barcodes {
            if let step = choose(barcodes, conditions(now)) { return step }
        } else {
            while true {
                if !stream.isDone(&consumer) {
                    chooseOfStream(conditions(now))
                    if batch.byteCount > 0 { break }
                    settle()
                }
                isDrowsy = consumer.mayFallAsleep(at: stream.position)
                if isDrowsy { return .sleep }
            }
        }
        if leadsModifiers { batch.separateModifiers() }
        cut()
        return nil
    }

    private func conditions(_ now: Int64) -> Conditions {
        Conditions(
            now: now,
            maximumAge: maximumAge,
            staleBefore: staleBefore,
            gate: gate.state,
            capsLock: light?.isOn ?? false
        )
    }

    /// Fills the batch in scan mode.
    @inline(never)
    private mutating func choose(_ barcodes: BarcodeFramer, _ conditions: Conditions) -> Step? {
        while true {
            var wakeUp: Int64?
            guard barcodes.find(&consumer, ledger, conditions, &wakeUp) else {
                isDrowsy = consumer.mayFallAsleep(at: barcodes.position)
                guard isDrowsy else { continue }
                return wakeUp.map { .wait(until: $0) } ?? .sleep
            }
            var limit = firstLimit(conditions.now)
            while true {
                barcodes.begin()
                end = barcodes.encode(&batch, limit: limit, capsLock: conditions.capsLock)
                if isChosen(limit, conditions.now) { break }
                limit = EventBatch.oneByte
            }
            if batch.count > 0 { return nil }
            settle()
        }
    }

    /// Encodes a whole barcode or a single keystroke; if pacing is off, encodes all waiting bytes.
    @inline(__always)
    private mutating func chooseOfStream(_ conditions: Conditions) {
        let limit = firstLimit(conditions.now)
        encodeStream(limit, conditions)
        if !isChosen(limit, conditions.now) { encodeStream(EventBatch.oneByte, conditions) }
    }

    @inline(never)
    private mutating func encodeStream(_ limit: Int, _ conditions: Conditions) {
        stream.begin()
        end = stream.encode(
            &batch,
            &consumer,
            table,
            ledger,
            limit: limit,
            stopAtBarcodeEnd: stopsAtBarcodeEnd,
            conditions
        )
    }

    /// Returns the maximum number of events to encode: a full batch if pacing is off, the pacer's allowance for a whole
    /// barcode, or one keystroke.
    @inline(__always)
    private mutating func firstLimit(_ now: Int64) -> Int {
        isUnlimited ? EventBatch.capacity : pacedLimit(now)
    }

    @inline(never)
    private mutating func pacedLimit(_ now: Int64) -> Int {
        if isPacing, now &- lastKeystroke > Pace.longestGap, pacer.pacedTime(forEvents: 0, now: now) <= now {
            isPacing = false
        }
        if isSpread { isPacing = true }
        return isPacing ? EventBatch.oneByte : pacer.allowance(now: now)
    }

    /// Returns true if the batch encoded with this limit should be written; otherwise, a single keystroke must replace
    /// it.
    @inline(__always)
    private mutating func isChosen(_ limit: Int, _ now: Int64) -> Bool {
        isUnlimited || limit == EventBatch.oneByte || isWhole(now)
    }

    @inline(never)
    private mutating func isWhole(_ now: Int64) -> Bool {
        switch end {
        case .barcodeEnd: return true
        case .exhausted where batch.count == 0 || pacer.canGoOn(afterEvents: batch.count, now: now): return true
        case .exhausted, .full: isPacing = true
        }
        return false
    }

    /// Counts the bytes of a completely written batch by outcome; in stream mode, also releases their space in the
    /// ring.
    private mutating func settle() {
        if let barcodes { barcodes.settle(ledger) } else { stream.settle(&consumer, ledger) }
    }

    /// Counts the bytes of a batch by outcome when only its first `keystrokes` keystrokes were written.
    private mutating func settle(typing keystrokes: Int) {
        // Encodes the same bytes again, one keystroke at a time, so that absorbed line feeds count with their Enter.
        if let barcodes {
            barcodes.settle(ledger, &batch, typing: keystrokes)
        } else {
            stream.settle(&consumer, ledger, &batch, table, typing: keystrokes)
        }
    }

    private mutating func keystrokesLeft(now: Int64) {
        lastKeystroke = now
        if end == .barcodeEnd { isPacing = false }
        (written, due) = (0, 0)
        batch.clear()
    }

    /// Sets the end of the next write: the end of the batch, or the next report if the pace is spread.
    @inline(__always)
    private mutating func cut() {
        due = batch.byteCount
        if isSpread { cutAtReport() }
    }

    @inline(never)
    private mutating func cutAtReport() {
        var index = written / InputEvent.size
        while index < batch.count, batch[index] != .report { index += 1 }
        due = min((index + 1) * InputEvent.size, due)
    }
}
