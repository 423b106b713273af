// SPDX-License-Identifier: GPL-2.0-or-later

/// The events of one write to the keyboard device, and the encoder that fills them in.
///
/// A key is press, report, release, report: each change in a frame of its own, so that a repeated character is seen as
/// such. Modifiers go down in the frame of the first key that needs them, before that key; they are held over a run; they
/// come up in the frame of the next key that does not need them, before that key, or with the release of the batch's last
/// key. So every batch begins and ends with nothing held, and no modifier is down while the typist waits or sleeps. A plain
/// key costs four events, a run of n shifted keys 4n + 2; no frame has more than six values, its report among them, because
/// no keystroke has more than two modifiers.
///
/// A byte may be several keystrokes, a dead key's or a macro's: a batch has all of them or none.
///
/// The memory is zeroed once. Only the eight bytes of type, code and value are ever written, so the times stay zero.
@safe
struct EventBatch: ~Copyable {
    /// The most events of one batch: what fits in 16 KiB, half of the nearest cache, where an event has 24 bytes.
    ///
    /// It is the same where an event has 16: every processor writes alike.
    static let capacity = 682
    /// Events of a key by itself, and of one that needs Shift.
    static let plainKey = 4
    static let shiftedKey = 6
    /// As a limit: the first byte that types something, whatever it takes, and no other.
    static let oneByte = -1

    /// Bytes before the first event, so that in a page the events of a barcode do not lie where the rows of its bytes do: a
    /// processor takes a load for one of a store whose address has the same lowest twelve bits, and waits.
    private static let offset = 1024

    private let memory: UnsafeMutableRawPointer
    private var end = 0
    /// Shift at `end`, as the hot loop has it: the size of an event where it is down, else 0.
    private var shift: UInt64 = 0
    /// The other modifiers that are down at `end`.
    private var others = KeyModifiers()

    init() {
        // One key more than the capacity, because the encoder writes a whole key before it knows whether it is typed; one
        // event before, because the end of an empty batch is written to as that of any other.
        let byteCount = (1 + Self.capacity + Self.shiftedKey) * InputEvent.size
        // Sound: fresh memory, given back in deinit, of bytes that hold no pointers.
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

    /// The events filled in, as the device takes them.
    var bytes: RawSpan {
        @_lifetime(borrow self)
        borrowing get {
            // Sound: `end` never passes the memory, which was initialised whole and lives as long as the batch.
            let span = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(memory), byteCount: end)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// The event at `index`; nil beyond the last.
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

    /// The part of its input that the encoder took, and the reason why it stopped.
    struct Run {
        var taken = 0
        var typed = 0
        /// Bytes taken that the layout cannot type.
        var rejected = 0
        /// Bytes taken that an open device may not have typed.
        var withheld = 0
        /// The reason why the encoder stopped before the input's end; nil when it took all of it.
        var stop: Typist.End?
    }

    /// The conditions of typing, prepared once for the chunks of a batch.
    @unsafe
    struct Rules {
        /// The rows of the hot loop; they live as long as the table.
        fileprivate let rows: UnsafePointer<UInt64>
        /// The greatest number of events, or `oneByte`.
        fileprivate let limit: Int
        fileprivate let stopAtBarcodeEnd: Bool
        fileprivate let capsLock: Bool

        /// Types until the batch would have more than `limit` events or, if asked for, a barcode ends.
        ///
        /// With `capsLock` the keystrokes are those that give the same text while CapsLock is on.
        @inline(__always)
        init(_ table: CompiledTable, limit: Int, stopAtBarcodeEnd: Bool, capsLock: Bool = false) {
            unsafe rows = table.hot.bank(capsLock: capsLock, stopAtBarcodeEnd: stopAtBarcodeEnd)
            unsafe self.limit = min(limit, EventBatch.capacity)
            unsafe self.stopAtBarcodeEnd = stopAtBarcodeEnd
            unsafe self.capsLock = capsLock
        }
    }

    /// Types bytes of one chunk until they are taken, or the batch would have more than `limit` events, or, if asked
    /// for, a barcode ends.
    mutating func type(
        _ input: Span<UInt8>,
        _ table: CompiledTable,
        limit: Int,
        stopAtBarcodeEnd: Bool,
        capsLock: Bool = false
    ) -> Run {
        // Sound: the table lives for the call.
        unsafe type(input, table, Rules(table, limit: limit, stopAtBarcodeEnd: stopAtBarcodeEnd, capsLock: capsLock))
    }

    /// Types bytes of one chunk until they are taken or the rules, made with the same table, say that it ends.
    ///
    /// A line feed right after a carriage return is absorbed. Bytes taken and neither typed nor rejected are discarded.
    ///
    /// Inlined, so that what the caller always asks for costs nothing in the short run of one notification.
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

    /// Goes on where the hot loop has stopped: each byte that it does not know, and the hot loop again after it.
    ///
    /// Not inlined, so that the hot loop has the processor's registers to itself.
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

    /// Types from `start` on while bytes are plain or shifted keys, line feeds of an Enter, discarded or absorbed, and fit.
    ///
    /// Not inlined, so that the loop has the processor's registers to itself.
    @unsafe @inline(never)
    private mutating func typePlainKeys(
        _ input: Span<UInt8>,
        from start: Int,
        _ rows: UnsafePointer<UInt64>,
        _ limit: Int
    ) -> (taken: Int, typed: Int) {
        // Sound: `start` is at most the input's count, and the caller keeps the rows alive. The limit is at most the capacity,
        // and the memory is one shifted key larger.
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

    /// The limit that lets the first byte in that types something, and no other.
    private func oneByteLimit(_ input: Span<UInt8>, _ table: CompiledTable, _ capsLock: Bool) -> Int {
        guard end == 0 else { return count + held.count }
        for index in input.indices {
            let row = table.row(input[index], capsLock)
            let isAbsorbed = row.marks & CompiledTable.endsLineEnd != 0 && Self.isAfterCarriageReturn(input, index)
            if row.count > 0, !isAbsorbed { return eventsAndReleases(row, table) }
        }
        return 0
    }

    /// The events of the batch with all keystrokes of a byte, and the releases after them.
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

    /// Fills in all keystrokes of a byte if they and the releases after them are within `limit` events.
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
        // Sound: what is read lies in the input.
        unsafe index > 0 && index <= input.count && input[unchecked: index &- 1] == ByteTable.carriageReturn
    }

    /// Ends the batch: modifiers that are still down come up in the frame of the last release.
    @inline(__always)
    mutating func finish() {
        guard others.isEmpty else { return finishModifiers() }
        // Without a branch, which would be mispredicted as often as not. Where nothing is held, the last word is a report's,
        // and stays one. Sound: there is one event before the first and one key after the last.
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

    /// The keystrokes whose press and release are both among the first `events`, each with its report.
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

    mutating func append(_ event: InputEvent) { append(word: event.word) }

    private mutating func append(word: UInt64) {
        guard count < Self.capacity else { return }
        // Sound: the batch has room for one more event.
        unsafe (memory + end + InputEvent.timeSize).storeBytes(of: word, as: UInt64.self)
        end += InputEvent.size
    }
}
