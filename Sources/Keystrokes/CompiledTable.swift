// SPDX-License-Identifier: GPL-2.0-or-later

/// A byte table and a layout, checked once and turned into the rows that the hot loop reads.
///
/// A byte of the table's base that the layout cannot type is rejected. An entry of the user's that it cannot type is a
/// failure, because it can only be a mistake. A byte that cannot be typed while CapsLock is on is rejected then.
public final class CompiledTable: Sendable {
    /// Why a table was refused; nothing is typed with it.
    public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// The layout has no key for the character that this byte is to type.
        case untypable(byte: UInt8, character: Unicode.Scalar, layout: String)
        case wrong(byte: UInt8, reason: String)
        /// The keystrokes of this byte do not fit the kernel's queue, and so could not leave at once.
        case tooLong(byte: UInt8, events: Int)
        /// The table reaches keys that no configuration may reach, alone or together.
        case forbidden(ForbiddenKeys)

        /// One line for people: what is wrong, and where.
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

    /// The most events of one byte: what the smaller of the queues holds while its reader stalls, so that a table is good
    /// for either.
    public static let mostEvents = ReaderQueue.small.window

    /// The action of one byte, compiled.
    struct Row {
        /// The marks below, for whatever the encoder must look at besides keystrokes; 0 for nearly all bytes.
        var marks: UInt8 = 0
        /// The byte's keystrokes: how many, and their place in `strokes`.
        var count: UInt8 = 0
        var first: UInt16 = 0
    }

    /// A keystroke, ready for the encoder.
    struct KeyStroke {
        var down: UInt64
        var up: UInt64
        var modifiers: KeyModifiers
    }

    /// The key ends a barcode: Enter or Tab.
    static let endsBarcode: UInt8 = 1
    /// The byte is the line feed that is absorbed after a carriage return.
    static let endsLineEnd: UInt8 = 2
    /// The byte is more than one plain or shifted key.
    static let isSequence: UInt8 = 4
    /// The layout cannot type the byte.
    static let isRejected: UInt8 = 8
    /// The byte would press what an open device may not.
    static let isWithheld: UInt8 = 16

    /// One row for each byte value without CapsLock, and one with.
    let rows: [Row]
    /// The rows in the form that the hot loop reads.
    let hot: HotRows
    let strokes: [KeyStroke]
    /// The keys that the table can press, modifiers among them where a character needs them.
    public let keys: KeySet
    /// The most events that one byte of this table needs, with or without CapsLock; 0 when nothing is typed.
    public let longestByte: Int

    /// Compiles `table` for readers who use `layout`.
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

    /// The part of `table` that a device may press which anybody may be: no byte presses Escape or Ctrl, and those only
    /// press Enter that `mayEnter` names (D-2).
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

    /// The keystrokes of a byte, none where it is discarded; nil where it is rejected.
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
            // A character that cannot be typed with CapsLock on, such as the German ß, is rejected while it is on.
            if capsLock, case .untypable = error { return nil }
            if table.entries[byte] != nil { throw error }
            return nil
        }
    }

    /// Why the encoder cannot make this keystroke, whoever asked for it; nil where it can.
    private static func fault(_ stroke: KeyboardLayout.Stroke) -> String? {
        ByteTable.Step.key(stroke.key, stroke.modifiers).fault
    }

    /// The events of keystrokes by themselves: key and report twice, and each modifier's changes.
    private static func events(_ strokes: [KeyboardLayout.Stroke]) -> Int {
        var held = KeyModifiers()
        var count = 0
        for stroke in strokes {
            count += held.symmetricDifference(stroke.modifiers).count + EventBatch.plainKey
            held = stroke.modifiers
        }
        return count + held.count
    }

    /// Whether this byte's last key ends a barcode.
    func endsBarcode(_ byte: UInt8) -> Bool { rows[Int(byte)].marks & Self.endsBarcode != 0 }

    /// The bytes of `input` up to and with the first that ends a barcode; all of it where none does.
    func barcodeLength(_ input: Span<UInt8>) -> Int {
        input.indices.first { endsBarcode(input[$0]) }.map { $0 + 1 } ?? input.count
    }

    /// Whether line feeds after carriage returns are absorbed: only where both are Enter.
    let joinsLineEnds: Bool

    /// Whether the layout cannot type what this byte means, so that it is rejected.
    public func isRejected(_ byte: UInt8, capsLock: Bool = false) -> Bool {
        row(byte, capsLock).marks & Self.isRejected != 0
    }

    /// The keystrokes of a byte; none where it is discarded or rejected.
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
    /// The row of a byte whose keystrokes stand from `first` on.
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

/// The rows that the hot loop reads, one for each byte: five words.
///
/// There are four banks of 256 rows: without and with CapsLock, and for each of them going on after a barcode's end and
/// stopping there. A bank has first the first words of all rows, then the second ones and so on: a byte is then the place
/// of each of its words, and no address is computed. The rows that a text uses, of the bank's 10 KiB, stay in the
/// nearest cache beside the events.
@safe
struct HotRows: ~Copyable, @unchecked Sendable {
    // Unchecked is sound: nothing writes to the memory after `init`.

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

/// The encoder by itself, without ring, pacer and account: bytes in, the events of their keystrokes out.
///
/// For measurements, and for tools that want to see what would be typed.
public struct ByteEncoder: ~Copyable {
    private var batch = EventBatch()
    private let table: CompiledTable

    /// An encoder for that table.
    public init(_ table: CompiledTable) {
        self.table = table
    }

    /// Encodes as much of `input` as fits into one batch, and answers how many bytes that was.
    ///
    /// Every batch begins and ends with all keys up.
    public mutating func encode(_ input: Span<UInt8>) -> Int {
        batch.clear()
        // Sound: the table lives for the call.
        let rules = unsafe EventBatch.Rules(table, limit: EventBatch.capacity, stopAtBarcodeEnd: false)
        let run = unsafe batch.type(input, table, rules)
        batch.finish()
        return run.taken
    }

    /// The events of the last `encode`, as the device takes them.
    public var output: RawSpan {
        @_lifetime(borrow self)
        borrowing get { batch.bytes }
    }
}
