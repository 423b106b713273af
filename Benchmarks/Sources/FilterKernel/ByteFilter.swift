// SPDX-License-Identifier: GPL-2.0-or-later

/// The strict table's choice by itself: printable ASCII, CR and LF are kept.
public enum ByteFilter {
    /// 1 for a byte that is kept.
    private static let table: [UInt8] = (0..<256).map { byte in
        0x20...0x7E ~= byte || byte == 0x0A || byte == 0x0D ? 1 : 0
    }

    /// Copies the bytes that are kept, and answers how many they are; `output` is at least 64 bytes longer than `count`.
    ///
    /// Sixty-four bytes are copied as one, up to the first that goes; where others are near it, one by one.
    public static func keep(_ input: [UInt8], _ count: Int, into output: inout [UInt8]) -> Int {
        precondition(count <= input.count && output.count >= count + 64)
        return input.withUnsafeBytes { input in
            output.withUnsafeMutableBytes { output in
                guard let from = input.baseAddress, let to = output.baseAddress else { return 0 }
                return table.withUnsafeBufferPointer { keep(from, count, to, $0) }
            }
        }
    }

    private static func keep(
        _ from: UnsafeRawPointer,
        _ count: Int,
        _ to: UnsafeMutableRawPointer,
        _ table: UnsafeBufferPointer<UInt8>
    ) -> Int {
        // The element type is written out, and two operators stand in a statement: else each vector is built byte by byte.
        let space = SIMD64<UInt8>(repeating: 0x20)
        let last = SIMD64<UInt8>(repeating: 0x5E)
        let carriageReturn = SIMD64<UInt8>(repeating: 0x0D)
        let lineFeed = SIMD64<UInt8>(repeating: 0x0A)
        var index = 0
        var kept = 0
        while index <= count &- 64 {
            let part = from.loadUnaligned(fromByteOffset: index, as: SIMD64<UInt8>.self)
            let printable = (part &- space) .<= last
            let lineEnd = (part .== carriageReturn) .| (part .== lineFeed)
            // Sound: both are 64 bytes, and every pattern of bits is a number; `all` would look at one byte after the other.
            let kinds = unsafeBitCast(printable .| lineEnd, to: SIMD8<UInt64>.self)
            let halves = kinds.lowHalf & kinds.highHalf
            let quarters = halves.lowHalf & halves.highHalf
            // In any case: what is behind the first byte that goes is overwritten.
            to.storeBytes(of: part, toByteOffset: kept, as: SIMD64<UInt8>.self)
            if quarters[0] & quarters[1] == UInt64.max {
                kept &+= 64
                index &+= 64
                continue
            }
            var word = 0
            while kinds[word] == UInt64.max { word &+= 1 }
            // All bits of a byte are set where it is kept.
            let goes = (~kinds[word]).littleEndian
            let first = goes.trailingZeroBitCount &>> 3
            index &+= word &* 8 &+ first
            kept &+= word &* 8 &+ first
            if goes &>> UInt64(first &* 8) == 0xFF {
                // One byte by itself: on behind it.
                index &+= 1
                continue
            }
            // Several: the next bytes one by one.
            for offset in index..<min(index &+ 64, count) {
                let byte = from.load(fromByteOffset: offset, as: UInt8.self)
                to.storeBytes(of: byte, toByteOffset: kept, as: UInt8.self)
                kept &+= Int(table[Int(byte)])
            }
            index = min(index &+ 64, count)
        }
        while index < count {
            let byte = from.load(fromByteOffset: index, as: UInt8.self)
            to.storeBytes(of: byte, toByteOffset: kept, as: UInt8.self)
            kept &+= Int(table[Int(byte)])
            index &+= 1
        }
        return kept
    }
}
