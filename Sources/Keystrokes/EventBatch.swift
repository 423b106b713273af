// SPDX-License-Identifier: GPL-2.0-or-later

/// The events of one write to the keyboard device, and the encoder that fills them in.
///
/// A key is press, report, release, report: each change in a frame of its own, so that a repeated character is seen as
/// such. Shift goes down in the frame of the first key that needs it, before that key; it is held over a run; it comes up
/// in the frame of the next key that does not need it, before that key, or with the release of the batch's last key. So
/// every batch begins and ends with nothing held, and no Shift is down while the typist waits or sleeps. A plain key costs
/// four events, a run of n shifted keys 4n + 2; no frame has more than two changes and its report.
///
/// The memory is zeroed once. Only the eight bytes of type, code and value are ever written, so the times stay zero.
@safe
struct EventBatch: ~Copyable {
    /// The most events of one batch: what fits in 4 KiB.
    static let capacity = 4096 / InputEvent.size
    /// Events of a key by itself, and of one that needs Shift.
    static let plainKey = 4
    static let shiftedKey = 6

    private let memory: UnsafeMutableRawPointer
    /// Bytes filled in.
    private var end = 0
    /// 1 while Shift is down at `end`.
    private var held: UInt32 = 0

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
        held = 0
    }

    /// What the encoder took of its input.
    struct Run {
        var taken = 0
        var typed = 0
        /// True when the last byte taken is a carriage return that may have a line feed.
        var endsInCarriageReturn = false
        /// Why the encoder stopped before the input's end; nil when it took all of it.
        var stop: Typist.End?
    }

    /// Types bytes of one chunk until they are taken, or the batch would have more than `limit` events, or, if asked
    /// for, a scan ends.
    ///
    /// A line feed right after a carriage return is absorbed. Bytes taken and not typed are discarded.
    ///
    /// Not inlined, so that the loop has the processor's registers to itself.
    @inline(never)
    mutating func type(_ input: Span<UInt8>, _ table: CompiledTable, limit: Int, stopAtScanEnd: Bool) -> Run {
        let size = InputEvent.size
        let limit = min(limit, Self.capacity) * size
        let shiftUp = InputEvent.key(.leftShift, down: false).word
        let shiftDown = InputEvent.key(.leftShift, down: true).word
        var run = Run()
        var end = self.end
        var held = self.held
        var typed = 0
        var index = 0
        let count = input.count
        // Sound: `index` is less than the input's count; the five words below lie within one shifted key after `end`,
        // which is at most the limit, and the memory is one shifted key larger than the greatest limit.
        let words = unsafe memory + InputEvent.timeSize
        while index < count {
            let byte = unsafe input[unchecked: index]
            let row = table.rows[Int(byte)]
            if row.marks & CompiledTable.endsLineEnd != 0, Self.isAfterCarriageReturn(input, index) {
                typed &+= 1
                index &+= 1
                continue
            }
            let change = (row.shift ^ held) & row.types
            let nextHeld = held ^ change
            let key = end &+ Int(change) &* size
            let next = key &+ Int(row.types) &* (Self.plainKey &* size)
            guard next &+ Int(nextHeld) &* size <= limit else {
                run.stop = .full
                break
            }
            unsafe (words + end).storeBytes(of: nextHeld == 0 ? shiftUp : shiftDown, as: UInt64.self)
            unsafe (words + key).storeBytes(of: row.down, as: UInt64.self)
            unsafe (words + (key &+ size)).storeBytes(of: 0, as: UInt64.self)
            unsafe (words + (key &+ 2 &* size)).storeBytes(of: row.up, as: UInt64.self)
            unsafe (words + (key &+ 3 &* size)).storeBytes(of: 0, as: UInt64.self)
            end = next
            held = nextHeld
            typed &+= Int(row.types)
            index &+= 1
            if row.marks & CompiledTable.endsScan != 0, stopAtScanEnd {
                run.stop = .scanEnd
                break
            }
        }
        self.end = end
        self.held = held
        run.taken = index
        run.typed = typed
        run.endsInCarriageReturn = table.joinsLineEnds && Self.isAfterCarriageReturn(input, index)
        return run
    }

    private static func isAfterCarriageReturn(_ input: Span<UInt8>, _ index: Int) -> Bool {
        index > 0 && input[index &- 1] == ByteTable.carriageReturn
    }

    /// Ends the batch: a Shift that is still down comes up in the frame of the last release.
    mutating func finish() {
        guard held != 0 else { return }
        held = 0
        end -= InputEvent.size
        append(.key(.leftShift, down: false))
        append(.report)
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
        var reports = 0
        for index in 0..<min(max(events, 0), count) where self[index] == .report { reports &+= 1 }
        return reports / 2
    }

    /// Fills in one event.
    mutating func append(_ event: InputEvent) {
        guard count < Self.capacity else { return }
        // Sound: the batch has room for one more event.
        unsafe (memory + end + InputEvent.timeSize).storeBytes(of: event.word, as: UInt64.self)
        end += InputEvent.size
    }
}
