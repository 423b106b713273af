// SPDX-License-Identifier: GPL-2.0-or-later

/// The byte filter of the strict table: keeps printable ASCII, CR and LF.
public enum ByteFilter {
    /// 1 for each byte that is kept.
    private static let table: [UInt8] = (0..<256).map { byte in
        0x20...0x7E ~= byte || byte == 0x0A || byte == 0x0D ? 1 : 0
    }

    /// Copies the bytes that are kept, and returns their number; `output` must be at least 64 bytes longer than
    /// `count`.
    ///
    /// Blocks of 64 bytes are copied up to the first discarded byte. Blocks with several discarded bytes are copied
    /// byte by byte.
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
        // With an inferred element type or longer expressions, the compiler would build each vector byte by byte.
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
            // Sound: both types have 64 bytes, and all bit patterns are valid. `all` would test the bytes one by one.
            let kinds = unsafeBitCast(printable .| lineEnd, to: SIMD8<UInt64>.self)
            let halves = kinds.lowHalf & kinds.highHalf
            let quarters = halves.lowHalf & halves.highHalf
            // Copies the whole block; the bytes from the first discarded one on are overwritten later.
            to.storeBytes(of: part, toByteOffset: kept, as: SIMD64<UInt8>.self)
            if quarters[0] & quarters[1] == UInt64.max {
                kept &+= 64
                index &+= 64
                continue
            }
            var word = 0
            while kinds[word] == UInt64.max { word &+= 1 }
            // Each byte is 0xFF if it is discarded, and 0 otherwise.
            let goes = (~kinds[word]).littleEndian
            let first = goes.trailingZeroBitCount &>> 3
            index &+= word &* 8 &+ first
            kept &+= word &* 8 &+ first
            if goes &>> UInt64(first &* 8) == 0xFF {
                // Only this byte is discarded: continue after it.
                index &+= 1
                continue
            }
            // Several bytes are discarded: copy the next ones individually.
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
