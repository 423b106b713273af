// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters

/// The watched regions, and for each region if we are inside or outside, based on the sightings of its beacons.
///
/// A pure state machine. A region is entered after `sightings` sightings of its beacons, each within `entryWindow`
/// after the previous sighting; it is left after `exitSilence` without a sighting (D-23). A sighting requires at most
/// three look-ups, however many regions are watched. Memory usage depends only on the number of regions, which is at
/// most `capacity`.
package struct RegionWatch: Sendable {
    package struct Settings: Equatable, Sendable {
        /// Maximum time between two consecutive sightings that together cause a region to be entered.
        package var entryWindow = Duration.seconds(2)
        package var sightings = 2
        package var exitSilence = Duration.seconds(30)

        /// Creates the default settings according to D-23.
        package init() {}
    }

    package enum Change: String, Hashable, Sendable {
        case entered
        case left
        /// We are inside the region when the display turns on.
        case inside
    }

    /// A change that the owner must report.
    package struct Notice: Hashable, Sendable {
        package let region: BeaconRegion
        package let change: Change
        /// Most recently sighted beacon.
        package let beacon: BeaconIdentity
    }

    package struct Sighting: Equatable, Sendable {
        package let region: BeaconRegion
        package let isInside: Bool
        /// Most recently sighted beacon; nil if no beacon was sighted since the watch began.
        package let beacon: BeaconIdentity?
        package let last: Duration
    }

    private struct Place {
        var region: BeaconRegion
        var options: WatchOptions
        var beacon: BeaconIdentity?
        var last = Duration.zero
        var sightings = 0
        var isInside = false
        /// Time of the region's only valid entry in `dues`; all other entries for the region are outdated.
        var due = Duration.zero
    }

    /// A time at which we may have left a region.
    ///
    /// It is postponed if a beacon of the region was heard in the meantime.
    private struct Due: Sendable {
        var time: Duration
        var region: BeaconRegion
    }

    /// Maximum number of watched regions.
    ///
    /// There is room for 20,000 regions from the file, for 10,000 that the server manages, and for as many that it
    /// managed before.
    package static let capacity = 65_536
    /// Number of entries that `dues` may have, in addition to two for each region.
    private static let spareDues = 16

    package let settings: Settings
    private var places: [Place] = []
    private var index: [BeaconRegion: Int] = [:]
    /// Min-heap, ordered by time: one valid entry for each region that we are inside, and some outdated entries.
    private var dues: [Due] = []
    /// Time until which each region that we enter is also reported as inside, because the display has turned on.
    ///
    /// It is nil if the display has not turned on.
    private var displayEnd: Duration?

    package init(_ settings: Settings = Settings()) {
        self.settings = settings
    }

    package var count: Int { places.count }

    /// Number of entries in `dues`, both valid and outdated: at most two for each region, plus 16.
    package var dueCount: Int { dues.count }

    package var regions: [BeaconRegion] { places.map(\.region) }

    package var inside: [BeaconRegion] { places.filter(\.isInside).map(\.region) }

    package func isInside(_ region: BeaconRegion) -> Bool { index[region].map { places[$0].isInside } ?? false }

    package func isWatched(_ region: BeaconRegion) -> Bool { index[region] != nil }

    /// Returns the last sightings, for at most `most` regions.
    ///
    /// The regions that we are inside come first, then the most recently sighted regions, then those never sighted.
    package func sightings(most: Int) -> [Sighting] {
        let heard = places.filter { $0.beacon != nil }.sorted { one, other in
            one.isInside == other.isInside ? one.last > other.last : one.isInside
        }
        let silent = places.lazy.filter { $0.beacon == nil }.prefix(max(0, most - heard.count))
        return (heard.prefix(most) + silent).map { place in
            Sighting(region: place.region, isInside: place.isInside, beacon: place.beacon, last: place.last)
        }
    }

    /// Watches a region, or changes the options of a watched region; returns false if there is no room.
    @discardableResult
    package mutating func watch(_ region: BeaconRegion, _ options: WatchOptions = .usual) -> Bool {
        if let place = index[region] {
            places[place].options = options
            return true
        }
        guard places.count < Self.capacity else { return false }
        index[region] = places.count
        places.append(Place(region: region, options: options))
        return true
    }

    /// Stops watching a region without reporting its exit; returns false if it was not watched.
    package mutating func unwatch(_ region: BeaconRegion) -> Bool {
        guard let place = index.removeValue(forKey: region) else { return false }
        let last = places.count - 1
        if place != last {
            places.swapAt(place, last)
            index[places[place].region] = place
        }
        places.removeLast()
        return true
    }

    /// Handles a sighting of a beacon, and calls `tell` with each region that is entered.
    package mutating func sight(_ beacon: BeaconIdentity, now: Duration, tell: (Notice) -> Void) {
        switch beacon.number {
        case .majorMinor(let major, let minor):
            sight(BeaconRegion(beacon.group, .all), beacon, now, tell)
            sight(BeaconRegion(beacon.group, .major(major)), beacon, now, tell)
            sight(BeaconRegion(beacon.group, .majorMinor(major, minor)), beacon, now, tell)
        case .instance(let instance):
            sight(BeaconRegion(beacon.group, .namespace), beacon, now, tell)
            sight(BeaconRegion(beacon.group, .instance(instance)), beacon, now, tell)
        }
    }

    private mutating func sight(
        _ region: BeaconRegion,
        _ beacon: BeaconIdentity,
        _ now: Duration,
        _ tell: (Notice) -> Void
    ) {
        guard let place = index[region] else { return }
        let isInRow = places[place].sightings > 0 && now - places[place].last <= settings.entryWindow
        places[place].sightings = isInRow ? min(places[place].sightings &+ 1, settings.sightings) : 1
        places[place].last = now
        places[place].beacon = beacon
        guard !places[place].isInside, places[place].sightings >= settings.sightings else { return }
        places[place].isInside = true
        push(place, now + settings.exitSilence)
        if places[place].options.contains(.onEntry) {
            tell(Notice(region: region, change: .entered, beacon: beacon))
        }
        if let displayEnd, now < displayEnd, places[place].options.contains(.entryStateOnDisplay) {
            tell(Notice(region: region, change: .inside, beacon: beacon))
        }
    }

    /// Time at which `expire` must be called next; nil if no call is needed.
    package var deadline: Duration? { dues.first?.time }

    /// Leaves the regions that had no sighting for `exitSilence`.
    ///
    /// It calls `tell` with each of them, in the order of their deadlines.
    package mutating func expire(now: Duration, tell: (Notice) -> Void) {
        while let due = dues.first, due.time <= now {
            pop()
            guard let place = index[due.region], places[place].isInside, places[place].due == due.time else { continue }
            let end = places[place].last + settings.exitSilence
            guard end <= now else {
                push(place, end)
                continue
            }
            places[place].isInside = false
            places[place].sightings = 0
            if places[place].options.contains(.onExit), let beacon = places[place].beacon {
                tell(Notice(region: due.region, change: .left, beacon: beacon))
            }
        }
    }

    /// Handles the display turning on: reports each region that we are inside and whose options include
    /// `entryStateOnDisplay`.
    package func displayCameOn(tell: (Notice) -> Void) {
        for place in places where place.isInside && place.options.contains(.entryStateOnDisplay) {
            if let beacon = place.beacon { tell(Notice(region: place.region, change: .inside, beacon: beacon)) }
        }
    }

    /// Handles a display that turns on before the first sighting: a region is then reported as inside when we enter it.
    ///
    /// If we do not enter a region within `exitSilence` after `now`, we are assumed to be outside.
    package mutating func displayStarted(now: Duration) { displayEnd = now + settings.exitSilence }

    // MARK: The heap

    private mutating func push(_ place: Int, _ time: Duration) {
        places[place].due = time
        if dues.count >= 2 * places.count + Self.spareDues { dropStaleDues() }
        dues.append(Due(time: time, region: places[place].region))
        var child = dues.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard dues[child].time < dues[parent].time else { return }
            dues.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes entries that are not needed: outdated and duplicate ones, and those of regions that we have left or no
    /// longer watch.
    private mutating func dropStaleDues() {
        var seen: Set<BeaconRegion> = []
        dues.removeAll { due in
            guard let place = index[due.region], places[place].isInside, places[place].due == due.time else {
                return true
            }
            return !seen.insert(due.region).inserted
        }
        // Sorting is sufficient, because a sorted array is a heap.
        dues.sort { $0.time < $1.time }
    }

    private mutating func pop() {
        dues.swapAt(0, dues.count - 1)
        dues.removeLast()
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < dues.count else { return }
            let right = left + 1
            let child = right < dues.count && dues[right].time < dues[left].time ? right : left
            guard dues[child].time < dues[parent].time else { return }
            dues.swapAt(child, parent)
            parent = child
        }
    }
}

/// The events of a watched region that are reported (SW-4).
package struct WatchOptions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let onEntry = WatchOptions(rawValue: 1)
    package static let onExit = WatchOptions(rawValue: 2)
    /// Report that we are inside the region when the display turns on (D-24).
    package static let entryStateOnDisplay = WatchOptions(rawValue: 4)

    package static let usual: WatchOptions = [.onEntry, .onExit]

    /// Words for the options, as used by clients and in configuration files.
    package static let named: [(word: String, option: WatchOptions)] = [
        ("on-entry", .onEntry), ("on-exit", .onExit), ("entry-state-on-display", .entryStateOnDisplay),
    ]
}
