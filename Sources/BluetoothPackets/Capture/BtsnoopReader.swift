// SPDX-License-Identifier: GPL-2.0-or-later

/// Takes a btsnoop file piece by piece and gives its records.
///
/// It holds no more than what was given since the last whole record.
public struct BtsnoopReader: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0
    private var didReadHeader = false

    /// A reader at the beginning of a file.
    public init() {}

    /// Takes the file's next bytes.
    public mutating func append(_ bytes: some Sequence<UInt8>) {
        buffer.removeFirst(start)
        start = 0
        buffer.append(contentsOf: bytes)
    }

    /// The next record; nil when more bytes are needed.
    public mutating func next() throws(DecodingError) -> BtsnoopRecord? {
        if !didReadHeader {
            guard buffer.count &- start >= Btsnoop.headerByteCount else { return nil }
            try Btsnoop.checkHeader(buffer.span.extracting(start..<(start &+ Btsnoop.headerByteCount)))
            start &+= Btsnoop.headerByteCount
            didReadHeader = true
        }
        var reader = ByteReader(buffer.span.extracting(start..<buffer.count), packet: "btsnoop record")
        do throws(DecodingError) {
            let record = try BtsnoopRecord(&reader)
            start &+= reader.offset
            return record
        } catch {
            guard case .truncated = error.reason else { throw error }
            return nil
        }
    }

    /// To be called at the file's end: refuses one that ends within its header or within a record.
    public func finish() throws(DecodingError) {
        let rest = buffer.count &- start
        if !didReadHeader {
            throw DecodingError(
                packet: "btsnoop file",
                field: "header",
                offset: 0,
                reason: .truncated(needed: Btsnoop.headerByteCount, available: rest)
            )
        }
        guard rest == 0 else {
            throw DecodingError(
                packet: "btsnoop record",
                field: "Packet Data",
                offset: 0,
                reason: .truncated(needed: Btsnoop.recordHeaderByteCount, available: rest)
            )
        }
    }
}
