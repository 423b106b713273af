// SPDX-License-Identifier: GPL-2.0-or-later

/// Set of usage ids of page 07, or of indices of a field's usages.
///
/// Numbers below 256, which are all that most maps have, need no allocation.
struct UsageSet: Equatable, Sendable {
    /// Bit 0 of the first word is number 0; the modifiers E0 to E7 are bits 32 to 39 of the last.
    private var low: InlineArray<4, UInt64> = [0, 0, 0, 0]
    /// Numbers from 256 up.
    private var high: [UInt64] = []

    /// Creates an empty set of numbers below `limit`.
    init(limit: Int = 256) {
        if limit > 256 { high = Array(repeating: 0, count: (limit - 256 + 63) / 64) }
    }

    /// Returns true if the set has `number`, which is below the limit.
    func contains(_ number: Int) -> Bool {
        (number < 256 ? low[number >> 6] : high[number >> 6 - 4]) & Self.bit(number) != 0
    }

    /// Adds `number`, which is below the limit; returns false if it was in the set.
    @discardableResult
    mutating func insert(_ number: Int) -> Bool {
        let isNew = !contains(number)
        if isNew { toggle(number) }
        return isNew
    }

    /// Removes `number`, which is below the limit; returns false if it was not in the set.
    @discardableResult
    mutating func remove(_ number: Int) -> Bool {
        let isOld = contains(number)
        if isOld { toggle(number) }
        return isOld
    }

    private mutating func toggle(_ number: Int) {
        guard number < 256 else { return toggleHigh(number) }
        low[number >> 6] ^= Self.bit(number)
    }

    // In a function of its own, because otherwise the compiler makes `high` mutable for low numbers too.
    @inline(never)
    private mutating func toggleHigh(_ number: Int) {
        high[number >> 6 - 4] ^= Self.bit(number)
    }

    mutating func removeAll() {
        low = [0, 0, 0, 0]
        for index in high.indices { high[index] = 0 }
    }

    private static func bit(_ number: Int) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: number) }

    /// Modifiers of a set of usage ids.
    var modifiers: HeldModifiers { HeldModifiers(rawValue: UInt8(truncatingIfNeeded: low[3] &>> 32)) }

    /// Set of usage ids without modifiers.
    var keys: UsageSet {
        var keys = self
        keys.low[3] &= ~(0xFF &<< 32)
        return keys
    }

    /// Returns true if every number of this set is in `other`, which has the same limit.
    func isSubset(of other: UsageSet) -> Bool {
        low.indices.allSatisfy { low[$0] & ~other.low[$0] == 0 } && zip(high, other.high).allSatisfy { $0 & ~$1 == 0 }
    }

    static func == (left: UsageSet, right: UsageSet) -> Bool { left.isSubset(of: right) && right.isSubset(of: left) }
}

/// Modifier keys that are held: usages E0 to E7 of page 07, one bit for each.
struct HeldModifiers: OptionSet, Sendable {
    let rawValue: UInt8

    static let control = HeldModifiers(rawValue: 0x11)
    static let shift = HeldModifiers(rawValue: 0x22)
    static let leftAlt = HeldModifiers(rawValue: 0x04)
    static let rightAlt = HeldModifiers(rawValue: 0x40)
    static let alt = HeldModifiers(rawValue: 0x44)
    static let meta = HeldModifiers(rawValue: 0x88)

    /// Returns true if at least one of `keys` is held.
    func holds(_ keys: HeldModifiers) -> Bool { !isDisjoint(with: keys) }
}
