// SPDX-License-Identifier: GPL-2.0-or-later

/// The strict table's choice by itself: printable ASCII, CR and LF are kept.
public enum ByteFilter {
    /// 1 for a byte that is kept.
    private static let table: InlineArray<256, UInt8> = {
        var table = InlineArray<256, UInt8>(repeating: 0)
        for byte in 0x20...0x7E { table[byte] = 1 }
        table[0x0A] = 1
        table[0x0D] = 1
        return table
    }()

    /// Copies the bytes that are kept, and answers how many they are; `output` is at least 64 bytes longer than `count`.
    ///
    /// Sixty-four bytes of which all are kept are copied as one.
    public static func keep(_ input: [UInt8], _ count: Int, into output: inout [UInt8]) -> Int {
        precondition(count <= input.count && output.count >= count + 64)
        return input.withUnsafeBytes { input in
            output.withUnsafeMutableBytes { output in
                guard let from = input.baseAddress, let to = output.baseAddress else { return 0 }
                return keep(from, count, to)
            }
        }
    }

    private static func keep(_ from: UnsafeRawPointer, _ count: Int, _ to: UnsafeMutableRawPointer) -> Int {
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
            if all(printable .| lineEnd) {
                to.storeBytes(of: part, toByteOffset: kept, as: SIMD64<UInt8>.self)
                kept &+= 64
            } else {
                for offset in index..<(index &+ 64) {
                    let byte = from.load(fromByteOffset: offset, as: UInt8.self)
                    to.storeBytes(of: byte, toByteOffset: kept, as: UInt8.self)
                    kept &+= Int(table[Int(byte)])
                }
            }
            index &+= 64
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
