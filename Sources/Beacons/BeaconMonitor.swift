// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The state of beacon monitoring: the known, watched and ranged regions, and the designated beacons.
///
/// A pure state machine whose inputs are the controller's packets and the time. Its owner calls `expire` at `deadline`.
///
/// Its memory is limited, regardless of the number of received beacons; `Tables` describes the limits.
package struct BeaconMonitor: Sendable {
    /// A group of regions that are watched or unwatched together (SW-4).
    package enum Group: String, Hashable, Sendable, CaseIterable {
        /// Static regions, except those that contain a designated beacon (D-29).
        case initial
        case dynamic
        case managed
        case designated
        case nonSwitchers = "all-but-switchers"
        case all
    }

    /// An event that the owner must report.
    package enum Event: Equatable, Sendable {
        /// We have entered or left a region, or we are inside it when the display turns on.
        case region(RegionWatch.Notice)
        /// A switcher has turned the watching of all regions on or off, except for the regions of switchers.
        ///
        /// `regions` is the number of these regions.
        case switched(by: BeaconIdentity, isOn: Bool, regions: Int)
        /// Beacons of a ranged region, reported once a second.
        case ranged(BeaconRegion, [RangedBeacon])
    }

    /// Counters since the program started; they wrap around on overflow.
    package struct Counters: Equatable, Sendable {
        /// Number of advertising reports examined.
        package var reports: UInt64 = 0
        package var beacons: UInt64 = 0
        /// Number of the controller's events that could not be decoded.
        package var badEvents: UInt64 = 0
        /// Number of reports from beacons for which a ranged region's list had no room, counted once for each list.
        package var leftOut: UInt64 = 0
        /// Number of beacons that a new beacon has evicted from a ranged region's list.
        ///
        /// Only evictions of a beacon that had one report within the last 5 s are counted.
        package var displaced: UInt64 = 0
        /// Number of regions that were not watched because `RegionWatch.capacity` was reached.
        package var regionsLeftOut: UInt64 = 0
    }

    package struct Tables: Equatable, Sendable {
        /// Number of watched regions: at most 65,536 (`RegionWatch.capacity`).
        package var watched: Int
        /// Number of stored deadlines at which we may leave a region: at most two per watched region, plus 16.
        package var dues: Int
        /// Number of ranged regions: at most 32 (`mostRanged`).
        package var ranged: Int
        /// Number of beacons in the lists of ranged regions.
        ///
        /// There are at most 256 per region (`BeaconRanging.capacity`), with nine reports each.
        package var beacons: Int
    }

    /// Interval at which the beacons of a ranged region are reported.
    package static let rangingInterval = Duration.seconds(1)
    /// Maximum number of ranged regions; it limits memory, because each region may have 256 beacons.
    package static let mostRanged = 32

    package private(set) var catalogue: RegionCatalogue
    package private(set) var designated: DesignatedBeacons
    /// Maximum number of designated beacons.
    package let limit: Int
    package private(set) var counters = Counters()

    private let exponent: Double
    private var watch: RegionWatch
    private var options: [BeaconRegion: WatchOptions] = [:]
    private var ranged: [BeaconRanging] = []
    private var nextList: Duration?

    package init(
        _ catalogue: RegionCatalogue,
        designated: DesignatedBeacons = DesignatedBeacons(),
        limit: Int = DesignatedBeacons.usualLimit,
        settings: RegionWatch.Settings = RegionWatch.Settings(),
        exponent: Double = 2
    ) {
        self.catalogue = catalogue
        self.designated = designated
        self.limit = limit
        self.exponent = exponent
        watch = RegionWatch(settings)
    }

    package var tables: Tables {
        Tables(
            watched: watch.count,
            dues: watch.dueCount,
            ranged: ranged.count,
            beacons: ranged.reduce(0) { $0 + $1.count }
        )
    }

    /// True if no region is watched or ranged, so that no scan is needed.
    package var isIdle: Bool { watch.count == 0 && ranged.isEmpty }

    package var watched: [BeaconRegion] { watch.regions }

    package var inside: [BeaconRegion] { watch.inside }

    package func isInside(_ region: BeaconRegion) -> Bool { watch.isInside(region) }

    /// Returns the last sightings in watched regions, for at most `most` regions.
    ///
    /// The regions that we are inside come first, then the most recently heard regions.
    package func sightings(most: Int) -> [RegionWatch.Sighting] { watch.sightings(most: most) }

    package func isWatched(_ region: BeaconRegion) -> Bool { watch.isWatched(region) }

    /// All known regions without duplicates: those in the file, those from the server, and those of designated beacons.
    package var regions: [BeaconRegion] {
        let known = (catalogue.file.staticRegions + catalogue.file.dynamicRegions).map(\.region)
        let managed = catalogue.managed.current.map(\.region)
        return Self.once(known + managed + designated.beacons.map { BeaconRegion($0.identity) })
    }

    /// Returns the regions without duplicates, in the same order.
    private static func once(_ regions: [BeaconRegion]) -> [BeaconRegion] {
        var seen: Set<BeaconRegion> = []
        return regions.filter { seen.insert($0).inserted }
    }

    package func kinds(of region: BeaconRegion) -> RegionKinds {
        catalogue.kinds(of: region, designated: designated)
    }

    // MARK: Watching

    /// Watches the regions of a group, and returns the number of regions in the group that are now watched.
    package mutating func watch(_ group: Group, _ options: WatchOptions = .usual) -> Int {
        regions(of: group).count { region in watch(region, options) }
    }

    /// Watches a region, or changes the options of a watched region.
    ///
    /// If there is no room for the region, it is counted, and the result is false.
    @discardableResult
    package mutating func watch(_ region: BeaconRegion, _ options: WatchOptions = .usual) -> Bool {
        // Entering and leaving a switcher's region must always be noticed, even if the options do not include it.
        guard watch.watch(region, isSwitcher(region) ? options.union(.usual) : options) else {
            counters.regionsLeftOut &+= 1
            return false
        }
        self.options[region] = options
        return true
    }

    /// Stops watching the regions of a group, and returns the number of regions that were watched.
    package mutating func unwatch(_ group: Group) -> Int {
        watch.regions.count { region in belongs(region, to: group) && unwatch(region) }
    }

    /// Stops watching a region; returns false if it was not watched.
    package mutating func unwatch(_ region: BeaconRegion) -> Bool {
        options[region] = nil
        return watch.unwatch(region)
    }

    private func regions(of group: Group) -> [BeaconRegion] {
        let initial = catalogue.file.staticRegions.map(\.region).filter { !designated.closes($0) }
        let dynamic = catalogue.file.dynamicRegions.map(\.region)
        let managed = catalogue.managed.current.map(\.region)
        let single = designated.beacons.filter { group != .nonSwitchers || !$0.isSwitcher }.map {
            BeaconRegion($0.identity)
        }
        return switch group {
        case .initial: initial
        case .dynamic: dynamic
        case .managed: managed
        case .designated: single
        case .nonSwitchers, .all: Self.once(initial + dynamic + managed + single)
        }
    }

    private func belongs(_ region: BeaconRegion, to group: Group) -> Bool {
        switch group {
        case .initial: kinds(of: region).contains(.initial)
        case .dynamic: kinds(of: region).contains(.dynamic)
        case .managed: kinds(of: region).contains(.managed)
        case .designated: kinds(of: region).contains(.designated)
        case .nonSwitchers: !isSwitcher(region)
        case .all: true
        }
    }

    private func isSwitcher(_ region: BeaconRegion) -> Bool {
        designated.beacons.contains { $0.isSwitcher && BeaconRegion($0.identity) == region }
    }

    /// Handles the display turning on (D-24).
    ///
    /// Reports each region that we are inside and whose options include `entryStateOnDisplay`.
    package func displayCameOn(tell: (Event) -> Void) {
        watch.displayCameOn { notice in tell(.region(notice)) }
    }

    /// Handles a display that turns on before the first sighting (D-24).
    ///
    /// In that case, a region is reported as inside when we enter it.
    package mutating func displayStarted(now: Duration) { watch.displayStarted(now: now) }

    /// Replaces the server's regions; watched regions remain watched.
    package mutating func setManaged(_ regions: ManagedRegions) { catalogue.managed = regions }

    // MARK: Designated beacons

    /// Designates beacons: watches their regions, and stops watching the static region that contains them (D-29).
    ///
    /// Changes nothing if `keep` returns false, or if there is no adapter to receive the beacons.
    package mutating func designate(
        _ codes: [String],
        in region: BeaconRegion?,
        _ options: WatchOptions = .usual,
        hasAdapter: Bool = true,
        keep: (DesignatedBeacons) -> Bool
    ) -> DesignatedBeacons.Answer {
        var changed = designated
        let answer = changed.designate(codes, in: region, options, of: catalogue, limit: limit)
        guard answer == .all || answer == .limitReached else { return answer }
        guard hasAdapter else { return .noAdapter }
        guard changed == designated || keep(changed) else { return .notKept }
        let newcomers = changed.beacons.dropFirst(designated.beacons.count)
        designated = changed
        for region in watch.regions where catalogue.file.staticRegions.contains(where: { $0.region == region }) {
            if designated.closes(region), !designated.contains(region) { _ = unwatch(region) }
        }
        for beacon in newcomers { watch(BeaconRegion(beacon.identity), options) }
        return answer
    }

    /// Marks the designated beacons with these codes as switchers, or as beacons that are not switchers.
    ///
    /// Returns false if nothing was changed.
    package mutating func update(_ codes: [String], isSwitcher: Bool, keep: (DesignatedBeacons) -> Bool) -> Bool {
        var changed = designated
        guard changed.update(codes, isSwitcher: isSwitcher), changed == designated || keep(changed) else {
            return false
        }
        designated = changed
        for beacon in designated.beacons {
            let region = BeaconRegion(beacon.identity)
            if watch.isWatched(region) { watch(region, options[region] ?? .usual) }
        }
        return true
    }

    /// Ends the designation of a beacon, and stops watching the beacon; returns false if nothing was changed.
    package mutating func release(_ code: String, keep: (DesignatedBeacons) -> Bool) -> Bool {
        var changed = designated
        guard let beacon = changed.release(code), keep(changed) else { return false }
        designated = changed
        _ = unwatch(BeaconRegion(beacon.identity))
        return true
    }

    // MARK: Ranging

    /// Starts reporting the beacons of a region once a second; returns false if too many regions are ranged.
    package mutating func range(_ region: BeaconRegion, now: Duration) -> Bool {
        guard !ranged.contains(where: { $0.region == region }) else { return true }
        guard ranged.count < Self.mostRanged else { return false }
        ranged.append(BeaconRanging(region, exponent: exponent))
        if nextList == nil { nextList = now + Self.rangingInterval }
        return true
    }

    /// Returns the beacons of a ranged region, nearest first; an empty list for any other region.
    package mutating func list(_ region: BeaconRegion, now: Duration) -> [RangedBeacon] {
        guard let place = ranged.firstIndex(where: { $0.region == region }) else { return [] }
        return ranged[place].list(now: now)
    }

    /// Removes the designated beacons and the server's regions, and stops all watching and ranging.
    package mutating func clear() {
        designated = DesignatedBeacons()
        setManaged(ManagedRegions())
        for region in watch.regions { _ = unwatch(region) }
        ranged = []
        nextList = nil
    }

    /// Stops reporting the beacons of a region; returns false if it was not ranged.
    package mutating func unrange(_ region: BeaconRegion) -> Bool {
        guard let place = ranged.firstIndex(where: { $0.region == region }) else { return false }
        ranged.remove(at: place)
        if ranged.isEmpty { nextList = nil }
        return true
    }

    // MARK: Received packets

    /// Handles an event packet from the controller, which begins with its indicator.
    ///
    /// All events except advertising reports are ignored.
    package mutating func handle(_ packet: Span<UInt8>, now: Duration, tell: (Event) -> Void) {
        do throws(DecodingError) {
            guard case .leMeta(let subevent, let parameters) = try HCIEvent(packet),
                AdvertisingReportReader.reads(subevent)
            else { return }
            var reader = try AdvertisingReportReader(subevent, parameters)
            while let report = reader.next() { take(report.data, rssi: report.rssi, now: now, tell: tell) }
        } catch {
            counters.badEvents &+= 1
        }
    }

    /// Handles the AD structures of an advertisement; `rssi` is its signal strength in dBm, if known.
    package mutating func take(_ data: Span<UInt8>, rssi: Int8?, now: Duration, tell: (Event) -> Void) {
        counters.reports &+= 1
        guard let frame = BeaconFrame(advertisement: data) else { return }
        counters.beacons &+= 1
        for place in ranged.indices {
            switch ranged[place].take(frame, rssi: rssi, now: now) {
            case .outside, .taken: break
            case .displacing: counters.displaced &+= 1
            case .leftOut: counters.leftOut &+= 1
            }
        }
        var notices: [RegionWatch.Notice] = []
        watch.sight(frame.identity, now: now) { notices.append($0) }
        for notice in notices { pass(notice, tell) }
    }

    /// Time at which `expire` must be called next; nil if no call is needed.
    package var deadline: Duration? {
        switch (watch.deadline, nextList) {
        case (let left?, let right?): min(left, right)
        case (let left, let right): left ?? right
        }
    }

    /// Handles the time: leaves regions that had no sighting for too long, and reports due lists of ranged beacons.
    package mutating func expire(now: Duration, tell: (Event) -> Void) {
        var notices: [RegionWatch.Notice] = []
        watch.expire(now: now) { notices.append($0) }
        for notice in notices { pass(notice, tell) }
        guard let due = nextList, due <= now else { return }
        // After a delay, report only one list, not one for each second that was missed.
        nextList = now - due < Self.rangingInterval ? due + Self.rangingInterval : now + Self.rangingInterval
        for place in ranged.indices { tell(.ranged(ranged[place].region, ranged[place].list(now: now))) }
    }

    private mutating func pass(_ notice: RegionWatch.Notice, _ tell: (Event) -> Void) {
        let wanted: WatchOptions =
            switch notice.change {
            case .entered: .onEntry
            case .left: .onExit
            case .inside: .entryStateOnDisplay
            }
        if options[notice.region]?.contains(wanted) == true { tell(.region(notice)) }
        guard notice.change != .inside, isSwitcher(notice.region) else { return }
        let isOn = notice.change == .entered
        let regions = isOn ? watch(.nonSwitchers) : unwatch(.nonSwitchers)
        tell(.switched(by: notice.beacon, isOn: isOn, regions: regions))
    }
}
