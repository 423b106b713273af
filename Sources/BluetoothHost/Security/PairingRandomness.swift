// SPDX-License-Identifier: GPL-2.0-or-later

/// The random numbers of pairing: the system's, which are fit for keys.
public struct PairingRandomness: RandomNumberGenerator, Sendable {
    private let number: (@Sendable (_ place: UInt64) -> UInt64)?
    private var place: UInt64 = 0

    /// The system's numbers.
    public init() { number = nil }

    /// For tests: each number follows from its place, which begins at 0; a copy goes on at the same one.
    package init(_ number: @escaping @Sendable (_ place: UInt64) -> UInt64) { self.number = number }

    /// The next number.
    public mutating func next() -> UInt64 {
        guard let number else {
            var system = SystemRandomNumberGenerator()
            return system.next()
        }
        defer { place &+= 1 }
        return number(place)
    }
}
