// SPDX-License-Identifier: GPL-2.0-or-later

/// Byte table and layout, validated once and compiled into rows for the hot loop.
///
/// A byte of the base table that the layout cannot type is rejected. A user's entry that the layout cannot type is an
/// error, because it can only be a mistake. A byte that cannot be typed with CapsLock on is rejected while CapsLock is
/// on.
public final class CompiledTable: Sendable {
    /// Error in a table; a table with an error is not used.
    public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// The layout has no key for the character of this byte.
        case untypable(byte: UInt8, character: Unicode.Scalar, layout: String)
        case wrong(byte: UInt8, reason: String)
        /// The keystrokes of this byte do not fit into the kernel's event queue, so they could not be written together.
        case tooLong(byte: UInt8, events: Int)
        /// The table contains a key, or a combination of keys, that no configuration may use.
        case forbidden(ForbiddenKeys)

        /// One-line description of the error and its place, for users.
        public var description: String {
            switch self {
            case .untypable(let byte, let character, let layout):
                "byte \(ByteTable.written(byte)): layout \(layout) cannot type \(character.debugDescription) "
                    + "(U+\(String(character.value, radix: 16, uppercase: true)))"
            case .wrong(let byte, let reason): "byte \(ByteTable.written(byte)): \(reason)"
            case .tooLong(let byte, let events):
                "byte \(ByteTable.written(byte)): its keystrokes are \(events) events; "
                    + "the queue of a keyboard's reader holds \(mostEvents)"
            case .forbidden(let keys): keys.description
            }
        }
    }

    /// Maximum number of events of one byte.
    ///
    /// This is the number of unread events that fit into the smaller queue, so that a table works with either queue.
    public static let mostEvents = ReaderQueue.small.window

    /// Compiled action of one byte.
    struct Row {
        /// Marks (see below) for cases that the encoder must handle specially; 0 for nearly all bytes.
        var marks: UInt8 = 0
        /// Number of keystrokes of the byte, and index of the first one in `strokes`.
        var count: UInt8 = 0
        var first: UInt16 = 0
    }

    /// A keystroke, ready for the encoder.
    struct KeyStroke {
        var down: UInt64
        var up: UInt64
        var modifiers: KeyModifiers
    }

    /// Mark of a byte whose last key, Enter or Tab, ends a barcode.
    static let endsBarcode: UInt8 = 1
    /// Mark of a line feed that is absorbed after a carriage return.
    static let endsLineEnd: UInt8 = 2
    /// Mark of a byte that types more than one plain or shifted key.
    static let isSequence: UInt8 = 4
    /// Mark of a byte that the layout cannot type.
    static let isRejected: UInt8 = 8
    /// Mark of a byte that would press keys blocked for unpaired devices.
    static let isWithheld: UInt8 = 16

    /// Rows of all byte values with CapsLock off, followed by those with CapsLock on.
    let rows: [Row]
    /// Rows in the format of the hot loop.
    let hot: HotRows
    let strokes: [KeyStroke]
    /// Keys that the table can press, including the modifiers that characters need.
    public let keys: KeySet
    /// Maximum number of events of one byte of this table, with or without CapsLock; 0 if the table types nothing.
    public let longestByte: Int

    /// Compiles `table` for applications that use `layout`.
    public init(_ table: ByteTable, layout: KeyboardLayout = .us) throws(Failure) {
        var rows = [Row](repeating: Row(), count: 512)
        var strokes: [KeyStroke] = []
        var pressed: Set<KeyCode> = []
        var longestByte = 0
        let enter = ByteTable.Action.key(.enter)
        joinsLineEnds = table[ByteTable.carriageReturn] == enter && table[ByteTable.lineFeed] == enter
        for byte in UInt8.min...UInt8.max {
            for capsLock in [false, true] {
                var row = Row()
                if let typed = try Self.strokes(of: byte, table, layout, capsLock: capsLock) {
                    row = Row(typed, at: strokes.count)
                    strokes += typed.map(KeyStroke.init)
                    longestByte = max(longestByte, Self.events(typed))
                    for stroke in typed { pressed.formUnion(stroke.modifiers.keys + [stroke.key]) }
                } else {
                    row.marks = Self.isRejected
                }
                if joinsLineEnds, byte == ByteTable.lineFeed { row.marks |= Self.endsLineEnd }
                rows[Self.place(byte, capsLock)] = row
            }
        }
        let keys = KeySet(pressed)
        if let forbidden = keys.forbidden { throw .forbidden(forbidden) }
        self.rows = rows
        hot = HotRows(rows, strokes)
        self.strokes = strokes
        self.keys = keys
        self.longestByte = longestByte
    }

    /// Creates a version of `table` for unpaired devices (D-2).
    ///
    /// In this version, no byte presses Escape or Ctrl, and only bytes for which `mayEnter` returns true press Enter.
    init(open table: CompiledTable, mayEnter: (UInt8) -> Bool) {
        var rows = table.rows
        for byte in UInt8.min...UInt8.max {
            let press = table.press(of: byte)
            guard press == .more || press == .enter && !mayEnter(byte) else { continue }
            for capsLock in [false, true] { rows[Self.place(byte, capsLock)] = Row(marks: Self.isWithheld) }
        }
        let lineEnd = [ByteTable.carriageReturn, ByteTable.lineFeed].map { rows[Self.place($0, false)].marks }
        joinsLineEnds = table.joinsLineEnds && lineEnd.allSatisfy { $0 & Self.isWithheld == 0 }
        if !joinsLineEnds {
            for capsLock in [false, true] { rows[Self.place(ByteTable.lineFeed, capsLock)].marks &= ~Self.endsLineEnd }
        }
        self.rows = rows
        strokes = table.strokes
        hot = HotRows(rows, strokes)
        keys = table.keys
        longestByte = table.longestByte
    }

    /// Returns the keystrokes of a byte: empty if it is discarded, nil if it is rejected.
    private static func strokes(
        of byte: UInt8,
        _ table: ByteTable,
        _ layout: KeyboardLayout,
        capsLock: Bool
    ) throws(Failure) -> [KeyboardLayout.Stroke]? {
        guard case .type(let steps) = table[byte] else { return [] }
        do throws(Failure) {
            guard steps.count <= ByteTable.mostSteps else {
                throw .wrong(byte: byte, reason: "more than \(ByteTable.mostSteps) characters and keys")
            }
            var strokes: [KeyboardLayout.Stroke] = []
            for step in steps {
                if let fault = step.fault { throw .wrong(byte: byte, reason: fault) }
                switch step {
                case .key(let key, let modifiers): strokes.append(KeyboardLayout.Stroke(key, modifiers))
                case .character(let character, let modifiers):
                    guard var typed = layout.strokes(for: character, capsLock: capsLock), !typed.isEmpty else {
                        throw .untypable(byte: byte, character: character, layout: layout.name)
                    }
                    typed[typed.count - 1].modifiers.formUnion(modifiers)
                    strokes += typed
                }
            }
            if let fault = strokes.lazy.compactMap(Self.fault).first { throw .wrong(byte: byte, reason: fault) }
            let events = Self.events(strokes)
            guard events <= mostEvents else { throw .tooLong(byte: byte, events: events) }
            return strokes
        } catch {
            // A character that cannot be typed with CapsLock on, such as the German ß, is rejected while CapsLock is
            // on.
            if capsLock, case .untypable = error { return nil }
            if table.entries[byte] != nil { throw error }
            return nil
        }
    }

    /// Returns the reason why the encoder cannot type this keystroke, whether in a table or a layout; nil if it can.
    private static func fault(_ stroke: KeyboardLayout.Stroke) -> String? {
        ByteTable.Step.key(stroke.key, stroke.modifiers).fault
    }

    /// Counts the events of these keystrokes: two key events and two reports for each, and all modifier changes.
    private static func events(_ strokes: [KeyboardLayout.Stroke]) -> Int {
        var held = KeyModifiers()
        var count = 0
        for stroke in strokes {
            count += held.symmetricDifference(stroke.modifiers).count + EventBatch.plainKey
            held = stroke.modifiers
        }
        return count + held.count
    }

    /// Returns true if the last key of this byte ends a barcode.
    func endsBarcode(_ byte: UInt8) -> Bool { rows[Int(byte)].marks & Self.endsBarcode != 0 }

    /// Returns the number of bytes of `input` up to and including the first that ends a barcode; `input.count` if none
    /// does.
    func barcodeLength(_ input: Span<UInt8>) -> Int {
        input.indices.first { endsBarcode(input[$0]) }.map { $0 + 1 } ?? input.count
    }

    /// True if a line feed after a carriage return types nothing.
    ///
    /// This requires that both bytes press Enter.
    let joinsLineEnds: Bool

    /// Returns true if the layout cannot type the character of this byte, so that the byte is rejected.
    public func isRejected(_ byte: UInt8, capsLock: Bool = false) -> Bool {
        row(byte, capsLock).marks & Self.isRejected != 0
    }

    /// Returns the keystrokes of a byte; empty if it types nothing.
    public func strokes(of byte: UInt8, capsLock: Bool = false) -> [KeyboardLayout.Stroke] {
        let row = row(byte, capsLock)
        return strokes[Int(row.first)..<Int(row.first) + Int(row.count)].map {
            KeyboardLayout.Stroke(KeyCode(rawValue: InputEvent(word: $0.down).code), $0.modifiers)
        }
    }

    func row(_ byte: UInt8, _ capsLock: Bool) -> Row { rows[Self.place(byte, capsLock)] }

    private static func place(_ byte: UInt8, _ capsLock: Bool) -> Int { Int(byte) + (capsLock ? 256 : 0) }
}

extension CompiledTable.Row {
    /// Creates the row of a byte whose keystrokes begin at index `first`.
    fileprivate init(_ strokes: [KeyboardLayout.Stroke], at first: Int) {
        guard let last = strokes.last else { return }
        self.first = UInt16(first)
        count = UInt8(strokes.count)
        if last.key == .enter || last.key == .tab { marks |= CompiledTable.endsBarcode }
        if strokes.count > 1 || !last.modifiers.isSubset(of: .shift) { marks |= CompiledTable.isSequence }
    }
}

extension CompiledTable.KeyStroke {
    fileprivate init(_ stroke: KeyboardLayout.Stroke) {
        down = InputEvent.key(stroke.key, down: true).word
        up = InputEvent.key(stroke.key, down: false).word
        modifiers = stroke.modifiers
    }
}

/// Rows for the hot loop, five words for each byte.
///
/// There are four banks of 256 rows: one for each CapsLock state and for each choice between continuing after the end
/// of a barcode and stopping there. A bank contains the first words of all rows, then all second words, and so on, so
/// that the byte itself is the index of each of its words and no address needs to be computed. A bank has 10 KiB; the
/// rows that a text uses stay in the L1 cache together with the events.
@safe
struct HotRows: ~Copyable, @unchecked Sendable {
    // Unchecked is sound: nothing writes to the memory after `init`.

    struct Row {
        /// Word of the press event; the release event differs only in its value, 0.
        var down: UInt64 = 0
        /// Mask for the Shift state: 0 if a key is typed, all ones if nothing is typed.
        ///
        /// As a signed number, it is -1 for a byte that types nothing, and positive for a special byte.
        var keep = UInt64.max
        /// Event that changes Shift to the state that the key needs.
        var shift = HotRows.shiftUp
        /// Shift state that the key needs: the size of an event if Shift is down, else 0; 0 if nothing is typed.
        var held: UInt64 = 0
        /// Size in bytes of the events of the key, without the Shift event; 0 if nothing is typed.
        var size: UInt64 = 0

        /// True if the byte types a key, whatever byte precedes it.
        var isKey: Bool { down != 0 }
        /// True if the byte is a line feed, which types nothing after a carriage return.
        var isLineFeed: Bool { keep == Self.lineFeed.keep }
        /// True if the action of the byte depends on the byte before it, or if `EventBatch.typeOthers` must handle it.
        var isSpecial: Bool { Int64(bitPattern: keep) > 0 }
        /// Returns the Shift state after the byte, given the state before it.
        @inline(__always)
        func held(after before: UInt64) -> UInt64 { before & keep | held }

        /// A line feed, which types nothing directly after a carriage return.
        fileprivate static let lineFeed = Row(keep: 1 << 40)
        /// A byte that the hot loop does not handle.
        fileprivate static let other = Row(keep: 1 << 56)

        private init(keep: UInt64) {
            self.keep = keep
        }

        /// Creates the row of a byte with these keystrokes and marks.
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

        @unsafe @inline(__always)
        init(_ words: UnsafePointer<UInt64>, _ byte: UInt8) {
            let place = Int(byte)
            // Sound: a bank contains all words of 256 rows.
            unsafe down = words[place]
            unsafe keep = words[place &+ HotRows.rowCount]
            unsafe shift = words[place &+ 2 &* HotRows.rowCount]
            unsafe held = words[place &+ 3 &* HotRows.rowCount]
            unsafe size = words[place &+ 4 &* HotRows.rowCount]
        }

        /// Words of the row, in the order in which a bank stores them.
        fileprivate var words: [UInt64] { [down, keep, shift, held, size] }
    }

    static let shiftUp = InputEvent.key(.leftShift, down: false).word
    static let shiftDown = InputEvent.key(.leftShift, down: true).word

    /// Memory alignment of the rows and the events.
    ///
    /// It matters because a processor first compares only the low 12 bits of addresses.
    static let alignment = 4096

    private static let bankCount = 4
    private static let rowCount = 256
    private static let bankSize = 5 * rowCount

    private let words: UnsafeMutablePointer<UInt64>

    /// Creates the rows of all banks from compiled rows and their keystrokes.
    init(_ source: [CompiledTable.Row], _ strokes: [CompiledTable.KeyStroke]) {
        // Sound: fresh memory for every word, all of it initialised before anything can reach it, and freed in deinit.
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
        // Sound: nothing reads the words after the lifetime of this value.
        unsafe words.deallocate()
    }

    /// Returns the 256 rows for this CapsLock state, for continuing after the end of a barcode or for stopping there.
    ///
    /// The pointer is valid while this value exists; `Row` reads from it.
    @unsafe @inline(__always)
    borrowing func bank(capsLock: Bool, stopAtBarcodeEnd: Bool) -> UnsafePointer<UInt64> {
        // There are four banks, all completely initialised.
        let bank = (capsLock ? 1 : 0) &+ (stopAtBarcodeEnd ? 2 : 0)
        return unsafe UnsafePointer(words + bank &* Self.bankSize)
    }
}

/// Encoder that converts bytes into the events of their keystrokes, without a ring, a pacer or a ledger.
///
/// It is used for measurements, and by tools that show how bytes would be typed.
public struct ByteEncoder: ~Copyable {
    private var batch = EventBatch()
    private let table: CompiledTable

    /// Creates an encoder for this table.
    public init(_ table: CompiledTable) {
        self.table = table
    }

    /// Encodes as many bytes of `input` as fit into one batch, and returns their number.
    ///
    /// No key is down at the beginning or the end of a batch.
    public mutating func encode(_ input: Span<UInt8>) -> Int {
        batch.clear()
        // Sound: the table is alive during the call.
        let rules = unsafe EventBatch.Rules(table, limit: EventBatch.capacity, stopAtBarcodeEnd: false)
        let run = unsafe batch.type(input, table, rules)
        batch.finish()
        return run.taken
    }

    /// Events of the last `encode`, in the format of the keyboard device.
    public var output: RawSpan {
        @_lifetime(borrow self)
        borrowing get { batch.bytes }
    }
}
