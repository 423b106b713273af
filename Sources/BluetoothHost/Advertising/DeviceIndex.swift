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

/// How the devices of a full table stand when one has to leave: one word for each place, so that the table is looked
/// through within the time of a report.
///
/// It is empty while the table has room, for then nobody has to leave.
///
/// A device that does not match the filter leaves before one that does, the weaker before the stronger, one of unknown
/// strength before both, and of two that are equal the one that was heard longer ago.
struct DeviceStandings: Sendable {
    // The highest bit stands for a device that matches, eight bits for its strength, and the rest for the number of the
    // report that it was heard with: the least word leaves first.
    private static let isMatching: UInt64 = 1 << 63
    private static let strengthShift: UInt64 = 55
    private static let number: UInt64 = 1 << strengthShift - 1

    private var words: [UInt64] = []

    /// Begins with the devices of a table that is full now, each in its place.
    mutating func begin(_ devices: [DiscoveredDevice]) {
        words = [UInt64](repeating: 0, count: devices.count)
        let heard = devices.indices.sorted { (devices[$0].lastHeard, $0) < (devices[$1].lastHeard, $1) }
        // At least as many reports as devices were heard, so these numbers are lower than those that follow.
        for (number, place) in heard.enumerated() {
            hear(place, devices[place].rssi, UInt64(number))
            if devices[place].matchesFilter { match(place) }
        }
    }

    /// Ends, for the table has room again.
    mutating func end() { words.removeAll(keepingCapacity: true) }

    /// Another device in a place, which was not heard yet.
    mutating func replace(_ place: Int) { words[place] = 0 }

    /// Notes that the device in this place was heard with the report of that number; the strength is the last known one.
    @inline(__always)
    mutating func hear(_ place: Int, _ rssi: Int8?, _ report: UInt64) {
        if words.isEmpty { return }
        let strength = rssi.map { UInt64(UInt8(bitPattern: $0) ^ 0x80) } ?? 0
        words[place] = words[place] & Self.isMatching | strength &<< Self.strengthShift | report & Self.number
    }

    /// Notes that the device in this place matches the filter.
    mutating func match(_ place: Int) {
        if words.isEmpty { return }
        words[place] |= Self.isMatching
    }

    /// The place of the device that leaves first, and of the one that was heard longest ago; 0 where there is none.
    var leaving: (first: Int, oldest: Int) {
        var (first, oldest) = (0, 0)
        var (least, earliest) = (UInt64.max, UInt64.max)
        for place in words.indices {
            let word = words[place]
            if word < least { (first, least) = (place, word) }
            if word & Self.number < earliest { (oldest, earliest) = (place, word & Self.number) }
        }
        return (first, oldest)
    }

    /// True where the device in `place` leaves before the one in `other`.
    func leaves(_ place: Int, before other: Int) -> Bool { words[place] < words[other] }
}
