// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE

/// All that is known and done about beacons: which regions are watched and ranged, and what that has come to.
///
/// A pure state machine: it takes the controller's packets, and the time; whoever owns it calls `expire` at `deadline`.
///
/// Its memory is bounded, whatever is heard: `Tables` says by what.
package struct BeaconMonitor: Sendable {
    /// The regions that are watched together (SW-4).
    package enum Group: String, Hashable, Sendable, CaseIterable {
        /// The static regions, but not those of which a beacon is designated (D-29).
        case initial
        case dynamic
        case managed
        case designated
        case nonSwitchers = "all-but-switchers"
        case all
    }

    /// Something to be told.
    package enum Event: Equatable, Sendable {
        /// A region was entered, left, or is inside as the display goes on.
        case region(RegionWatch.Notice)
        /// A switcher has begun or ended the watching of the others: of how many regions.
        case switched(by: BeaconIdentity, isOn: Bool, regions: Int)
        /// The beacons of a region, once a second.
        case ranged(BeaconRegion, [RangedBeacon])
    }

    /// Counts since the beginning; they wrap.
    package struct Counters: Equatable, Sendable {
        /// Advertising reports that were looked at.
        package var reports: UInt64 = 0
        package var beacons: UInt64 = 0
        /// Events that no controller should send.
        package var badEvents: UInt64 = 0
        /// Reports of beacons that found no room in the list of a ranged region; one for each such list.
        package var leftOut: UInt64 = 0
        /// Beacons that were heard once in the last 5 s, and gave way to another in the list of a ranged region.
        package var displaced: UInt64 = 0
        /// Regions that were to be watched beyond `RegionWatch.capacity`.
        package var regionsLeftOut: UInt64 = 0
    }

    package struct Tables: Equatable, Sendable {
        /// Regions that are watched: at most 65,536 (`RegionWatch.capacity`).
        package var watched: Int
        /// Times at which regions may be left: at most two a watched region, and 16.
        package var dues: Int
        /// Ranged regions: at most 32 (`mostRanged`).
        package var ranged: Int
        /// Beacons in their lists: at most 256 each (`BeaconRanging.capacity`), with nine reports each.
        package var beacons: Int
    }

    /// How often the beacons of a region are listed.
    package static let rangingInterval = Duration.seconds(1)
    /// The most regions that are ranged at a time: each may take 256 beacons' memory.
    package static let mostRanged = 32

    package private(set) var catalogue: RegionCatalogue
    package private(set) var designated: DesignatedBeacons
    /// The most designated beacons.
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

    /// True where nothing needs to be heard.
    package var isIdle: Bool { watch.count == 0 && ranged.isEmpty }

    package var watched: [BeaconRegion] { watch.regions }

    package var inside: [BeaconRegion] { watch.inside }

    package func isInside(_ region: BeaconRegion) -> Bool { watch.isInside(region) }

    /// What was heard of the regions that are watched: of at most so many, those inside first, then those heard last.
    package func sightings(most: Int) -> [RegionWatch.Sighting] { watch.sightings(most: most) }

    package func isWatched(_ region: BeaconRegion) -> Bool { watch.isWatched(region) }

    /// Every known region once: the file's, the server's, and the designated beacons'.
    package var regions: [BeaconRegion] {
        let known = catalogue.file.staticRegions + catalogue.file.dynamicRegions + catalogue.managed
        return Self.once(known.map(\.region) + designated.beacons.map { BeaconRegion($0.identity) })
    }

    /// The regions without repetitions, in their order.
    private static func once(_ regions: [BeaconRegion]) -> [BeaconRegion] {
        var seen: Set<BeaconRegion> = []
        return regions.filter { seen.insert($0).inserted }
    }

    package func kinds(of region: BeaconRegion) -> RegionKinds {
        catalogue.kinds(of: region, designated: designated)
    }

    // MARK: Watching

    /// Watches the regions of a group, and answers how many these are.
    package mutating func watch(_ group: Group, _ options: WatchOptions = .usual) -> Int {
        regions(of: group).count { region in watch(region, options) }
    }

    /// Watches one region, or has it watched with other options; false, and counted, where there is no room for it.
    @discardableResult
    package mutating func watch(_ region: BeaconRegion, _ options: WatchOptions = .usual) -> Bool {
        // A switcher's entry and exit matter, whoever asks to be told of them.
        guard watch.watch(region, isSwitcher(region) ? options.union(.usual) : options) else {
            counters.regionsLeftOut &+= 1
            return false
        }
        self.options[region] = options
        return true
    }

    /// Watches the regions of a group no more, and answers how many were watched.
    package mutating func unwatch(_ group: Group) -> Int {
        watch.regions.count { region in belongs(region, to: group) && unwatch(region) }
    }

    /// Watches a region no more; false where it was not watched.
    package mutating func unwatch(_ region: BeaconRegion) -> Bool {
        options[region] = nil
        return watch.unwatch(region)
    }

    private func regions(of group: Group) -> [BeaconRegion] {
        let initial = catalogue.file.staticRegions.map(\.region).filter { !designated.closes($0) }
        let dynamic = catalogue.file.dynamicRegions.map(\.region)
        let managed = catalogue.managed.map(\.region)
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

    /// Tells of each region that is inside and asks for it, as the display goes on (D-24).
    package func displayCameOn(tell: (Event) -> Void) {
        watch.displayCameOn { notice in tell(.region(notice)) }
    }

    /// Has the display go on before anything was heard (D-24): regions are told to be inside at their first sightings.
    package mutating func displayStarted(now: Duration) { watch.displayStarted(now: now) }

    /// Replaces the server's regions; those that are watched stay so.
    package mutating func setManaged(_ entries: [RegionFile.Entry]) { catalogue.setManaged(entries) }

    // MARK: Designated beacons

    /// Designates beacons: their regions are watched from now on, and the region that they are of no more (D-29).
    ///
    /// Nothing is changed where `keep` answers false, or there is no adapter to hear them with.
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

    /// Sets whether designated beacons are switchers, of all or of none; false where nothing was changed.
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

    /// Releases a designated beacon, which is watched no more; false where nothing was changed.
    package mutating func release(_ code: String, keep: (DesignatedBeacons) -> Bool) -> Bool {
        var changed = designated
        guard let beacon = changed.release(code), keep(changed) else { return false }
        designated = changed
        _ = unwatch(BeaconRegion(beacon.identity))
        return true
    }

    // MARK: Ranging

    /// Lists the beacons of a region once a second from now on; false where too many regions are.
    package mutating func range(_ region: BeaconRegion, now: Duration) -> Bool {
        guard !ranged.contains(where: { $0.region == region }) else { return true }
        guard ranged.count < Self.mostRanged else { return false }
        ranged.append(BeaconRanging(region, exponent: exponent))
        if nextList == nil { nextList = now + Self.rangingInterval }
        return true
    }

    /// The beacons of a region that is ranged, nearest first; none of another.
    package mutating func list(_ region: BeaconRegion, now: Duration) -> [RangedBeacon] {
        guard let place = ranged.firstIndex(where: { $0.region == region }) else { return [] }
        return ranged[place].list(now: now)
    }

    /// Forgets the designated beacons and the server's regions, and watches and ranges nothing.
    package mutating func clear() {
        designated = DesignatedBeacons()
        setManaged([])
        for region in watch.regions { _ = unwatch(region) }
        ranged = []
        nextList = nil
    }

    /// Lists the beacons of a region no more; false where it was not ranged.
    package mutating func unrange(_ region: BeaconRegion) -> Bool {
        guard let place = ranged.firstIndex(where: { $0.region == region }) else { return false }
        ranged.remove(at: place)
        if ranged.isEmpty { nextList = nil }
        return true
    }

    // MARK: What is heard

    /// Takes an event packet of the controller, its indicator included; others than advertising reports change nothing.
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

    /// Takes the AD structures of an advertisement, with its strength in dBm where it is known.
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

    /// When `expire` has to be called; nil while nothing is awaited.
    package var deadline: Duration? {
        switch (watch.deadline, nextList) {
        case (let left?, let right?): min(left, right)
        case (let left, let right): left ?? right
        }
    }

    /// Leaves what was silent for long, and lists the ranged beacons where it is time.
    package mutating func expire(now: Duration, tell: (Event) -> Void) {
        var notices: [RegionWatch.Notice] = []
        watch.expire(now: now) { notices.append($0) }
        for notice in notices { pass(notice, tell) }
        guard let due = nextList, due <= now else { return }
        // After a sleep there is one list, not one for each second of it.
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
