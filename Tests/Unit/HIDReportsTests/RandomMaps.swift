// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport

/// Source of report descriptors: the vectors' ones with mutations, and random items.
struct RandomMaps {
    private let maps: [[UInt8]]

    init() throws {
        maps = try (MapVector.all("hid-report-maps.txt") + MapVector.all("hid-input-reports.txt")).map(\.map)
    }

    func next(_ random: inout SeededGenerator) -> [UInt8] {
        if Int.random(in: 0..<4, using: &random) == 0 { return items(&random) }
        guard var map = maps.randomElement(using: &random) else { return [] }
        for _ in 0..<Int.random(in: 0...3, using: &random) { mutate(&map, &random) }
        return map
    }

    private func mutate(_ map: inout [UInt8], _ random: inout SeededGenerator) {
        guard let place = map.indices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: map[place] = UInt8.random(in: 0...255, using: &random)
        case 1: map[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
        case 2: map.remove(at: place)
        case 3: map.insert(contentsOf: item(&random), at: place)
        case 4: map.removeSubrange(place...)
        default: map[place] = [0x00, 0x01, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
        }
    }

    /// Returns items of a keyboard in random order, of which most are accepted.
    private func items(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = [0x05, 0x07, 0x25, 0x65, 0x75, 0x08, 0x95, 0x02]
        var depth = 0
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                let flags: [UInt8] = [0, 0, 2, 2, 1, 3, 4, 6, 0x40, 0x42]
                bytes += [0x81, flags.randomElement(using: &random) ?? 0]
            case 1:
                bytes += [0xA1, UInt8.random(in: 0...8, using: &random)]
                depth += 1
            case 2 where depth > 0:
                bytes.append(0xC0)
                depth -= 1
            default: bytes += item(&random)
            }
        }
        return bytes + [UInt8](repeating: 0xC0, count: depth)
    }

    private func item(_ random: inout SeededGenerator) -> [UInt8] {
        let small = UInt8.random(in: 0...16, using: &random)
        let any = UInt8.random(in: 0...255, using: &random)
        return switch Int.random(in: 0..<16, using: &random) {
        case 0: [0x09, any]
        case 1, 2: [0x19, small, 0x29, any]
        case 3: [0x0B, any, 0x00, 0x07, 0x00]
        case 4:
            [
                0x1B, any, UInt8.random(in: 0...255, using: &random), 0x07, 0x00, [0x29, 0x2A, 0x2B][Int(any % 3)],
                small,
            ]
        case 5: [0x75, small]
        case 6: [0x95, any < 224 ? small : any % 64]
        case 7: [0x15, any]
        case 8: [0x25, any]
        case 9: [0x85, small % 4]
        case 10: [0x05, [0x07, 0x07, 0x08, 0x0C][Int(any % 4)]]
        case 11: [[0xA4, 0xB4][Int(any % 2)]]
        case 12: [0xA9, small % 2]
        case 13: [0x19, small, 0x29, small &- 1]
        case 14: [0x07, 0x07, 0x00, small % 2, 0x00]
        default: [0x81, any % 128]
        }
    }
}
