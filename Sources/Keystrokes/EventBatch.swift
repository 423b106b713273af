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

    private let memory: UnsafeMutableRawPointer
    /// Bytes filled in.
    private var end = 0
    /// The modifiers that are down at `end`.
    private var held = KeyModifiers()

    init() {
        // One key more than the capacity, because the encoder writes a whole key before it knows whether it is typed; one
        // event before, because the end of an empty batch is written to as that of any other.
        let byteCount = (1 + Self.capacity + Self.shiftedKey) * InputEvent.size
        // Sound: fresh memory, given back in deinit, of bytes that hold no pointers.
        let allocated = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
        unsafe allocated.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        unsafe memory = allocated + InputEvent.size
    }

    deinit {
        // Sound: nothing else has the pointer, and `bytes` cannot outlive the batch.
        unsafe (memory - InputEvent.size).deallocate()
    }

    /// The number of events filled in.
    var count: Int { end / InputEvent.size }

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

    /// Forgets what was filled in.
    mutating func clear() {
        end = 0
        held = []
    }

    /// The part of its input that the encoder took, and the reason why it stopped.
    struct Run {
        var taken = 0
        var typed = 0
        /// Bytes taken that the layout cannot type.
        var rejected = 0
        /// Bytes taken that an open device may not have typed.
        var withheld = 0
        /// True when the last byte taken is a carriage return that may have a line feed.
        var endsInCarriageReturn = false
        /// Why the encoder stopped before the input's end; nil when it took all of it.
        var stop: Typist.End?
    }

    /// Types bytes of one chunk until they are taken, or the batch would have more than `limit` events, or, if asked
    /// for, a barcode ends.
    ///
    /// A line feed right after a carriage return is absorbed. Bytes taken and neither typed nor rejected are discarded. With
    /// `capsLock` the keystrokes are those that give the same text while CapsLock is on.
    ///
    /// Inlined, so that what the caller always asks for costs nothing in the short run of one notification.
    @inline(__always)
    mutating func type(
        _ input: Span<UInt8>,
        _ table: CompiledTable,
        limit: Int,
        stopAtBarcodeEnd: Bool,
        capsLock: Bool = false
    ) -> Run {
        let limit = min(limit == Self.oneByte ? oneByteLimit(input, table, capsLock) : limit, Self.capacity)
        let rules = Rules(limit: limit, stopAtBarcodeEnd: stopAtBarcodeEnd, capsLock: capsLock)
        var run = Run()
        if held.isSubset(of: .shift) {
            (run.taken, run.typed) = typePlainKeys(input, from: 0, table, rules)
        }
        if run.taken < input.count { run = typeOthers(input, after: run, table, rules) }
        run.endsInCarriageReturn = table.joinsLineEnds && Self.isAfterCarriageReturn(input, run.taken)
        return run
    }

    /// The conditions of one call of `type`.
    private struct Rules {
        var limit: Int
        var stopAtBarcodeEnd: Bool
        var capsLock: Bool
    }

    /// Goes on where the hot loop has stopped: each byte that it does not know, and the hot loop again after it.
    ///
    /// Not inlined, so that the hot loop has the processor's registers to itself.
    @inline(never)
    private mutating func typeOthers(
        _ input: Span<UInt8>,
        after plain: Run,
        _ table: CompiledTable,
        _ rules: Rules
    ) -> Run {
        var run = plain
        while run.stop == nil, run.taken < input.count {
            let row = table.row(input[run.taken], rules.capsLock)
            if row.marks == 0, held.isSubset(of: .shift) {
                run.stop = .full
                break
            }
            if row.marks & CompiledTable.endsLineEnd != 0, Self.isAfterCarriageReturn(input, run.taken) {
                run.typed &+= 1
            } else if row.marks & CompiledTable.isRejected != 0 {
                run.rejected &+= 1
            } else {
                guard append(row, table, limit: rules.limit) else {
                    run.stop = .full
                    break
                }
                if row.count > 0 { run.typed &+= 1 }
                if row.marks & CompiledTable.isWithheld != 0 { run.withheld &+= 1 }
                if rules.stopAtBarcodeEnd, row.marks & CompiledTable.endsBarcode != 0 { run.stop = .barcodeEnd }
            }
            run.taken &+= 1
            if run.stop == nil, held.isSubset(of: .shift) {
                let plain = typePlainKeys(input, from: run.taken, table, rules)
                run.taken = plain.taken
                run.typed &+= plain.typed
            }
        }
        return run
    }

    /// The position of the hot loop.
    @unsafe
    private struct Cursor {
        /// The word of the event that comes next.
        var place: UnsafeMutableRawPointer
        /// Shift: the size of an event where it is down, else 0.
        var held: UInt64
        /// How many bytes typed nothing, as a negative number.
        var skipped = 0
    }

    /// The hot loop: goes on while bytes are plain or shifted keys, discarded or absorbed, and fit.
    @inline(__always)
    private mutating func typePlainKeys(
        _ input: Span<UInt8>,
        from start: Int,
        _ table: CompiledTable,
        _ rules: Rules
    ) -> (taken: Int, typed: Int) {
        precondition(start >= 0 && rules.limit <= Self.capacity)
        let limit = rules.limit &* InputEvent.size
        let rows = unsafe table.hot.bank(capsLock: rules.capsLock, stopAtBarcodeEnd: rules.stopAtBarcodeEnd)
        let count = input.count
        // Sound: the table, and so its rows, live for the call; a byte is less than their 256, and `index` less than the
        // input's count. A byte's events lie within one shifted key after the cursor, which is at most the limit from
        // `first`, and the memory is one shifted key larger than the greatest limit.
        let first = unsafe memory + InputEvent.timeSize
        var cursor = unsafe Cursor(place: first + end, held: held.isEmpty ? 0 : UInt64(InputEvent.size))
        var index = start
        bytes: while index < count {
            // So many bytes fit whatever they are; where none does, the next is looked at by itself.
            let rest = unsafe limit &- (cursor.place - first)
            var sure = min(count, index &+ Self.sureKeys(rest))
            if sure <= index {
                let row = unsafe HotRows.Row(rows, input[unchecked: index])
                guard unsafe row.isSpecial || Self.sizeAndRelease(row, cursor.held) <= rest else { break }
                sure = index &+ 1
            }
            // Most text is nothing but keys: a loop that knows nothing else, two bytes at a time, takes a third fewer
            // instructions a byte, and their number is what it waits for.
            while index &+ 1 < sure {
                let one = unsafe HotRows.Row(rows, input[unchecked: index])
                let two = unsafe HotRows.Row(rows, input[unchecked: index &+ 1])
                guard one.isKey, two.isKey else { break }
                unsafe Self.typeKey(one, &cursor)
                unsafe Self.typeKey(two, &cursor)
                index &+= 2
            }
            // From the first other byte on: bytes that type nothing take no branch here.
            while index < sure {
                let row = unsafe HotRows.Row(rows, input[unchecked: index])
                if row.isSpecial {
                    guard row.isLineFeed, Self.isAfterCarriageReturn(input, index) else { break bytes }
                } else {
                    unsafe Self.type(row, &cursor)
                }
                index &+= 1
            }
        }
        end = unsafe cursor.place - first
        // Without a branch, which would be mispredicted as often as not.
        let isHeld = unsafe cursor.held &>> UInt64(truncatingIfNeeded: InputEvent.size.trailingZeroBitCount) & 1
        held = KeyModifiers(rawValue: UInt8(truncatingIfNeeded: isHeld) &* KeyModifiers.shift.rawValue)
        return unsafe (index, index &- start &+ cursor.skipped)
    }

    /// A number of keys that fit into so many bytes, each with a change of Shift, and the release of Shift after them.
    @inline(__always)
    private static func sureKeys(_ byteCount: Int) -> Int {
        // Fewer than would fit, and without a division: five events have no more than 128 bytes.
        max(0, byteCount &- InputEvent.size) &>> 7
    }

    /// Fills in a byte's key: five words, whether it has a change of Shift or not, and whether it types anything or not.
    @unsafe @inline(__always)
    private static func type(_ row: HotRows.Row, _ cursor: inout Cursor) {
        unsafe store(row, row.held(after: cursor.held), Int(truncatingIfNeeded: row.size), &cursor)
        unsafe cursor.skipped &+= Int(truncatingIfNeeded: row.keep)
    }

    /// As `type`, of a byte that is a key.
    @unsafe @inline(__always)
    private static func typeKey(_ row: HotRows.Row, _ cursor: inout Cursor) {
        unsafe store(row, row.held, plainKey &* InputEvent.size, &cursor)
    }

    /// Fills in five words, after which Shift is as `held` says and the cursor stands that size further.
    @unsafe @inline(__always)
    private static func store(_ row: HotRows.Row, _ held: UInt64, _ keySize: Int, _ cursor: inout Cursor) {
        let size = InputEvent.size
        // Sound: the caller has seen that a shifted key's bytes are there after the cursor.
        let key = unsafe cursor.place + Int(truncatingIfNeeded: held ^ cursor.held)
        unsafe cursor.place.storeBytes(of: row.shift, as: UInt64.self)
        unsafe key.storeBytes(of: row.down, as: UInt64.self)
        unsafe (key + size).storeBytes(of: 0, as: UInt64.self)
        unsafe (key + 2 &* size).storeBytes(of: row.down & ~InputEvent.valueBits, as: UInt64.self)
        unsafe (key + 3 &* size).storeBytes(of: 0, as: UInt64.self)
        unsafe cursor.place = key + keySize
        unsafe cursor.held = held
    }

    /// The bytes of a byte's key and of the release of Shift that it makes necessary.
    @inline(__always)
    private static func sizeAndRelease(_ row: HotRows.Row, _ before: UInt64) -> Int {
        let held = row.held(after: before)
        return Int(truncatingIfNeeded: (held ^ before) &+ held &+ row.size)
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

    /// Fills in a change of modifiers.
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
        guard held.isSubset(of: .shift) else { return finishModifiers() }
        // Without a branch, as above. Where nothing is held, the last word is a report's, and stays one.
        let isHeld = UInt64(held.rawValue / KeyModifiers.shift.rawValue)
        // Sound: there is one event before the first and one key after the last.
        let target = unsafe memory + InputEvent.timeSize + end
        unsafe (target - InputEvent.size).storeBytes(of: HotRows.shiftUp &* isHeld, as: UInt64.self)
        unsafe target.storeBytes(of: 0, as: UInt64.self)
        end &+= InputEvent.size &* Int(truncatingIfNeeded: isHeld)
        held = []
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

    /// Fills in one event.
    mutating func append(_ event: InputEvent) { append(word: event.word) }

    private mutating func append(word: UInt64) {
        guard count < Self.capacity else { return }
        // Sound: the batch has room for one more event.
        unsafe (memory + end + InputEvent.timeSize).storeBytes(of: word, as: UInt64.self)
        end += InputEvent.size
    }
}
