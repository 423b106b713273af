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
        /// No byte may do what this one is to do.
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
    /// The keystrokes of all rows.
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

    /// The row of a byte, without or with CapsLock.
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
