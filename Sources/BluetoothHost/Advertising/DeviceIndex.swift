// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The place of each device in the table: an open hash table of one word for each device, twice as large as needed.
///
/// Senders choose their addresses, and may choose them to collide: a search looks at `DeviceTable.capacity` words at
/// most, and where an address falls differs from one table to the next.
struct DeviceIndex: Sendable {
    // A word holds the address, its type, a bit for a word in use, and the place.
    private static let typeShift: UInt64 = 15
    private static let isTaken: UInt64 = 1 << 14
    private static let places: UInt64 = isTaken - 1

    private static let bits = 9
    private static let mask = 1 << bits - 1

    private var words = [UInt64](repeating: 0, count: 1 << Self.bits)
    private let factor = UInt64.random(in: 0...UInt64.max) | 1

    /// The place of a device; nil when it has none.
    @inline(__always)
    func place(of address: DeviceAddress) -> Int? {
        slot(of: address).map { Int(truncatingIfNeeded: words[$0] & Self.places) }
    }

    /// Gives a device a place, another one if it has one; the table has at most `DeviceTable.capacity` devices.
    mutating func set(_ address: DeviceAddress, place: Int) {
        let word = Self.word(address)
        var slot = home(word)
        while words[slot] != 0, words[slot] & ~Self.places != word { slot = (slot + 1) & Self.mask }
        words[slot] = word | UInt64(truncatingIfNeeded: place) & Self.places
    }

    /// Takes a device's place, and answers it; nil when it has none.
    mutating func remove(_ address: DeviceAddress) -> Int? {
        guard var hole = slot(of: address) else { return nil }
        let place = Int(words[hole] & Self.places)
        words[hole] = 0
        // Words that the search would no longer reach are moved nearer to the place where it begins.
        var next = (hole + 1) & Self.mask
        while words[next] != 0 {
            if (next &- home(words[next])) & Self.mask >= (next &- hole) & Self.mask {
                words[hole] = words[next]
                words[next] = 0
                hole = next
            }
            next = (next + 1) & Self.mask
        }
        return place
    }

    /// Forgets every place.
    mutating func removeAll() {
        for slot in words.indices { words[slot] = 0 }
    }

    @inline(__always)
    private func slot(of address: DeviceAddress) -> Int? {
        let word = Self.word(address)
        var slot = home(word)
        while words[slot] != 0 {
            if words[slot] & ~Self.places == word { return slot }
            slot = (slot &+ 1) & Self.mask
        }
        return nil
    }

    /// The place where the search for a word begins.
    @inline(__always)
    private func home(_ word: UInt64) -> Int {
        Int(truncatingIfNeeded: ((word &>> Self.typeShift) &* factor) &>> UInt64(UInt64.bitWidth - Self.bits))
    }

    @inline(__always)
    private static func word(_ address: DeviceAddress) -> UInt64 {
        (address.address.rawValue &<< 1 | UInt64(address.type.rawValue)) &<< typeShift | isTaken
    }
}
