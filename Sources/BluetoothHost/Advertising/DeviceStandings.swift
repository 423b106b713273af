// SPDX-License-Identifier: GPL-2.0-or-later

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
