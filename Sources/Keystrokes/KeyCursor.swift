// SPDX-License-Identifier: GPL-2.0-or-later

/// Hot loop of the encoder, with its positions in the input bytes and in the output events.
@unsafe
struct KeyCursor {
    private(set) var byte: UnsafePointer<UInt8>
    /// Address to which the next event is written, not counting the event's time.
    private(set) var place: UnsafeMutableRawPointer
    /// Shift state: the size of an event if Shift is down, else 0.
    private(set) var held: UInt64
    /// Number of bytes that typed nothing, as a negative number.
    private(set) var skipped = 0

    init(byte: UnsafePointer<UInt8>, place: UnsafeMutableRawPointer, held: UInt64) {
        unsafe self.byte = byte
        unsafe self.place = place
        unsafe self.held = held
    }

    /// Types plain or shifted keys, and skips line feeds and discarded bytes, up to `last`; stops at other bytes.
    ///
    /// It also stops before the events would extend beyond `limit`. `first` is the first byte of the input. There must
    /// be room for one shifted key after the limit.
    @unsafe @inline(__always)
    mutating func type(
        from first: UnsafePointer<UInt8>,
        to last: UnsafePointer<UInt8>,
        _ rows: UnsafePointer<UInt64>,
        _ limit: UnsafeMutableRawPointer
    ) {
        // Sound: the byte lies before `last`, and its value is less than the number of rows, 256. The events of a byte
        // lie within one shifted key after the cursor, which is at most at the limit.
        while unsafe byte < last {
            // This many bytes fit, whatever their values are; if the number is zero, the next byte is checked by
            // itself.
            let rest = unsafe limit - place
            var sure = unsafe min(last, byte + Self.sureKeys(rest))
            if unsafe sure <= byte {
                guard unsafe fits(rows, first, rest) else { return }
                unsafe sure = byte + 1
            }
            // Most text consists only of keys. A separate loop that handles nothing else, two bytes at a time, needs a
            // third fewer instructions per byte, and the number of instructions limits its speed.
            while unsafe byte + 1 < sure {
                let one = unsafe HotRows.Row(rows, byte[0])
                let two = unsafe HotRows.Row(rows, byte[1])
                guard _fastPath(one.isKey && two.isKey) else { break }
                unsafe typeKey(one)
                unsafe typeKey(two)
                unsafe byte += 2
            }
            // Continue from the first byte that is not a key; in this loop, bytes that type nothing need no branch.
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

    /// Returns a number of keys guaranteed to fit into `byteCount` bytes.
    ///
    /// The number leaves room for a Shift change before each key, and for a final release of Shift.
    @inline(__always)
    private static func sureKeys(_ byteCount: Int) -> Int {
        // This is a lower bound that needs no division: the five events of a shifted key have at most 128 bytes. If
        // negative, no key fits.
        (byteCount &- InputEvent.size) &>> 7
    }

    @unsafe @inline(__always)
    private func isAfterCarriageReturn(_ first: UnsafePointer<UInt8>) -> Bool {
        unsafe byte > first && byte[-1] == ByteTable.carriageReturn
    }

    /// Returns true if the events of the next byte and a final release of Shift occupy at most `rest` bytes, or if the
    /// byte is special.
    @unsafe @inline(never)
    private func fits(_ rows: UnsafePointer<UInt64>, _ first: UnsafePointer<UInt8>, _ rest: Int) -> Bool {
        var row = unsafe HotRows.Row(rows, byte[0])
        if unsafe row.isLineFeed && !isAfterCarriageReturn(first) {
            row = unsafe HotRows.Row(rows, ByteTable.carriageReturn)
        }
        let after = unsafe row.held(after: held)
        return unsafe row.isSpecial || Int(truncatingIfNeeded: (after ^ held) &+ after &+ row.size) <= rest
    }

    /// Writes the five words of a byte, without branches for Shift changes or for bytes that type nothing.
    @unsafe @inline(__always)
    private mutating func type(_ row: HotRows.Row) {
        unsafe store(row, row.held(after: held), Int(truncatingIfNeeded: row.size))
        unsafe skipped &+= Int(truncatingIfNeeded: row.keep)
    }

    /// Writes the key of a byte that is known to be a key.
    @unsafe @inline(__always)
    private mutating func typeKey(_ row: HotRows.Row) {
        unsafe store(row, row.held, EventBatch.plainKey &* InputEvent.size)
    }

    /// Writes five words, changes the Shift state to `after`, and moves the cursor past the Shift change, if any, and
    /// by `keySize` bytes.
    @unsafe @inline(__always)
    private mutating func store(_ row: HotRows.Row, _ after: UInt64, _ keySize: Int) {
        let size = InputEvent.size
        // Sound: the caller has checked that there is room for a shifted key after the cursor.
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
