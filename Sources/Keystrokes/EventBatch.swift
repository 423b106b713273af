// SPDX-License-Identifier: GPL-2.0-or-later

/// Events of one write to the keyboard device, and the encoder that produces them.
///
/// A key consists of press, report, release and report: each change has its own frame, so that an application sees
/// repeated characters separately. Modifiers are pressed in the frame of the first key that needs them, before that
/// key, and are held over a run of keys. They are released in the frame of the next key that does not need them, before
/// that key, or with the release of the last key in the batch. So no key is down at the beginning or the end of a
/// batch, and no modifier is down between two batches. A plain key has four events, and a run of n shifted keys has 4n
/// + 2. No frame has more than six events, including its report, because no keystroke has more than two modifiers.
///
/// A byte may be several keystrokes, for a dead key or a macro: a batch contains all of them or none.
///
/// The memory is zeroed once. Only the eight bytes of type, code and value are ever written, so the times stay zero.
@safe
struct EventBatch: ~Copyable {
    /// Maximum number of events in one batch: as many 24-byte events as fit into 16 KiB, half of the L1 cache.
    ///
    /// It is the same on systems with 16-byte events, so that all processors write the same batches.
    static let capacity = 682
    /// Number of events of a plain key, and number of events of a key that needs Shift.
    static let plainKey = 4
    static let shiftedKey = 6
    /// Limit that admits exactly one byte that types something, regardless of its number of events.
    static let oneByte = -1

    /// Offset of the events from the start of a page.
    ///
    /// Because of it, a barcode's events and the table rows of its bytes have different offsets within their pages. If
    /// a load and a recent store have the same low twelve bits in their addresses, the processor mistakes the load for
    /// a load of the stored data, and waits.
    private static let offset = 1024

    private let memory: UnsafeMutableRawPointer
    private var end = 0
    /// Shift state at `end`, in the form used by the hot loop: the size of an event if Shift is down, else 0.
    private var shift: UInt64 = 0
    /// Modifiers other than Shift that are down at `end`.
    private var others = KeyModifiers()

    init() {
        // The memory holds one key more than the capacity, because the encoder writes a whole key before it knows
        // whether the key is typed, and one event before the first, because `finish` writes before `end` even if the
        // batch is empty.
        let byteCount = (1 + Self.capacity + Self.shiftedKey) * InputEvent.size
        // Sound: fresh memory, freed in deinit, for bytes that contain no pointers.
        let allocated = UnsafeMutableRawPointer.allocate(
            byteCount: Self.offset + byteCount,
            alignment: HotRows.alignment
        )
        unsafe allocated.initializeMemory(as: UInt8.self, repeating: 0, count: Self.offset + byteCount)
        unsafe memory = allocated + Self.offset + InputEvent.size
    }

    deinit {
        // Sound: nothing else has the pointer, and `bytes` cannot outlive the batch.
        unsafe (memory - InputEvent.size - Self.offset).deallocate()
    }

    var count: Int { byteCount / InputEvent.size }

    var byteCount: Int { end }

    /// The modifiers that are down at `end`.
    private var held: KeyModifiers {
        get { shift == 0 ? others : others.union(.shift) }
        set {
            shift = newValue.contains(.shift) ? UInt64(InputEvent.size) : 0
            others = newValue.subtracting(.shift)
        }
    }

    /// The events encoded so far, in the format of the keyboard device.
    var bytes: RawSpan {
        @_lifetime(borrow self)
        borrowing get {
            // Sound: `end` never exceeds the memory, which is completely initialised and lives as long as the batch.
            let span = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(memory), byteCount: end)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Event at `index`; nil if there is none.
    subscript(index: Int) -> InputEvent? {
        guard index >= 0, index < count else { return nil }
        // Sound: `index` was checked just above, and every word lies at a multiple of eight.
        return unsafe InputEvent(
            word: memory.load(fromByteOffset: index * InputEvent.size + InputEvent.timeSize, as: UInt64.self)
        )
    }

    @inline(__always)
    mutating func clear() {
        end = 0
        shift = 0
        others = []
    }

    /// Numbers of input bytes that the encoder consumed, by outcome, and the reason why it stopped.
    struct Run {
        var taken = 0
        var typed = 0
        /// Number of consumed bytes that the layout cannot type.
        var rejected = 0
        /// Number of consumed bytes that are withheld because they are blocked for unpaired devices.
        var withheld = 0
        /// Reason why the encoder stopped before the end of the input; nil if it consumed all of it.
        var stop: Typist.End?
    }

    /// Rules of the encoder, prepared once for all chunks of a batch.
    @unsafe
    struct Rules {
        /// Rows of the hot loop; valid while the table is alive.
        fileprivate let rows: UnsafePointer<UInt64>
        /// Maximum number of events, or `oneByte`.
        fileprivate let limit: Int
        fileprivate let stopAtBarcodeEnd: Bool
        fileprivate let capsLock: Bool

        /// Creates rules that stop before the batch exceeds `limit` events and, if requested, at the end of a barcode.
        ///
        /// With `capsLock`, the keystrokes produce the same text when CapsLock is on.
        @inline(__always)
        init(_ table: CompiledTable, limit: Int, stopAtBarcodeEnd: Bool, capsLock: Bool = false) {
            unsafe rows = table.hot.bank(capsLock: capsLock, stopAtBarcodeEnd: stopAtBarcodeEnd)
            unsafe self.limit = min(limit, EventBatch.capacity)
            unsafe self.stopAtBarcodeEnd = stopAtBarcodeEnd
            unsafe self.capsLock = capsLock
        }
    }

    /// Types bytes until the chunk ends, the batch would exceed `limit` events or, if requested, a barcode ends.
    mutating func type(
        _ input: Span<UInt8>,
        _ table: CompiledTable,
        limit: Int,
        stopAtBarcodeEnd: Bool,
        capsLock: Bool = false
    ) -> Run {
        // Sound: the table is alive during the call.
        unsafe type(input, table, Rules(table, limit: limit, stopAtBarcodeEnd: stopAtBarcodeEnd, capsLock: capsLock))
    }

    /// Types bytes until the chunk ends or the rules stop the encoder; the rules must have been created for this table.
    ///
    /// A line feed directly after a carriage return is absorbed. Other consumed bytes that are neither typed nor
    /// rejected are discarded.
    ///
    /// Inlined, so that arguments that are constant in a caller cost nothing in the short run of one notification.
    @unsafe @inline(__always)
    mutating func type(_ input: Span<UInt8>, _ table: CompiledTable, _ rules: Rules) -> Run {
        let limit = unsafe rules.limit < 0 ? oneByteLimit(input, table, rules.capsLock) : rules.limit
        var run = Run()
        if others.isEmpty {
            (run.taken, run.typed) = unsafe typePlainKeys(input, from: 0, rules.rows, limit)
        }
        guard run.taken < input.count else { return run }
        return unsafe typeOthers(input, after: run, table, rules, limit)
    }

    /// Continues where the hot loop stopped: handles each byte that the loop cannot, and re-enters the loop after it.
    ///
    /// Not inlined, so that the hot loop can use all of the processor's registers.
    @unsafe @inline(never)
    private mutating func typeOthers(
        _ input: Span<UInt8>,
        after plain: Run,
        _ table: CompiledTable,
        _ rules: Rules,
        _ limit: Int
    ) -> Run {
        var run = plain
        while run.stop == nil, run.taken < input.count {
            let row = unsafe table.row(input[run.taken], rules.capsLock)
            if row.marks == 0, others.isEmpty {
                run.stop = .full
                break
            }
            if row.marks & CompiledTable.endsLineEnd != 0, Self.isAfterCarriageReturn(input, run.taken) {
                run.typed &+= 1
            } else if row.marks & CompiledTable.isRejected != 0 {
                run.rejected &+= 1
            } else {
                guard append(row, table, limit: limit) else {
                    run.stop = .full
                    break
                }
                if row.count > 0 { run.typed &+= 1 }
                if row.marks & CompiledTable.isWithheld != 0 { run.withheld &+= 1 }
                if unsafe rules.stopAtBarcodeEnd, row.marks & CompiledTable.endsBarcode != 0 { run.stop = .barcodeEnd }
            }
            run.taken &+= 1
            if run.stop == nil, others.isEmpty {
                let plain = unsafe typePlainKeys(input, from: run.taken, rules.rows, limit)
                run.taken = plain.taken
                run.typed &+= plain.typed
            }
        }
        return run
    }

    /// Types bytes from `start` on, as long as their events fit and the bytes are simple.
    ///
    /// Simple bytes are plain or shifted keys, line feeds, and discarded bytes. Not inlined, so that the loop can use
    /// all of the processor's registers.
    @unsafe @inline(never)
    private mutating func typePlainKeys(
        _ input: Span<UInt8>,
        from start: Int,
        _ rows: UnsafePointer<UInt64>,
        _ limit: Int
    ) -> (taken: Int, typed: Int) {
        // Sound: `start` is at most the size of the input, and the caller keeps the rows alive. The limit is at most
        // the capacity, and the memory is one shifted key larger.
        unsafe input.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return (0, 0) }
            let first = unsafe memory + InputEvent.timeSize
            var cursor = unsafe KeyCursor(byte: base + start, place: first + end, held: shift)
            unsafe cursor.type(from: base, to: base + bytes.count, rows, first + limit &* InputEvent.size)
            unsafe end = cursor.place - first
            unsafe shift = cursor.held
            let taken = unsafe cursor.byte - base
            return unsafe (taken, taken &- start &+ cursor.skipped)
        }
    }

    /// Returns a limit that admits exactly one byte that types something.
    private func oneByteLimit(_ input: Span<UInt8>, _ table: CompiledTable, _ capsLock: Bool) -> Int {
        guard end == 0 else { return count + held.count }
        for index in input.indices {
            let row = table.row(input[index], capsLock)
            let isAbsorbed = row.marks & CompiledTable.endsLineEnd != 0 && Self.isAfterCarriageReturn(input, index)
            if row.count > 0, !isAbsorbed { return eventsAndReleases(row, table) }
        }
        return 0
    }

    /// Counts the events in the batch after adding all keystrokes of another byte and releasing the modifiers.
    private func eventsAndReleases(_ row: CompiledTable.Row, _ table: CompiledTable) -> Int {
        var held = held
        var events = count
        for index in Int(row.first)..<Int(row.first) + Int(row.count) {
            let modifiers = table.strokes[index].modifiers
            events += held.symmetricDifference(modifiers).count + Self.plainKey
            held = modifiers
        }
        return events + held.count
    }

    /// Appends all keystrokes of a byte; returns false if they and the releases after them would exceed `limit` events.
    private mutating func append(_ row: CompiledTable.Row, _ table: CompiledTable, limit: Int) -> Bool {
        guard eventsAndReleases(row, table) <= limit else { return false }
        for index in Int(row.first)..<Int(row.first) + Int(row.count) {
            let stroke = table.strokes[index]
            append(held.subtracting(stroke.modifiers), down: false)
            append(stroke.modifiers.subtracting(held), down: true)
            held = stroke.modifiers
            append(word: stroke.down)
            append(.report)
            append(word: stroke.up)
            append(.report)
        }
        return true
    }

    private mutating func append(_ modifiers: KeyModifiers, down: Bool) {
        var rest = modifiers
        while !rest.isEmpty {
            append(.key(rest.first.key, down: down))
            rest.subtract(rest.first)
        }
    }

    private static func isAfterCarriageReturn(_ input: Span<UInt8>, _ index: Int) -> Bool {
        // Sound: the index that is read lies within the input.
        unsafe index > 0 && index <= input.count && input[unchecked: index &- 1] == ByteTable.carriageReturn
    }

    /// Ends the batch: releases modifiers that are still down, in the frame of the last release.
    @inline(__always)
    mutating func finish() {
        guard others.isEmpty else { return finishModifiers() }
        // There is no branch here, because it would be mispredicted about half of the time. If no modifier is down, the
        // last word belongs to a report and is not changed. Sound: there is one event before the first and one key
        // after the last.
        let target = unsafe memory + InputEvent.timeSize + end
        let isHeld = shift &>> UInt64(truncatingIfNeeded: InputEvent.size.trailingZeroBitCount) & 1
        unsafe (target - InputEvent.size).storeBytes(of: HotRows.shiftUp & (0 &- isHeld), as: UInt64.self)
        unsafe target.storeBytes(of: 0, as: UInt64.self)
        end &+= Int(truncatingIfNeeded: shift)
        shift = 0
    }

    private mutating func finishModifiers() {
        end -= InputEvent.size
        append(held, down: false)
        append(.report)
        held = []
    }

    /// Counts the keystrokes whose press and release, each with its report, are all among the first `events` events.
    func keystrokes(in events: Int) -> Int {
        var keystrokes = 0
        var released = 0
        for index in 0..<min(max(events, 0), count) {
            guard let event = self[index] else { continue }
            if event == .report {
                keystrokes &+= released
                released = 0
            } else if event.value == 0, !KeyCode(rawValue: event.code).isModifier {
                released &+= 1
            }
        }
        return keystrokes
    }

    /// Counts the keys other than modifiers that are pressed in the events `start..<end`.
    func presses(_ start: Int, _ end: Int) -> Int {
        (start..<end).count { index in
            guard let event = self[index], event.type == InputEvent.key, event.value == 1 else { return false }
            return !KeyCode(rawValue: event.code).isModifier
        }
    }

    mutating func append(_ event: InputEvent) { append(word: event.word) }

    private mutating func append(word: UInt64) {
        guard count < Self.capacity else { return }
        // Sound: the batch has room for one more event.
        unsafe (memory + end + InputEvent.timeSize).storeBytes(of: word, as: UInt64.self)
        end += InputEvent.size
    }
}
