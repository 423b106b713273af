// SPDX-License-Identifier: GPL-2.0-or-later

/// The rows that the hot loop reads, one for each byte: five words.
///
/// There are four banks of 256 rows: without and with CapsLock, and for each of them going on after a barcode's end and
/// stopping there. A bank has first the first words of all rows, then the second ones and so on: a byte is then the place
/// of each of its words, and no address is computed. The rows that a text uses, of the bank's 10 KiB, stay in the
/// nearest cache beside the events.
@safe
struct HotRows: ~Copyable, @unchecked Sendable {
    // Unchecked is sound: nothing writes to the memory after `init`.

    /// One row.
    struct Row {
        /// The event of the press; that of the release has the same without its value.
        var down: UInt64 = 0
        /// The mask that Shift's state goes through: 0 where a key is typed, all ones where nothing is.
        ///
        /// As a signed number, -1 for a byte that types nothing, and more than 0 for a special one.
        var keep = UInt64.max
        /// The event that brings Shift where the key needs it.
        var shift = HotRows.shiftUp
        /// Shift as the key needs it: the size of an event where it is down, else 0, as also where nothing is typed.
        var held: UInt64 = 0
        /// Bytes of the key's events, without that of Shift; 0 where nothing is typed.
        var size: UInt64 = 0

        /// Whether the byte is a key, whatever stands before it.
        var isKey: Bool { down != 0 }
        /// Whether the byte types nothing after a carriage return.
        var isLineFeed: Bool { keep == Self.lineFeed.keep }
        /// Whether the byte needs a look at what stands before it, or is left to `EventBatch.typeOthers`.
        var isSpecial: Bool { Int64(bitPattern: keep) > 0 }
        /// Shift after the byte, where it was `before`.
        @inline(__always)
        func held(after before: UInt64) -> UInt64 { before & keep | held }

        /// A line feed that types nothing where a carriage return is before it.
        fileprivate static let lineFeed = Row(keep: 1 << 40)
        /// A byte that is not for the hot loop.
        fileprivate static let other = Row(keep: 1 << 56)

        private init(keep: UInt64) {
            self.keep = keep
        }

        /// The row of a byte with these keystrokes and marks.
        fileprivate init(_ row: CompiledTable.Row, _ marks: UInt8, _ strokes: [CompiledTable.KeyStroke]) {
            guard marks == 0 else {
                self = marks == CompiledTable.endsLineEnd ? .lineFeed : .other
                return
            }
            guard row.count > 0 else { return }
            let stroke = strokes[Int(row.first)]
            let isShifted = stroke.modifiers.contains(.shift)
            down = stroke.down
            keep = 0
            shift = isShifted ? HotRows.shiftDown : HotRows.shiftUp
            held = isShifted ? UInt64(InputEvent.size) : 0
            size = UInt64(InputEvent.size * EventBatch.plainKey)
        }

        /// The row of that byte in a bank.
        @unsafe @inline(__always)
        init(_ words: UnsafePointer<UInt64>, _ byte: UInt8) {
            let place = Int(byte)
            // Sound: a bank has every word of 256 rows.
            unsafe down = words[place]
            unsafe keep = words[place &+ HotRows.rowCount]
            unsafe shift = words[place &+ 2 &* HotRows.rowCount]
            unsafe held = words[place &+ 3 &* HotRows.rowCount]
            unsafe size = words[place &+ 4 &* HotRows.rowCount]
        }

        /// The words, in their order in a bank.
        fileprivate var words: [UInt64] { [down, keep, shift, held, size] }
    }

    /// The events of Shift.
    static let shiftUp = InputEvent.key(.leftShift, down: false).word
    static let shiftDown = InputEvent.key(.leftShift, down: true).word

    /// The alignment of the rows and of the events: what is compared of two addresses before they are known whole.
    static let alignment = 4096

    private static let bankCount = 4
    private static let rowCount = 256
    private static let bankSize = 5 * rowCount

    private let words: UnsafeMutablePointer<UInt64>

    /// The rows of what bytes do, without CapsLock and with it.
    init(_ source: [CompiledTable.Row], _ strokes: [CompiledTable.KeyStroke]) {
        // Sound: fresh memory for every word, all of them initialised before anything can reach it, given back in deinit.
        let count = Self.bankCount * Self.bankSize
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: count * MemoryLayout<UInt64>.size,
            alignment: Self.alignment
        )
        unsafe words = memory.bindMemory(to: UInt64.self, capacity: count)
        for bank in 0..<Self.bankCount {
            for byte in 0..<Self.rowCount {
                let row = source[byte + (bank & 1) * Self.rowCount]
                let marks = row.marks & (bank & 2 != 0 ? UInt8.max : ~CompiledTable.endsBarcode)
                for (index, word) in Row(row, marks, strokes).words.enumerated() {
                    unsafe (words + bank * Self.bankSize + index * Self.rowCount + byte).initialize(to: word)
                }
            }
        }
    }

    deinit {
        // Sound: nobody reads the words after this value's life.
        unsafe words.deallocate()
    }

    /// The 256 rows for that state of CapsLock that go on after a barcode's end, or stop there: to be read by `Row`
    /// while this value lives.
    @unsafe @inline(__always)
    borrowing func bank(capsLock: Bool, stopAtBarcodeEnd: Bool) -> UnsafePointer<UInt64> {
        // There are four banks, initialised whole.
        let bank = (capsLock ? 1 : 0) &+ (stopAtBarcodeEnd ? 2 : 0)
        return unsafe UnsafePointer(words + bank &* Self.bankSize)
    }
}
