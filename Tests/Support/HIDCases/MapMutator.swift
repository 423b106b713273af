// SPDX-License-Identifier: GPL-2.0-or-later

/// Mutates report descriptors: bytes, whole items, sizes and counts, cut ends, and parts of other descriptors.
struct MapMutator {
    let maps: [[UInt8]]
    var random: SplitMix

    /// Items whose data decides about sizes, ranges and identifiers, by their prefix without the size.
    private static let measures: [UInt8] = [0x74, 0x94, 0x84, 0x14, 0x24, 0x18, 0x28, 0x04]
    private static let boundaries: [UInt32] = [
        0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 24, 31, 32, 33, 64, 101, 127, 128, 255, 256, 257, 4095,
        12_287, 12_288, 12_289, 0x7FFF, 0x8000, 0xFFFF, 0x7_0004, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF,
    ]
    /// Whole items that are rare in real descriptors.
    private static let rareItems: [[UInt8]] = [
        [0xA4], [0xB4], [0xA9, 1], [0xA9, 0], [0xA8], [0x85, 0], [0x85, 9], [0x86, 0, 1], [0x05, 7],
        [0x0B, 4, 0, 7, 0], [0xC0], [0xA1, 1], [0xA1, 2], [0xA0], [0x81, 0], [0x81, 2], [0x81, 1], [0x81, 6],
        [0x81, 0x42], [0x82, 2, 1], [0x80], [0x79, 3], [0xFE, 1, 0, 0], [0xF5, 1], [0xC5, 1], [0xD1, 0],
        [0xB5, 0], [0x0C, 1], [0x15, 1], [0x15, 0x81], [0x25, 0xFF], [0x1B, 4, 0, 7, 0], [0x2B, 9, 0, 7, 0],
        [0x29, 3], [0x2A, 0xFF, 0x30], [0x75, 0], [0x95, 0], [0x55, 0x0F], [0x65, 0x33],
    ]

    init(maps: [[UInt8]], seed: UInt64) {
        self.maps = maps.filter { !$0.isEmpty }
        random = SplitMix(seed: seed)
    }

    /// Returns a descriptor with one to four changes, at most 4,096 bytes long, and the index of the original.
    mutating func next() -> (origin: Int, bytes: [UInt8]) {
        let origin = Int.random(in: maps.indices, using: &random)
        var bytes = maps[origin]
        for _ in 0..<Int.random(in: 1...4, using: &random) { change(&bytes) }
        return (origin, Array(bytes.prefix(4096)))
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let items = Self.items(of: bytes)
        guard let item = items.randomElement(using: &random) else {
            return bytes.append(.random(in: 0...255, using: &random))
        }
        let place = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<13, using: &random) {
        case 0: bytes[place] = .random(in: 0...255, using: &random)
        case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: bytes.insert(.random(in: 0...255, using: &random), at: place)
        case 3: bytes.remove(at: place)
        case 4: bytes.removeSubrange(item)
        case 5: bytes.insert(contentsOf: bytes[item], at: items.randomElement(using: &random)?.lowerBound ?? 0)
        case 6:
            // Exchange two items.
            let other = items.randomElement(using: &random) ?? item
            guard item != other else { return }
            let (first, second) = item.lowerBound < other.lowerBound ? (item, other) : (other, item)
            let (start, end) = (Array(bytes[first]), Array(bytes[second]))
            bytes.replaceSubrange(second, with: start)
            bytes.replaceSubrange(first, with: end)
        case 7: bytes.removeSubrange((Bool.random(using: &random) ? place : item.lowerBound)...)
        case 8, 9, 10:
            let measures = items.filter { Self.measures.contains(bytes[$0.lowerBound] & 0xFC) }
            guard let measure = measures.randomElement(using: &random) else { return }
            let value = Self.boundaries.randomElement(using: &random) ?? 0
            bytes.replaceSubrange(measure, with: Self.item(bytes[measure.lowerBound] & 0xFC, value))
        case 11:
            bytes.insert(contentsOf: Self.rareItems.randomElement(using: &random) ?? [], at: item.lowerBound)
        default:
            let other = maps.randomElement(using: &random) ?? []
            let parts = Self.items(of: other)
            let start = Int.random(in: 0..<parts.count, using: &random)
            let end = min(start + Int.random(in: 0..<12, using: &random), parts.count - 1)
            bytes.insert(contentsOf: other[parts[start].lowerBound..<parts[end].upperBound], at: item.lowerBound)
        }
    }

    /// Returns an item with the shortest data that holds the value.
    static func item(_ prefix: UInt8, _ value: UInt32) -> [UInt8] {
        let size = value < 0x100 ? 1 : value < 0x1_0000 ? 2 : 4
        let data = (0..<size).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
        return [prefix | (size == 4 ? 3 : UInt8(size))] + data
    }

    /// Returns the positions of the short items; the last one may be incomplete.
    static func items(of bytes: [UInt8]) -> [Range<Int>] {
        var items: [Range<Int>] = []
        var start = 0
        while start < bytes.count {
            let size = bytes[start] & 3 == 3 ? 4 : Int(bytes[start] & 3)
            let end = min(start + 1 + size, bytes.count)
            items.append(start..<end)
            start = end
        }
        return items
    }
}
