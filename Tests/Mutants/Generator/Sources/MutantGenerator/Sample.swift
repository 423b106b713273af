// SPDX-License-Identifier: GPL-2.0-or-later

/// FNV-1a with SplitMix64's finalizer: unlike Swift's `Hasher`, it is deterministic on all machines.
struct StableHash {
    let value: UInt64

    init(_ text: String) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        value = hash ^ (hash >> 31)
    }
}

extension [Mutant] {
    /// Draws lines of the sources without replacement, and one mutant of each line.
    ///
    /// The rank of a line depends only on the seed, the function and the text of the line. A smaller sample is
    /// therefore a prefix of a larger one, and changing some sources does not affect the rest of the sample.
    public func sample(_ size: Int, seed: String) -> [Mutant] {
        let lines = Dictionary(grouping: self) { "\($0.file):\($0.line)" }.values
        let drawn = lines.compactMap { mutants -> (ticket: UInt64, mutant: Mutant)? in
            let line = StableHash(
                "\(seed)\0\(mutants[0].function)\0\(mutants[0].linesBefore)\0\(mutants[0].repetition)"
            )
            let tickets = mutants.map { (StableHash("\(seed)\0\($0.name)").value, $0) }
            return tickets.min { $0.0 < $1.0 }.map { (line.value, $0.1) }
        }
        return drawn.sorted { ($0.ticket, $0.mutant.name) < ($1.ticket, $1.mutant.name) }.prefix(size).map(\.mutant)
    }
}
