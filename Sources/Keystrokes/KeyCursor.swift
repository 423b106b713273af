// SPDX-License-Identifier: GPL-2.0-or-later

/// The hot loop, and its position in the bytes and in the events.
@unsafe
struct KeyCursor {
    private(set) var byte: UnsafePointer<UInt8>
    /// The word of the event that comes next.
    private(set) var place: UnsafeMutableRawPointer
    /// Shift: the size of an event where it is down, else 0.
    private(set) var held: UInt64
    /// The bytes that typed nothing, as a negative number.
    private(set) var skipped = 0

    init(byte: UnsafePointer<UInt8>, place: UnsafeMutableRawPointer, held: UInt64) {
        unsafe self.byte = byte
        unsafe self.place = place
        unsafe self.held = held
    }

    /// Goes on up to `last` while bytes are plain or shifted keys, line feeds of an Enter, discarded or absorbed, and while
    /// their events end at `limit` or before.
    ///
    /// `first` is the input's first byte; one shifted key more than the limit is writable.
    @unsafe @inline(__always)
    mutating func type(
        from first: UnsafePointer<UInt8>,
        to last: UnsafePointer<UInt8>,
        _ rows: UnsafePointer<UInt64>,
        _ limit: UnsafeMutableRawPointer
    ) {
        // Sound: a byte is less than the 256 rows, and lies before `last`. A byte's events lie within one shifted key after the
        // cursor, which is at most at the limit.
        while unsafe byte < last {
            // So many bytes fit whatever they are; where none does, the next is looked at by itself.
            let rest = unsafe limit - place
            var sure = unsafe min(last, byte + Self.sureKeys(rest))
            if unsafe sure <= byte {
                guard unsafe fits(rows, first, rest) else { return }
                unsafe sure = byte + 1
            }
            // Most text is nothing but keys: a loop that knows nothing else, two bytes at a time, takes a third fewer
            // instructions a byte, and their number is what it waits for.
            while unsafe byte + 1 < sure {
                let one = unsafe HotRows.Row(rows, byte[0])
                let two = unsafe HotRows.Row(rows, byte[1])
                guard _fastPath(one.isKey && two.isKey) else { break }
                unsafe typeKey(one)
                unsafe typeKey(two)
                unsafe byte += 2
            }
            // From the first other byte on: bytes that type nothing take no branch here.
            while unsafe byte < sure {
                let row = unsafe HotRows.Row(rows, byte[0])
                if _fastPath(!row.isSpecial) {
                    unsafe type(row)
                } else if row.isLineFeed {
                    if unsafe !isAfterCarriageReturn(first) {
                        unsafe typeKey(HotRows.Row(rows, ByteTable.carriageReturn))
                    }
                } else {
                    return
                }
                unsafe byte += 1
            }
        }
    }

    /// A number of keys that fit into so many bytes, each with a change of Shift, and the release of Shift after them.
    @inline(__always)
    private static func sureKeys(_ byteCount: Int) -> Int {
        // Fewer than would fit, and without a division: five events have no more than 128 bytes. Below zero, none fits.
        (byteCount &- InputEvent.size) &>> 7
    }

    @unsafe @inline(__always)
    private func isAfterCarriageReturn(_ first: UnsafePointer<UInt8>) -> Bool {
        unsafe byte > first && byte[-1] == ByteTable.carriageReturn
    }

    /// True where the next byte's keys and the release of Shift after them have at most `rest` bytes.
    @unsafe @inline(never)
    private func fits(_ rows: UnsafePointer<UInt64>, _ first: UnsafePointer<UInt8>, _ rest: Int) -> Bool {
        var row = unsafe HotRows.Row(rows, byte[0])
        if unsafe row.isLineFeed && !isAfterCarriageReturn(first) {
            row = unsafe HotRows.Row(rows, ByteTable.carriageReturn)
        }
        let after = unsafe row.held(after: held)
        return unsafe row.isSpecial || Int(truncatingIfNeeded: (after ^ held) &+ after &+ row.size) <= rest
    }

    /// Fills in a byte's key: five words, whether it has a change of Shift or not, and whether it types anything or not.
    @unsafe @inline(__always)
    private mutating func type(_ row: HotRows.Row) {
        unsafe store(row, row.held(after: held), Int(truncatingIfNeeded: row.size))
        unsafe skipped &+= Int(truncatingIfNeeded: row.keep)
    }

    /// Fills in the key of a byte that is known to be one.
    @unsafe @inline(__always)
    private mutating func typeKey(_ row: HotRows.Row) {
        unsafe store(row, row.held, EventBatch.plainKey &* InputEvent.size)
    }

    /// Fills in five words, after which Shift is as `after` says and the cursor stands that size further.
    @unsafe @inline(__always)
    private mutating func store(_ row: HotRows.Row, _ after: UInt64, _ keySize: Int) {
        let size = InputEvent.size
        // Sound: the caller has seen that a shifted key's bytes are there after the cursor.
        let key = unsafe place + Int(truncatingIfNeeded: after ^ held)
        unsafe place.storeBytes(of: row.shift, as: UInt64.self)
        unsafe key.storeBytes(of: row.down, as: UInt64.self)
        unsafe (key + size).storeBytes(of: 0, as: UInt64.self)
        unsafe (key + 2 &* size).storeBytes(of: row.down & ~InputEvent.valueBits, as: UInt64.self)
        unsafe (key + 3 &* size).storeBytes(of: 0, as: UInt64.self)
        unsafe place = key + keySize
        unsafe held = after
    }
}
