// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport

/// Mutated inputs of a corpus, determined by a seed.
struct FuzzMutations {
    private let corpus: [[UInt8]]
    private var random = SeededGenerator(seed: 14)

    init(_ corpus: [[UInt8]]) {
        self.corpus = corpus
    }

    mutating func next() -> [UInt8] {
        guard var input = corpus.randomElement(using: &random) else { return [] }
        for _ in 0...below(4) { change(&input) }
        return input
    }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    private mutating func byte() -> UInt8 {
        [0, 1, 0x7F, 0x80, 0xFF, UInt8(below(256)), UInt8(below(256)), UInt8(below(256))][below(8)]
    }

    private mutating func change(_ input: inout [UInt8]) {
        let place = below(input.count + 1)
        switch below(6) {
        case 0 where place < input.count: input[place] = byte()
        case 1 where place < input.count: input[place] ^= 1 << UInt8(below(8))
        case 2: input.insert(byte(), at: place)
        case 3 where place < input.count: input.removeSubrange(place..<min(place + 1 + below(4), input.count))
        case 4: input = Array(input[..<place])
        default:
            // Appends the end of another input.
            guard let other = corpus.randomElement(using: &random) else { return }
            input = Array(input[..<place]) + other.dropFirst(below(other.count + 1))
        }
        if input.count > 2048 { input.removeLast(input.count - 2048) }
    }
}
