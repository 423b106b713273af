// SPDX-License-Identifier: GPL-2.0-or-later

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
