// SPDX-License-Identifier: GPL-2.0-or-later

extension Span<UInt8> {
    /// The eight bytes from `offset` on as a little-endian number; like a subscript, it stops the program out of
    /// bounds.
    @inlinable @inline(__always)
    func word(at offset: Int) -> UInt64 {
        // Sound: the bounds are checked, and any eight bytes are a number.
        UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Whether these bytes begin with all of `prefix`, compared eight at a time.
    @inlinable @inline(__always)
    public func begins(with prefix: Span<UInt8>) -> Bool {
        let count = prefix.count
        guard self.count >= count else { return false }
        guard count >= 8 else {
            for index in 0..<count where self[index] != prefix[index] { return false }
            return true
        }
        // The last word overlaps the one before where the count is no multiple of eight.
        let last = count &- 8
        var offset = 0
        while offset < last {
            if word(at: offset) != prefix.word(at: offset) { return false }
            offset &+= 8
        }
        return word(at: last) == prefix.word(at: last)
    }
}
