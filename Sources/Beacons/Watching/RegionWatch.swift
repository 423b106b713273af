// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE

/// The regions that are watched: which are inside, by what was heard of their beacons.
///
/// A pure state machine. A region is entered by `sightings` sightings of its beacons, each within `entryWindow` of the one
/// before; it is left after `exitSilence` without one (D-23). A sighting costs at most three look-ups, however many regions
/// there are; the memory is that of the regions, `capacity` at most, whatever is heard.
package struct RegionWatch: Sendable {
    package struct Settings: Equatable, Sendable {
        /// The longest time between the sightings that enter it.
        package var entryWindow = Duration.seconds(2)
        package var sightings = 2
        package var exitSilence = Duration.seconds(30)

        /// The times of D-23.
        package init() {}
    }

    package enum Change: String, Hashable, Sendable {
        case entered
        case left
        /// It is inside, as the display goes on.
        case inside
    }

    /// A change to be told.
    package struct Notice: Hashable, Sendable {
        package let region: BeaconRegion
        package let change: Change
        /// The beacon that was heard last.
        package let beacon: BeaconIdentity
    }

    package struct Sighting: Equatable, Sendable {
        package let region: BeaconRegion
        package let isInside: Bool
        /// The beacon that was heard last; nil for none since the region is watched.
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
        /// The time of its only due that counts.
        var due = Duration.zero
    }

    /// When a region that is inside may have been left; looked at again where it was heard meanwhile.
    private struct Due: Sendable {
        var time: Duration
        var region: BeaconRegion
    }

    /// The most regions that are watched: the 20,000 of a file, the 10,000 of a server, and as many that a server had before.
    package static let capacity = 65_536
    /// The dues that are kept beside two a region.
    private static let spareDues = 16

    package let settings: Settings
    private var places: [Place] = []
    private var index: [BeaconRegion: Int] = [:]
    /// A heap, the earliest first: one for each region that is inside, and some that count no more.
    private var dues: [Due] = []
    /// The time until which a region that is entered counts as inside since the display went on.
    private var displayEnd: Duration?

    package init(_ settings: Settings = Settings()) {
        self.settings = settings
    }

    package var count: Int { places.count }

    /// The number of times at which regions may be left: at most two a region, and 16.
    package var dueCount: Int { dues.count }

    package var regions: [BeaconRegion] { places.map(\.region) }

    package var inside: [BeaconRegion] { places.filter(\.isInside).map(\.region) }

    package func isInside(_ region: BeaconRegion) -> Bool { index[region].map { places[$0].isInside } ?? false }

    package func isWatched(_ region: BeaconRegion) -> Bool { index[region] != nil }

    /// What was heard of at most so many regions: those inside first, then those heard last, then the others.
    package func sightings(most: Int) -> [Sighting] {
        let heard = places.filter { $0.beacon != nil }.sorted { one, other in
            one.isInside == other.isInside ? one.last > other.last : one.isInside
        }
        let silent = places.lazy.filter { $0.beacon == nil }.prefix(max(0, most - heard.count))
        return (heard.prefix(most) + silent).map { place in
            Sighting(region: place.region, isInside: place.isInside, beacon: place.beacon, last: place.last)
        }
    }

    /// Watches a region, or changes the options of one; false where there is no room for another.
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

    /// Watches a region no more, and tells nothing of its end; false where it was not watched.
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

    /// Takes a sighting of a beacon; `tell` is called for each region that it enters.
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

    /// When `expire` has to be called; nil while no region is inside.
    package var deadline: Duration? { dues.first?.time }

    /// Leaves the regions that were silent for long; `tell` is called for each, in the order of their times.
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

    /// Tells of each region that is inside and asks for it, as the display goes on.
    package func displayCameOn(tell: (Notice) -> Void) {
        for place in places where place.isInside && place.options.contains(.entryStateOnDisplay) {
            if let beacon = place.beacon { tell(Notice(region: place.region, change: .inside, beacon: beacon)) }
        }
    }

    /// Has the display go on before anything was heard: a region is told to be inside at its first sightings.
    ///
    /// A region that was not sighted for `exitSilence` from `now` on counts as outside.
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

    /// Drops the dues that count no more: of regions that were watched no more, and then again, while they were inside.
    private mutating func dropStaleDues() {
        var seen: Set<BeaconRegion> = []
        dues.removeAll { due in
            guard let place = index[due.region], places[place].isInside, places[place].due == due.time else {
                return true
            }
            return !seen.insert(due.region).inserted
        }
        // What is sorted is a heap.
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

/// What is told of a region that is watched (SW-4).
package struct WatchOptions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let onEntry = WatchOptions(rawValue: 1)
    package static let onExit = WatchOptions(rawValue: 2)
    /// That it is inside as the display goes on (D-24).
    package static let entryStateOnDisplay = WatchOptions(rawValue: 4)

    package static let usual: WatchOptions = [.onEntry, .onExit]

    /// The words for the options, as clients and configurations write them.
    package static let named: [(word: String, option: WatchOptions)] = [
        ("on-entry", .onEntry), ("on-exit", .onExit), ("entry-state-on-display", .entryStateOnDisplay),
    ]
}
