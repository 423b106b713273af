// SPDX-License-Identifier: GPL-2.0-or-later

/// The typing thread's engine: takes bytes from the ring, and says which events to write, and when.
///
/// It reads in place and gives the ring its bytes back only when the write is done, so a write that failed, or one that was
/// prepared and then found too large for now, is worked out again from the same bytes. It performs nothing itself: the
/// caller calls `next`, does what it says, reports with `commit` or `fail`, and calls `next` again.
///
///     while running {
///         switch typist.next(now: clock()) {
///         case .write: device.write(typist.output) → typist.commit(now: clock())
///         case .wait(let time): wait for that time or a wake-up
///         case .sleep: wait for a wake-up
///         }
///     }
///
/// In stream mode a scan is what waits, up to and with the first Enter or Tab. One that is whole and fits the pacer's
/// window leaves in one write; any other leaves keystroke by keystroke at the pacer's even pace, from its first key on.
/// Text that waits without an end may be the beginning of a scan: it leaves at once only where what may follow could do so
/// within the longest gap.
public struct Typist: ~Copyable {
    /// What the caller has to do.
    public enum Step: Equatable, Sendable {
        /// Write `output` in one write, then call `commit` or `fail`.
        case write
        /// Call `next` again at this time, in nanoseconds, or after.
        case wait(until: Int64)
        /// Nothing waits: call `next` again when the feed says that the typist must be woken.
        case sleep
    }

    /// The longest time between a carriage return and the line feed that belongs to it, in nanoseconds.
    public static let lineEndTime: Int64 = 100_000_000
    /// The age after which a scan is no longer begun, unless told otherwise, in nanoseconds.
    public static let defaultMaximumAge: Int64 = 5_000_000_000
    /// The silence after which bytes begin another scan though nothing has ended the last, in nanoseconds.
    static let scanGap: Int64 = 100_000_000

    private var consumer: ByteRing.Consumer
    private let table: CompiledTable
    private var pacer: Pacer
    private let maximumAge: Int64
    private let gate: Gate
    private let ledger: Ledger
    private var batch = EventBatch()

    /// How far bytes have an outcome.
    private var done: Progress
    /// What is being written.
    private var writing: Writing?
    /// True from a paced keystroke to the end of its scan.
    private var isPacing = false
    /// When the last keystroke left.
    private var lastKeystroke = Int64.min
    /// Keys that a write cut short has left down.
    private var heldKeys: [KeyCode] = []

    /// An engine that types what `consumer` reads.
    ///
    /// `maximumAge` is in nanoseconds; nil types bytes of any age. It is asked at a scan's first byte, for the scan as a
    /// whole: one that was begun is finished, and one that is too old is dropped to its end (D-1).
    public init(
        _ consumer: consuming ByteRing.Consumer,
        table: CompiledTable,
        pacer: Pacer,
        maximumAge: Int64? = Typist.defaultMaximumAge,
        gate: Gate,
        ledger: Ledger
    ) {
        done = Progress(position: consumer.position)
        self.consumer = consumer
        self.table = table
        self.pacer = pacer
        self.maximumAge = maximumAge ?? Int64.max
        self.gate = gate
        self.ledger = ledger
    }

    /// The events to write, after `next` or `releaseAll` asked for it.
    public var output: RawSpan {
        @_lifetime(borrow self)
        borrowing get { batch.bytes }
    }

    /// The number of events in `output`.
    public var outputEvents: Int { batch.count }

    /// Says what to do at `now`, in nanoseconds of a monotonic clock.
    public mutating func next(now: Int64) -> Step {
        if case .some = writing { return .write }
        consumer.stayAwake()
        let conditions = Conditions(now: now, maximumAge: maximumAge, gate: gate.state)
        while true {
            let (progress, end) = choose(conditions)
            if batch.count == 0 {
                settle(progress)
                if consumer.mayFallAsleep(at: done.position) { return .sleep }
                continue
            }
            if isPacing {
                let time = pacer.pacedTime(forEvents: batch.count, now: now)
                guard time <= now else { return .wait(until: time) }
            }
            writing = .keystrokes(progress, end, conditions)
            return .write
        }
    }

    /// Takes note that the device took all of `output`; `now` is the time after the write.
    public mutating func commit(now: Int64) {
        pacer.record(events: batch.count, now: now)
        switch writing {
        case nil: return
        case .releases: heldKeys = []
        case .keystrokes(let progress, let end, _):
            settle(progress)
            keystrokesLeft(end, now: now)
        }
        writing = nil
        batch.clear()
    }

    /// Takes note that the device took only the first `events` of `output`, or none; `now` is the time after the write.
    ///
    /// Bytes whose keystrokes it took whole are typed; the others of this write are lost and not tried again. Keys that the
    /// part has left down are kept for `releaseAll`.
    public mutating func fail(acceptedEvents events: Int, now: Int64) {
        pacer.record(events: min(events, batch.count), now: now)
        if case .keystrokes(var progress, let end, let conditions) = writing {
            heldKeys = batch.keysDown(after: events)
            let whole = batch.keystrokes(in: events)
            let typed = min(typedBytes(ofKeystrokes: whole, conditions), progress.outcomes[.typed])
            let lost = progress.outcomes[.typed] - typed
            progress.outcomes[.typed] = typed
            progress.outcomes[.writeFailed] += lost
            if lost > 0 { progress.lineEnd?.outcome = .writeFailed }
            settle(progress)
            keystrokesLeft(end, now: now)
        }
        writing = nil
        batch.clear()
    }

    /// Prepares the release of keys that a failed write has left down: the number of events to write, 0 when none is down.
    ///
    /// Between writes nothing is down, so this is for the way out of a failure, before anything else is written.
    public mutating func releaseAll() -> Int {
        guard case nil = writing, !heldKeys.isEmpty else { return 0 }
        batch.release(heldKeys)
        writing = .releases
        return batch.count
    }

    /// Forgets keys that a failed write has left down: the device is gone, and the kernel has released them.
    public mutating func deviceReplaced() {
        heldKeys = []
    }

    /// Chooses what to write: a whole scan at once, all that waits where nothing is paced, or one keystroke.
    private mutating func choose(_ conditions: Conditions) -> (Progress, End) {
        let now = conditions.now
        if pacer.isUnlimited { return encode(limit: EventBatch.capacity, stopAtScanEnd: false, conditions) }
        if isPacing, now &- lastKeystroke > Pacer.longestGap, pacer.pacedTime(forEvents: 0, now: now) <= now {
            isPacing = false
        }
        if !isPacing {
            let (progress, end) = encode(limit: pacer.allowance(now: now), stopAtScanEnd: true, conditions)
            switch end {
            case .scanEnd: return (progress, end)
            case .exhausted where batch.count == 0 || pacer.canGoOn(afterEvents: batch.count, now: now):
                return (progress, end)
            case .exhausted, .full: isPacing = true
            }
        }
        return encode(limit: EventBatch.oneByte, stopAtScanEnd: true, conditions)
    }

    /// Encodes from what is done on, until `limit` events, the ring's end or, if asked for, a scan's.
    private mutating func encode(limit: Int, stopAtScanEnd: Bool, _ conditions: Conditions) -> (Progress, End) {
        var progress = done
        let end = encode(&progress, limit: limit, stopAtScanEnd: stopAtScanEnd, conditions)
        return (progress, end)
    }

    private mutating func encode(
        _ progress: inout Progress,
        limit: Int,
        stopAtScanEnd: Bool,
        _ conditions: Conditions
    ) -> End {
        batch.clear()
        var end: End?
        while end == nil {
            end = progress.step(&consumer, &batch, table, limit: limit, stopAtScanEnd: stopAtScanEnd, conditions)
        }
        batch.finish()
        return end ?? .exhausted
    }

    /// The bytes that the first `count` keystrokes of the write stand for, absorbed line feeds among them: worked out again
    /// from the same bytes, one keystroke at a time.
    private mutating func typedBytes(ofKeystrokes count: Int, _ conditions: Conditions) -> Int {
        var progress = done
        _ = encode(&progress, limit: 0, stopAtScanEnd: false, conditions)
        var typed = progress.outcomes[.typed]
        var left = count
        while left > 0 {
            _ = encode(&progress, limit: EventBatch.oneByte, stopAtScanEnd: false, conditions)
            left -= max(batch.keystrokes(in: batch.count), 1)
            if left >= 0 { typed = progress.outcomes[.typed] }
        }
        return typed
    }

    /// Gives the ring its bytes back, and counts what became of them.
    private mutating func settle(_ progress: Progress) {
        ledger.add(progress.outcomes)
        done = progress
        done.outcomes = Ledger.Outcomes()
        consumer.release(through: done.position)
    }

    private mutating func keystrokesLeft(_ end: End, now: Int64) {
        lastKeystroke = now
        if end == .scanEnd { isPacing = false }
    }
}

extension Typist {
    /// Why encoding stopped.
    enum End {
        /// Nothing more waits.
        case exhausted
        /// The next keystroke does not fit.
        case full
        /// A scan's last key is in.
        case scanEnd
    }

    /// What holds for one call of `next`.
    struct Conditions {
        var now: Int64
        var maximumAge: Int64
        var gate: Gate.State

        /// Why the rest of a chunk is not typed, whatever its age; nil when it is.
        func refusal(of chunk: ChunkHeader) -> Ledger.Fate? {
            if chunk.received <= gate.refusedThrough { return .gated }
            if chunk.epoch <= gate.droppedThrough { return gate.cause == .disconnected ? .disconnected : .switched }
            return nil
        }
    }

    /// What was handed out to be written.
    private enum Writing {
        /// The release of keys that were left down.
        case releases
        /// Keystrokes: the place after them, why they end there, and what held when they were chosen.
        case keystrokes(Progress, End, Conditions)
    }

    /// A place in the ring, and what became of the bytes since the last place that was settled.
    struct Progress {
        /// Where the next byte, or the next chunk's header, lies.
        var position: UInt
        /// Bytes left of the current chunk.
        var remaining = 0
        /// The current chunk.
        var chunk = ChunkHeader(length: 0, epoch: 0, received: 0)
        /// Set when the last byte was a carriage return.
        var lineEnd: LineEnd?
        /// How the scan at this place stands.
        var scan = Scan.begins
        /// What became of the bytes.
        var outcomes = Ledger.Outcomes()
    }

    /// How the scan that a place lies in stands.
    enum Scan {
        /// The next byte is the scan's first.
        case begins
        /// Its beginning was typed, and so is the rest of it, however old that grows: half a scan is worse than a late one.
        case typed
        /// Its beginning was too old, and so is the rest of it.
        case expired
    }

    /// A carriage return that may be followed by its line feed.
    struct LineEnd {
        var epoch: UInt32
        var received: Int64
        /// What became of it; its line feed fares alike.
        var outcome: Ledger.Fate
    }
}

extension Typist.Progress {
    init(position: UInt) {
        self.position = position
        lineEnd = nil
    }

    /// Goes on by one stretch of bytes that lie together in the ring; answers why that was the last, else nil.
    mutating func step(
        _ consumer: inout ByteRing.Consumer,
        _ batch: inout EventBatch,
        _ table: CompiledTable,
        limit: Int,
        stopAtScanEnd: Bool,
        _ conditions: Typist.Conditions
    ) -> Typist.End? {
        while remaining == 0 {
            guard let words = consumer.words(at: position) else { return .exhausted }
            begin(ChunkHeader(words))
        }
        let input = consumer.span(at: position, count: remaining)
        if let refusal = conditions.refusal(of: chunk) {
            refuse(input, as: refusal, table)
            return nil
        }
        guard !(table.joinsLineEnds && absorbs(input)) else { return nil }
        guard !isExpired(conditions) else {
            refuse(input.extracting(first: table.scanLength(input)), as: .tooOld, table)
            return nil
        }
        let run = batch.type(input, table, limit: limit, stopAtScanEnd: stopAtScanEnd)
        take(run, of: input, table)
        return run.stop
    }

    /// Goes on to a chunk whose header lies here.
    private mutating func begin(_ header: ChunkHeader) {
        let isAnother = header.epoch != chunk.epoch || header.received &- chunk.received > Typist.scanGap
        if isAnother { scan = .begins }
        chunk = header
        remaining = Int(header.length)
        position &+= ChunkHeader.size
    }

    /// Whether what lies here belongs to a scan that had waited too long before its first byte could be typed.
    private func isExpired(_ conditions: Typist.Conditions) -> Bool {
        switch scan {
        case .begins: conditions.now &- chunk.received > conditions.maximumAge
        case .typed: false
        case .expired: true
        }
    }

    /// Takes the bytes that the encoder took of `input`.
    private mutating func take(_ run: EventBatch.Run, of input: Span<UInt8>, _ table: CompiledTable) {
        guard run.taken > 0 else { return }
        scan = table.endsScan(input[run.taken - 1]) ? .begins : .typed
        advance(run.taken)
        outcomes[.typed] &+= run.typed
        outcomes[.rejected] &+= run.rejected
        outcomes[.discarded] &+= run.taken &- run.typed &- run.rejected
        endLine(run.endsInCarriageReturn, .typed)
    }

    /// Takes all of `input` with one outcome.
    private mutating func refuse(
        _ input: Span<UInt8>,
        as outcome: Ledger.Fate,
        _ table: CompiledTable
    ) {
        let last = input[input.count - 1]
        scan = table.endsScan(last) ? .begins : outcome == .tooOld ? .expired : .typed
        advance(input.count)
        outcomes[outcome] &+= input.count
        endLine(table.joinsLineEnds && last == ByteTable.carriageReturn, outcome)
    }

    /// Takes the first byte if it is the line feed of the carriage return before it: on the same link and in time.
    private mutating func absorbs(_ input: Span<UInt8>) -> Bool {
        guard let lineEnd, input[0] == ByteTable.lineFeed, lineEnd.epoch == chunk.epoch,
            chunk.received &- lineEnd.received <= Typist.lineEndTime
        else { return false }
        advance(1)
        outcomes[lineEnd.outcome] &+= 1
        self.lineEnd = nil
        return true
    }

    private mutating func advance(_ count: Int) {
        position &+= UInt(bitPattern: count)
        remaining &-= count
    }

    private mutating func endLine(_ isEnd: Bool, _ outcome: Ledger.Fate) {
        lineEnd = isEnd ? Typist.LineEnd(epoch: chunk.epoch, received: chunk.received, outcome: outcome) : nil
    }
}
