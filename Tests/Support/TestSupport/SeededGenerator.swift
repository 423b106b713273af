// SPDX-License-Identifier: GPL-2.0-or-later

/// Random number generator (SplitMix64) whose numbers depend on its seed and on the seed of the test run, so that
/// failures can be reproduced.
///
/// The seed of the run is printed when the first generator is created. It can be set with an environment variable:
///
///     BLEWEDGE_SEED=4711 swift test
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Seed of the run: the number in the environment variable `BLEWEDGE_SEED`, or 0 if it is not set.
    public static let run: UInt64 = {
        let run = UInt64(RunCount.from("BLEWEDGE_SEED", usual: 0).magnitude)
        print("random tests: BLEWEDGE_SEED=\(run)")
        return run
    }()

    /// Creates a generator whose numbers depend on `seed` and `run`.
    public init(seed: UInt64) {
        state = seed ^ Self.run &* 0xD6E8_FEB8_6659_FD93
    }

    /// Returns the number at index `place` in the sequence of a generator with this seed.
    public static func number(_ place: UInt64, of seed: UInt64) -> UInt64 {
        var generator = SeededGenerator(seed: seed)
        generator.state &+= place &* increment
        return generator.next()
    }

    private static let increment: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Returns the next number.
    public mutating func next() -> UInt64 {
        state &+= Self.increment
        var value = state
        value = (value ^ value &>> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value &>> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value &>> 31
    }
}
