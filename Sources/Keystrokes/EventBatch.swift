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
    /// The most events of one batch: what fits in 4 KiB.
    static let capacity = 4096 / InputEvent.size
    /// Events of a key by itself, and of one that needs Shift.
    static let plainKey = 4
    static let shiftedKey = 6
    /// As a limit: the first byte that types something, whatever it takes, and no other.
    static let oneByte = -1

    private let memory: UnsafeMutableRawPointer
    /// Bytes filled in.
    private var end = 0
    /// What is down at `end`.
    private var held = KeyModifiers()

    init() {
        // One key more than the capacity, because the encoder writes a whole key before it knows whether it is typed.
        let byteCount = (Self.capacity + Self.shiftedKey) * InputEvent.size
        // Sound: fresh memory, given back in deinit, of bytes that hold no pointers.
        unsafe memory = .allocate(byteCount: byteCount, alignment: 16)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    }

    deinit {
        // Sound: nothing else has the pointer, and `bytes` cannot outlive the batch.
        unsafe memory.deallocate()
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

    /// What the encoder took of its input.
    struct Run {
        var taken = 0
        var typed = 0
        /// Bytes taken that the layout cannot type.
        var rejected = 0
        /// True when the last byte taken is a carriage return that may have a line feed.
        var endsInCarriageReturn = false
        /// Why the encoder stopped before the input's end; nil when it took all of it.
        var stop: Typist.End?
    }

    /// Types bytes of one chunk until they are taken, or the batch would have more than `limit` events, or, if asked
    /// for, a scan ends.
    ///
    /// A line feed right after a carriage return is absorbed. Bytes taken and neither typed nor rejected are discarded. With
    /// `capsLock` the keystrokes are those that give the same text while CapsLock is on.
    ///
    mutating func type(
        _ input: Span<UInt8>,
        _ table: CompiledTable,
        limit: Int,
        stopAtScanEnd: Bool,
        capsLock: Bool = false
    ) -> Run {
        let limit = min(limit == Self.oneByte ? oneByteLimit(input, table, capsLock) : limit, Self.capacity)
        let bank = CompiledTable.Words.bank(capsLock: capsLock, stopAtScanEnd: stopAtScanEnd)
        var run = Run()
        while run.stop == nil {
            if held.isSubset(of: .shift) {
                typePlainKeys(input, table, bank, &run, limit: limit &* InputEvent.size)
            }
            guard run.taken < input.count else { break }
            let row = table.row(input[run.taken], capsLock)
            if row.marks == 0, held.isSubset(of: .shift) {
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
                if stopAtScanEnd, row.marks & CompiledTable.endsScan != 0 { run.stop = .scanEnd }
            }
            run.taken &+= 1
        }
        run.endsInCarriageReturn = table.joinsLineEnds && Self.isAfterCarriageReturn(input, run.taken)
        return run
    }

    /// The hot loop: goes on while bytes are plain or shifted keys, discarded or absorbed, and fit.
    ///
    /// Not inlined, so that the loop has the processor's registers to itself.
    @inline(never)
    private mutating func typePlainKeys(
        _ input: Span<UInt8>,
        _ table: CompiledTable,
        _ bank: Int,
        _ run: inout Run,
        limit: Int
    ) {
        typealias Words = CompiledTable.Words
        let size = InputEvent.size
        let count = input.count
        let joinsLineEnds = table.joinsLineEnds
        let words = table.words.words
        let first = bank &* Words.stride
        let rows = words.span.extracting(first..<(first &+ 256 &* Words.stride))
        var end = self.end
        // Shift as the size of its event.
        var shift = held.isEmpty ? 0 : size
        var typed = 0
        var index = run.taken
        // Sound: `index` is less than the input's count, `row` one of the bank's 256; the five words below lie
        // within one shifted key after `end`, which is at most the limit, and the memory is one shifted key larger than
        // the greatest limit.
        let target = unsafe memory + InputEvent.timeSize
        while index < count {
            let row = unsafe Int(input[unchecked: index]) &* Words.stride
            let keyShift = unsafe Int(truncatingIfNeeded: rows[unchecked: row &+ Words.shift])
            let mayChange = unsafe Int(truncatingIfNeeded: rows[unchecked: row &+ Words.change])
            let change = (keyShift ^ shift) & mayChange
            let nextShift = shift ^ change
            let key = end &+ change
            let next = unsafe key &+ Int(truncatingIfNeeded: rows[unchecked: row &+ Words.size])
            guard next &+ nextShift <= limit else {
                // A line feed never fits, so that only bytes that do not are looked at for one.
                guard joinsLineEnds, input[index] == ByteTable.lineFeed, Self.isAfterCarriageReturn(input, index) else {
                    break
                }
                typed &+= 1
                index &+= 1
                continue
            }
            unsafe (target + end).storeBytes(of: rows[unchecked: row &+ Words.shiftChange], as: UInt64.self)
            unsafe (target + key).storeBytes(of: rows[unchecked: row &+ Words.down], as: UInt64.self)
            unsafe (target + (key &+ size)).storeBytes(of: 0, as: UInt64.self)
            unsafe (target + (key &+ 2 &* size)).storeBytes(of: rows[unchecked: row &+ Words.up], as: UInt64.self)
            unsafe (target + (key &+ 3 &* size)).storeBytes(of: 0, as: UInt64.self)
            unsafe typed &+= Int(truncatingIfNeeded: rows[unchecked: row &+ Words.typed])
            end = next
            shift = nextShift
            index &+= 1
        }
        self.end = end
        held = shift == 0 ? [] : .shift
        run.taken = index
        run.typed &+= typed
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
        index > 0 && input[index &- 1] == ByteTable.carriageReturn
    }

    /// Ends the batch: modifiers that are still down come up in the frame of the last release.
    mutating func finish() {
        guard !held.isEmpty else { return }
        end -= InputEvent.size
        append(held, down: false)
        append(.report)
        held = []
    }

    /// Fills in the releases of keys, and their report.
    mutating func release(_ keys: some Sequence<KeyCode>) {
        clear()
        for key in keys { append(.key(key, down: false)) }
        if end > 0 { append(.report) }
    }

    /// The keys that are down after the first `events`.
    func keysDown(after events: Int) -> [KeyCode] {
        var down: [KeyCode] = []
        for index in 0..<min(max(events, 0), count) {
            guard let event = self[index], event.type == InputEvent.key else { continue }
            let key = KeyCode(rawValue: event.code)
            if event.value == 0 { down.removeAll { $0 == key } } else { down.append(key) }
        }
        return down
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
