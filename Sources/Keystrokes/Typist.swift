// SPDX-License-Identifier: GPL-2.0-or-later

/// The typing thread's engine: takes bytes from the ring, and says which events to write, and when.
///
/// It performs nothing itself: the caller calls `next`, does what it says, reports with `commit` or `fail`, and calls
/// `next` again.
///
///     while running {
///         switch typist.next(now: clock()) {
///         case .write: device.write(typist.output) → typist.commit(now: clock())
///         case .wait(let time): wait for that time or a wake-up
///         case .sleep: wait for a wake-up
///         }
///     }
///
/// A reader says what the bytes are and what becomes of them, the pacer says when keys may leave, and this type joins the
/// two. In stream mode (`StreamReader`) bytes are read in place, and a barcode is what waits up to and with the first
/// Enter or Tab. In scan mode (`BarcodeFramer`) nothing is typed before a barcode is whole and found good (D-2, X-12).
///
/// A barcode that is whole and fits the pacer's window leaves in one write; any other leaves keystroke by keystroke,
/// from its first key on. Text that waits without an end may be the beginning of a barcode: it leaves at once only
/// where what may follow could do so within the longest gap.
public struct Typist: ~Copyable {
    /// The next thing that the caller has to do.
    public enum Step: Equatable, Sendable {
        /// Write `output` in one write, then call `commit` or `fail`.
        case write
        /// Call `next` again at this time, in nanoseconds, or after; sooner when the feed says that the typist must be
        /// woken.
        case wait(until: Int64)
        /// Nothing waits: call `next` again when the feed says that the typist must be woken.
        case sleep
    }

    /// How long nothing can be typed before what waits is no longer begun, unless told otherwise, in nanoseconds.
    public static let defaultMaximumAge: Int64 = 5_000_000_000

    private var consumer: ByteRing.Consumer
    private let table: CompiledTable
    private var pacer: Pacer
    /// Facts of the pacer that every write needs: kept here, because to ask the pacer copies its two kilobytes.
    private let isUnlimited: Bool
    private let isSpread: Bool
    /// Whether no write has more than one barcode: lines go to another end than a keyboard.
    private let keepsLines: Bool
    private let leadsModifiers: Bool
    private let maximumAge: Int64
    private let gate: Gate
    private let light: CapsLockLight?
    private let ledger: Ledger

    /// The bytes in stream mode; not used where there are `barcodes`.
    private var stream: StreamReader
    /// The bytes in scan mode; nil in stream mode.
    private let barcodes: BarcodeFramer?
    private var batch = EventBatch()
    /// The bytes of `batch` that have left, and those that leave in the next write, from the first on.
    private var written = 0
    private var due = 0
    /// True from `next` answering `write` to the report.
    private var isWriting = false
    /// Why the batch ends where it does.
    private var end = End.exhausted
    /// True from a paced keystroke to the end of its barcode.
    private var isPacing = false
    private var lastKeystroke = Int64.min
    /// True while the feed was told that the typist must be woken.
    private var isDrowsy = false
    /// The time since which the caller could have called; the typist has not typed for as long.
    private var free = Int64.min / 2
    /// What was received before it has waited for too long while nothing could be typed.
    private var staleBefore = Int64.min

    /// An engine that types what `consumer` reads, whole barcodes by `barcodes`, or as a stream where that is nil.
    ///
    /// `maximumAge` is in nanoseconds; nil types bytes of any age. What has waited for longer while nobody called the
    /// typist, because there was no keyboard or because process or machine slept, is dropped; what waits behind other
    /// bytes that are being typed is not, however long that takes (D-1a). It is asked at a barcode's first byte, for the
    /// barcode as a whole: one that was begun is finished, and one that is too old is dropped to its end. `light` tells
    /// whether CapsLock is on, asked anew for every write; nil types as if it were off. With `keepsLines`, no write has
    /// more than one barcode.
    public init(
        _ consumer: consuming ByteRing.Consumer,
        table: CompiledTable,
        pacer: Pacer,
        barcodes: BarcodeRules? = nil,
        maximumAge: Int64? = Typist.defaultMaximumAge,
        gate: Gate,
        light: CapsLockLight? = nil,
        keepsLines: Bool = false,
        ledger: Ledger
    ) {
        let place = RingPlace(position: consumer.position)
        stream = StreamReader(place, keepsLines: keepsLines)
        self.keepsLines = keepsLines
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

    /// The events to write, after `next` asked for it.
    public var output: RawSpan {
        @_lifetime(borrow self)
        borrowing get { batch.bytes.extracting(written..<due) }
    }

    /// The number of events in `output`.
    public var outputEvents: Int { (due &- written) / InputEvent.size }

    /// True where `output` ends with a barcode's last key.
    public var endsBarcode: Bool { end == .barcodeEnd }

    /// True where `output` ends a line though no Enter is in it: the whole barcode of scan mode.
    public var endsWhole: Bool { barcodes != nil && endsBarcode }

    /// The received bytes whose keystrokes have left.
    public var handedOver: UInt64 { ledger.handedOver }

    /// Whether bytes before those of `output` were lost for want of room; asked once.
    public mutating func takeMissingMark() -> Bool { stream.takeMissingMark() }

    /// Takes note that the typist was not forgotten: at `now`, another one types on its keyboard, or it waits for a reader.
    public mutating func attend(now: Int64) { free = max(free, now) }

    /// Says what to do at `now`, in nanoseconds of a clock that goes on while the machine sleeps.
    public mutating func next(now: Int64) -> Step {
        called(now)
        if isWriting { return .write }
        if isDrowsy {
            consumer.stayAwake()
            isDrowsy = false
        }
        // A keystroke whose press has left is finished whatever holds now.
        if written == 0, let step = choose(now) { return step }
        if isPacing, let time = pacedTime(after: now) { return .wait(until: time) }
        isWriting = true
        return .write
    }

    /// The time of the next paced keystroke; nil where it may leave now.
    @inline(never)
    private mutating func pacedTime(after now: Int64) -> Int64? {
        let time = pacer.pacedTime(forEvents: outputEvents, now: now)
        guard time > now else { return nil }
        attend(now: time)
        return time
    }

    /// Takes note that the device took all of `output`; `now` is the time after the write.
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

    /// Tells the pacer of `output`.
    @inline(never)
    private mutating func record(_ now: Int64) {
        let part = batch.part(written / InputEvent.size, due / InputEvent.size)
        pacer.record(events: outputEvents, now: now, part)
    }

    /// Takes note that the device took only the first `events` of `output`, or none; `now` is the time after the write.
    ///
    /// Bytes whose keystrokes it took whole are typed; the others of this write are lost and not tried again. Keys that the
    /// part has left down come up when the device goes: the kernel releases them.
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
    /// Why encoding stopped.
    enum End {
        /// Nothing more waits, or what follows is not typed.
        case exhausted
        /// The next keystroke does not fit.
        case full
        /// A barcode's last key is in.
        case barcodeEnd
    }

    /// The conditions of one call of `next`.
    struct Conditions {
        var now: Int64
        var maximumAge: Int64
        var staleBefore: Int64
        var gate: Gate.State
        var capsLock: Bool

        /// What was received after this time is neither gated nor too old.
        var border: Int64 { max(gate.refusedThrough, staleBefore == .min ? .min : staleBefore &- 1) }
    }

    /// Takes note of a call: where the last one was too long ago, what has waited since before is stale.
    @inline(__always)
    private mutating func called(_ now: Int64) {
        if now &- free > maximumAge { staleBefore = max(staleBefore, now &- maximumAge) }
        free = max(free, now)
    }

    /// Fills the batch with what is to be written; the step to answer where that is nothing.
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

    /// Encodes a whole barcode at once, all that waits where nothing is paced, or one keystroke.
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
            stopAtBarcodeEnd: !isUnlimited || keepsLines,
            conditions
        )
    }

    /// The most events to encode: all where nothing is paced, what the pacer allows for a whole barcode, or one keystroke's.
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

    /// True where what was encoded with that limit is written; else one keystroke is to be encoded in its place.
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

    /// Counts what became of the bytes that the batch stands for, all of which has left, and gives them back to the ring.
    private mutating func settle() {
        if let barcodes { barcodes.settle(ledger) } else { stream.settle(&consumer, ledger) }
    }

    /// Counts what became of the bytes that the batch stands for, of which only the first `keystrokes` have left.
    private mutating func settle(typing keystrokes: Int) {
        // Worked out again from the same bytes, one keystroke at a time, so that absorbed line feeds go with their Enter.
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

    /// Puts the next write's end to the batch's end, or to the next report where keystrokes are spread out.
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
