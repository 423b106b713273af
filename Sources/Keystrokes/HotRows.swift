// SPDX-License-Identifier: GPL-2.0-or-later

/// What the hot loop reads for each byte: a row of four words.
///
/// There are four banks of 256 rows: without and with CapsLock, and for each of them going on after a scan's end and
/// stopping there. A bank has 8 KiB, so that it stays in the nearest cache beside the events.
@safe
struct HotRows: ~Copyable, @unchecked Sendable {
    // Unchecked is sound: nothing writes to the memory after `init`.

    /// One row; Shift is the word of the event that brought it where it is.
    struct Row {
        /// The event of the press; that of the release has the same without its value.
        var down: UInt64 = 0
        /// What stays of Shift: nothing where a key is typed, all where nothing is.
        ///
        /// As a signed number, -1 for a byte that types nothing, and more than 0 for one that is looked at before.
        var keep = UInt64.max
        /// Shift as the key needs it; 0 where nothing is typed.
        var shift: UInt64 = 0
        /// Bytes of the key's events, without that of Shift; 0 where nothing is typed.
        var size: UInt64 = 0

        /// A byte that types nothing.
        fileprivate init() {}

        /// A line feed that types nothing where a carriage return is before it.
        fileprivate static let lineFeed = Row(keep: 1 << 40)
        /// A byte that is not for the hot loop.
        fileprivate static let other = Row(keep: 1 << 56)

        private init(keep: UInt64) {
            self.keep = keep
        }

        /// Whether the byte types nothing after a carriage return.
        var isLineFeed: Bool { keep == Self.lineFeed.keep }
        /// Whether the byte is no key, and neither nothing whatever stands before it.
        var isSpecial: Bool { Int64(bitPattern: keep) > 0 }

        /// A byte that does this, so marked.
        fileprivate init(_ row: CompiledTable.Row, _ marks: UInt8, _ strokes: [CompiledTable.KeyStroke]) {
            guard marks == 0 else {
                self = marks == CompiledTable.endsLineEnd ? .lineFeed : .other
                return
            }
            guard row.count > 0 else { return }
            let stroke = strokes[Int(row.first)]
            down = stroke.down
            keep = 0
            shift = stroke.modifiers.contains(.shift) ? HotRows.shiftDown : HotRows.shiftUp
            size = UInt64(InputEvent.size * EventBatch.plainKey)
        }
    }

    /// The events of Shift.
    static let shiftUp = InputEvent.key(.leftShift, down: false).word
    static let shiftDown = InputEvent.key(.leftShift, down: true).word

    private static let bankCount = 4
    private static let bankSize = 256

    private let rows: UnsafeMutablePointer<Row>

    /// The rows of what bytes do, without CapsLock and with it.
    init(_ source: [CompiledTable.Row], _ strokes: [CompiledTable.KeyStroke]) {
        // Sound: fresh memory for every row, all of them initialised before anything can reach it, given back in deinit.
        unsafe rows = .allocate(capacity: Self.bankCount * Self.bankSize)
        for bank in 0..<Self.bankCount {
            for byte in 0..<Self.bankSize {
                let row = source[byte + (bank & 1) * Self.bankSize]
                let marks = row.marks & (bank & 2 != 0 ? UInt8.max : ~CompiledTable.endsScan)
                unsafe (rows + bank * Self.bankSize + byte).initialize(to: Row(row, marks, strokes))
            }
        }
    }

    deinit {
        // Sound: the rows hold no references, and nobody reads them after this value's life.
        unsafe rows.deallocate()
    }

    /// The 256 rows for that state of CapsLock that go on after a scan's end, or stop there: to be read while this value
    /// lives.
    @unsafe @inline(__always)
    borrowing func bank(capsLock: Bool, stopAtScanEnd: Bool) -> UnsafePointer<Row> {
        // There are four banks, initialised whole.
        let bank = (capsLock ? 1 : 0) &+ (stopAtScanEnd ? 2 : 0)
        return unsafe UnsafePointer(rows + bank &* Self.bankSize)
    }
}
