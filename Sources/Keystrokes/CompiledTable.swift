// SPDX-License-Identifier: GPL-2.0-or-later

/// A byte table and a layout, checked once and turned into what the hot loop reads for each byte.
public final class CompiledTable: Sendable {
    /// Why a table was refused; nothing is typed with it.
    public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// The layout has no key for the character that this byte is to type.
        case untypable(byte: UInt8, character: Unicode.Scalar, layout: String)
        /// The table reaches keys that no configuration may reach, alone or together.
        case forbidden(ForbiddenKeys)

        /// One line for people: what is wrong, and where.
        public var description: String {
            switch self {
            case .untypable(let byte, let character, let layout):
                "byte \(ByteTable.written(byte)): layout \(layout) cannot type \(character.debugDescription) "
                    + "(U+\(String(character.value, radix: 16, uppercase: true)))"
            case .forbidden(let keys): keys.description
            }
        }
    }

    /// What one byte does, ready for the encoder.
    struct Row {
        /// The words of the key's press and release; of no meaning unless `types` is 1.
        var down: UInt64 = 0
        var up: UInt64 = 0
        /// 1 when the byte types a key, else 0 (it is discarded).
        var types: UInt32 = 0
        /// 1 when the key needs Shift, else 0.
        var shift: UInt32 = 0
        /// What the encoder must look at besides; 0 for nearly all bytes.
        var marks: UInt32 = 0
    }

    /// The key ends a scan: Enter or Tab.
    static let endsScan: UInt32 = 1
    /// The byte is the line feed that is absorbed after a carriage return.
    static let endsLineEnd: UInt32 = 2

    let rows: InlineArray<256, Row>
    /// The keys that the table can press, Shift among them where a character needs it.
    public let keys: KeySet

    /// Compiles `table` for readers who use `layout`.
    public init(_ table: ByteTable, layout: KeyboardLayout = .us) throws(Failure) {
        var rows = InlineArray<256, Row>(repeating: Row())
        var keys = KeySet()
        let enter = ByteTable.Action.key(.enter)
        let joinsLineEnd = table[ByteTable.carriageReturn] == enter && table[ByteTable.lineFeed] == enter
        for byte in UInt8.min...UInt8.max {
            guard let stroke = try Self.stroke(of: byte, table, layout) else { continue }
            var row = Row()
            row.down = InputEvent.key(stroke.key, down: true).word
            row.up = InputEvent.key(stroke.key, down: false).word
            row.types = 1
            row.shift = stroke.shift ? 1 : 0
            if stroke.key == .enter || stroke.key == .tab { row.marks |= Self.endsScan }
            if joinsLineEnd, byte == ByteTable.lineFeed { row.marks |= Self.endsLineEnd }
            rows[Int(byte)] = row
            keys.insert(stroke.key)
            if stroke.shift { keys.insert(.leftShift) }
        }
        if let forbidden = keys.forbidden { throw .forbidden(forbidden) }
        self.rows = rows
        self.keys = keys
    }

    private static func stroke(
        of byte: UInt8,
        _ table: ByteTable,
        _ layout: KeyboardLayout
    ) throws(Failure) -> KeyboardLayout.Stroke? {
        switch table[byte] {
        case .discard: return nil
        case .key(let key): return KeyboardLayout.Stroke(key)
        case .text(let character):
            guard let stroke = layout.stroke(for: character) else {
                throw .untypable(byte: byte, character: character, layout: layout.name)
            }
            return stroke
        }
    }

    /// Whether this byte's key ends a scan.
    func endsScan(_ byte: UInt8) -> Bool { rows[Int(byte)].marks & Self.endsScan != 0 }

    /// The bytes of `input` up to and with the first that ends a scan; all of it where none does.
    func scanLength(_ input: Span<UInt8>) -> Int {
        input.indices.first { endsScan(input[$0]) }.map { $0 + 1 } ?? input.count
    }

    /// Whether line feeds after carriage returns are absorbed: only where both are Enter.
    var joinsLineEnds: Bool { rows[Int(ByteTable.lineFeed)].marks & Self.endsLineEnd != 0 }
}
