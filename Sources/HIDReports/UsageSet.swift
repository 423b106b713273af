// SPDX-License-Identifier: GPL-2.0-or-later

/// Set of usages of page 07.
///
/// Usages above FF have no meaning and share one place, that of usage 0, which no report holds.
struct UsageSet: Equatable, Sendable {
    /// Bit 0 of the first word is usage 0; the modifiers E0 to E7 are bits 32 to 39 of the last.
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    init() {}

    /// Adds a usage; returns false if it was in the set.
    mutating func insert(_ usage: UInt16) -> Bool {
        let place = usage < 256 ? usage : 0
        let bit = 1 as UInt64 &<< UInt64(place & 63)
        switch place / 64 {
        case 0: return Self.set(bit, in: &words.0)
        case 1: return Self.set(bit, in: &words.1)
        case 2: return Self.set(bit, in: &words.2)
        default: return Self.set(bit, in: &words.3)
        }
    }

    private static func set(_ bit: UInt64, in word: inout UInt64) -> Bool {
        defer { word |= bit }
        return word & bit == 0
    }

    /// Modifiers of the set.
    var modifiers: HeldModifiers { HeldModifiers(rawValue: UInt8(truncatingIfNeeded: words.3 &>> 32)) }

    /// The set without modifiers.
    var keys: UsageSet {
        var keys = self
        keys.words.3 &= ~(0xFF &<< 32)
        return keys
    }

    /// Returns true if every usage of this set is in `other`.
    func isSubset(of other: UsageSet) -> Bool {
        words.0 & ~other.words.0 == 0 && words.1 & ~other.words.1 == 0 && words.2 & ~other.words.2 == 0
            && words.3 & ~other.words.3 == 0
    }

    static func == (left: UsageSet, right: UsageSet) -> Bool { left.words == right.words }
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
