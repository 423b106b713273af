// SPDX-License-Identifier: GPL-2.0-or-later

extension Span<UInt8> {
    /// The eight bytes from `offset` on as a little-endian number; like a subscript, it stops the program out of
    /// bounds.
    @inlinable @inline(__always)
    func word(at offset: Int) -> UInt64 {
        // Sound: the bounds are checked, and any eight bytes are a number.
        UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// True where these bytes begin with all of `prefix`, compared sixteen at a time.
    @inlinable @inline(__always)
    public func begins(with prefix: Span<UInt8>) -> Bool {
        let count = prefix.count
        guard self.count >= count else { return false }
        guard count >= 16 else {
            guard count >= 8 else {
                for index in 0..<count where self[index] != prefix[index] { return false }
                return true
            }
            return word(at: 0) == prefix.word(at: 0) && word(at: count &- 8) == prefix.word(at: count &- 8)
        }
        let last = count &- 16
        // The last two words overlap those before where the count is no multiple of sixteen.
        var difference = self.difference(prefix, at: last)
        var offset = 0
        while offset < last {
            difference |= self.difference(prefix, at: offset)
            offset &+= 16
        }
        return difference == SIMD2<UInt64>()
    }

    /// The bits in which sixteen bytes differ; both spans have them.
    @inlinable @inline(__always)
    func difference(_ other: Span<UInt8>, at offset: Int) -> SIMD2<UInt64> {
        // Sound: `begins` has compared the counts, and any sixteen bytes are two numbers.
        let one = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: SIMD2<UInt64>.self)
        let two = unsafe other.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: SIMD2<UInt64>.self)
        return one ^ two
    }
}
