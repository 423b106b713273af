// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Index of the devices in the table: an open-addressing hash table with one word per device and twice as many slots as
/// devices.
///
/// Senders choose their addresses and might provoke collisions. Therefore a search examines at most
/// `DeviceTable.capacity` words, and every table uses a different hash.
struct DeviceIndex: Sendable {
    // A word consists of the address, its type, a bit that marks the word as used, and the device's place in the table.
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

    /// Sets the place of a device; the table must contain at most `DeviceTable.capacity` devices.
    mutating func set(_ address: DeviceAddress, place: Int) {
        let word = Self.word(address)
        var slot = home(word)
        while words[slot] != 0, words[slot] & ~Self.places != word { slot = (slot + 1) & Self.mask }
        words[slot] = word | UInt64(truncatingIfNeeded: place) & Self.places
    }

    /// Removes a device and returns its place, or nil if the device is not in the index.
    mutating func remove(_ address: DeviceAddress) -> Int? {
        guard var hole = slot(of: address) else { return nil }
        let place = Int(words[hole] & Self.places)
        words[hole] = 0
        // Words that a search would no longer find are moved closer to their home slots.
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

    /// Returns the slot at which the search for `word` starts.
    @inline(__always)
    private func home(_ word: UInt64) -> Int {
        Int(truncatingIfNeeded: ((word &>> Self.typeShift) &* factor) &>> UInt64(UInt64.bitWidth - Self.bits))
    }

    @inline(__always)
    private static func word(_ address: DeviceAddress) -> UInt64 {
        (address.address.rawValue &<< 1 | UInt64(address.type.rawValue)) &<< typeShift | isTaken
    }
}

/// Eviction order of a full device table, stored as one word for each place so that a search is fast.
///
/// It is empty while the table has room, because no device needs to be evicted.
///
/// Devices that do not match the filter are evicted before devices that match. Within each of these two groups, devices
/// of unknown strength are evicted first, then the others from the weakest to the strongest. Devices of equal strength
/// are evicted in the order in which they were last heard.
struct DeviceStandings: Sendable {
    // The most significant bit is set if the device matches the filter; the next eight bits contain its strength, and
    // the remaining bits the number of its last report. The device with the lowest word is evicted first.
    private static let isMatching: UInt64 = 1 << 63
    private static let strengthShift: UInt64 = 55
    private static let number: UInt64 = 1 << strengthShift - 1

    private var words: [UInt64] = []

    /// Initialises the order with the devices of a table that has become full.
    mutating func begin(_ devices: [DiscoveredDevice]) {
        words = [UInt64](repeating: 0, count: devices.count)
        let heard = devices.indices.sorted { (devices[$0].lastHeard, $0) < (devices[$1].lastHeard, $1) }
        // The table has received at least as many reports as it has devices, so the numbers assigned here are lower
        // than the number of any later report.
        for (number, place) in heard.enumerated() {
            hear(place, devices[place].rssi, UInt64(number))
            if devices[place].matchesFilter { match(place) }
        }
    }

    /// Empties the order when the table has room again.
    mutating func end() { words.removeAll(keepingCapacity: true) }

    /// Resets the word of a place that is reused for another device, which has not been heard yet.
    mutating func replace(_ place: Int) { words[place] = 0 }

    /// Records the number of the last report and the last known strength of the device at `place`.
    @inline(__always)
    mutating func hear(_ place: Int, _ rssi: Int8?, _ report: UInt64) {
        if words.isEmpty { return }
        let strength = rssi.map { UInt64(UInt8(bitPattern: $0) ^ 0x80) } ?? 0
        words[place] = words[place] & Self.isMatching | strength &<< Self.strengthShift | report & Self.number
    }

    /// Marks the device at `place` as matching the filter.
    mutating func match(_ place: Int) {
        if words.isEmpty { return }
        words[place] |= Self.isMatching
    }

    /// Place of the device to evict first, and place of the device that was heard longest ago; both are 0 if the order
    /// is empty.
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

    /// Returns true if the device at `place` is evicted before the one at `other`.
    func leaves(_ place: Int, before other: Int) -> Bool { words[place] < words[other] }
}
