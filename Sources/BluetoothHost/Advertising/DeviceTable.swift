// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Table of the devices that have been heard, with one entry per address and address type.
///
/// The size of the table is bounded. A device is removed after a minute of silence. A report of a known device with
/// unchanged data allocates no memory, because its bytes are first compared with the stored bytes.
public struct DeviceTable: Sendable {
    /// Effect of a report on a device.
    public enum Change: Hashable, Sendable {
        /// The device matches the filter for the first time.
        case appeared
        /// The device's advertisement or scan response has changed.
        case changed
        /// The report contains no new data; the update is passed on only if `reportsDuplicates` is true.
        case heard
    }

    /// Update about a device, which is passed on to the caller.
    public struct Update: Hashable, Sendable {
        /// State of the device after the report.
        public let device: DiscoveredDevice
        /// Effect of the report on the device.
        public let change: Change
    }

    /// Counters since the table was created.
    public struct Counters: Hashable, Sendable {
        /// Number of processed reports, including reports without an address.
        public internal(set) var reports: UInt64 = 0
        /// Number of rejected events; all reports in a rejected event are ignored.
        public internal(set) var badEvents: UInt64 = 0
        /// Number of advertisements and scan responses with malformed AD structures.
        public internal(set) var badData: UInt64 = 0
        /// Number of reports without an address.
        public internal(set) var anonymous: UInt64 = 0
        /// Number of incomplete advertisements that were abandoned; the received parts are used as truncated
        /// advertisements.
        public internal(set) var partialsDropped: UInt64 = 0
        /// Number of fragments that were discarded because preceding fragments are missing.
        public internal(set) var fragmentsDiscarded: UInt64 = 0
        /// Number of devices that were evicted from the full table, or not added to it.
        public internal(set) var devicesDropped: UInt64 = 0
    }

    /// Maximum number of devices in the table.
    public static let capacity = 256
    /// Maximum number of updates that are queued until the next report.
    private static let mostLate = 2 * AdvertisementAssembler.maximumPartials
    /// Period of silence after which a device is removed (LK-3).
    public static let lifetime = Duration.seconds(60)

    /// Filter of the devices that are passed on and listed.
    ///
    /// Other devices are stored as well, because a later scan response may contain a matching name.
    public let filter: ScanFilter
    /// True to pass on every report; false to pass on a device when it first matches and whenever its data changes
    /// (CB-3).
    public var reportsDuplicates: Bool
    /// Resolver that replaces private addresses with the device's identity; nil to resolve no addresses.
    public var resolver: AddressResolver?
    /// Counters since the table was created.
    public private(set) var counters = Counters()

    /// Address whose reports are used; nil to use reports from all addresses.
    private let onlyAddress: BluetoothAddress?
    private var entries: [DiscoveredDevice] = []
    /// Eviction order of the devices, used while the table is full.
    private var standings = DeviceStandings()
    private var index = DeviceIndex()
    private var assembler = AdvertisementAssembler()
    /// Updates from abandoned advertisements, which are passed on with the next report.
    private var late: [Update] = []

    /// Creates an empty table.
    public init(filter: ScanFilter = ScanFilter(), reportsDuplicates: Bool = false) {
        self.filter = filter
        self.reportsDuplicates = reportsDuplicates
        onlyAddress = filter.onlyAddress
        entries.reserveCapacity(Self.capacity)
    }

    /// Number of devices in the table, whether they match the filter or not.
    public var count: Int { entries.count }

    /// Returns the device with an address, or nil if it is unknown.
    public subscript(address: DeviceAddress) -> DiscoveredDevice? {
        index.place(of: address).map { entries[$0] }
    }

    /// Devices that match the filter, strongest first (LK-1), then by address.
    public var devices: [DiscoveredDevice] {
        entries.filter { $0.matchesFilter }.sorted { left, right in
            if left.rssi != right.rssi { return Self.strength(left.rssi) > Self.strength(right.rssi) }
            return left.address.address < right.address.address
        }
    }

    /// Removes all devices but keeps the counters.
    public mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        standings.end()
        index.removeAll()
        assembler.removeAll()
        late.removeAll()
    }

    /// Counts a rejected event.
    public mutating func noteBadEvent() {
        counters.badEvents &+= 1
    }

    /// Removes the devices that have been silent for `lifetime`, and returns their addresses.
    public mutating func expire(now: Duration) -> [DeviceAddress] {
        assembler.expire(now: now)
        takeGivenUp()
        let gone = entries.indices.filter { isSilent($0, now) }.map { entries[$0].address }
        for address in gone { remove(address) }
        return gone
    }

    /// Processes an event packet, including its indicator; calls `update` for every report to pass on.
    ///
    /// Events other than advertising reports are ignored; malformed events are counted.
    public mutating func handle(_ packet: Span<UInt8>, now: Duration, update: (Update) -> Void) {
        do throws(DecodingError) {
            guard case .leMeta(let subevent, let parameters) = try HCIEvent(packet),
                AdvertisingReportReader.reads(subevent)
            else { return }
            try handle(subevent, parameters, now: now, update: update)
        } catch {
            noteBadEvent()
        }
    }

    /// Processes the parameters of an event that contains advertising reports.
    @inline(__always)
    mutating func handle(
        _ subevent: LESubevent,
        _ parameters: Span<UInt8>,
        now: Duration,
        update: (Update) -> Void
    ) throws(DecodingError) {
        var reader = try AdvertisingReportReader(subevent, parameters)
        while let report = reader.next() {
            guard let sender = admitted(report) else { continue }
            take(report, from: sender, now: now, update: update)
        }
    }

    /// Processes a report and passes it on.
    ///
    /// It is not inlined, so that it does not slow down the processing of reports that are not used.
    @inline(never)
    private mutating func take(
        _ report: borrowing AdvertisingReport,
        from sender: DeviceAddress,
        now: Duration,
        update: (Update) -> Void
    ) {
        let change = take(report, from: sender, now: now)
        if !late.isEmpty {
            for beginning in late { update(beginning) }
            late.removeAll()
        }
        guard let change, let device = self[sender] else { return }
        update(Update(device: device, change: change))
    }

    /// Processes a report; returns its effect if the report is to be passed on, otherwise nil.
    ///
    /// If the effect is not nil, the subscript returns the updated device.
    public mutating func handle(_ report: borrowing AdvertisingReport, now: Duration) -> Change? {
        guard let sender = admitted(report) else { return nil }
        let change = take(report, from: sender, now: now)
        if late.isEmpty { return change }
        defer { late.removeAll() }
        return change ?? late.last { $0.device.address == sender }?.change
    }

    /// Counts a report; returns its sender if the table uses the report, or nil if the table ignores the report.
    @inline(__always)
    private mutating func admitted(_ report: borrowing AdvertisingReport) -> DeviceAddress? {
        counters.reports &+= 1
        guard var sender = report.sender else {
            counters.anonymous &+= 1
            return nil
        }
        if resolver != nil, sender.type == .random { sender = resolved(sender) }
        if let onlyAddress, sender.address != onlyAddress { return nil }
        return sender
    }

    @inline(never)
    private mutating func resolved(_ sender: DeviceAddress) -> DeviceAddress {
        resolver?.identity(of: sender) ?? sender
    }

    @inline(__always)
    private mutating func take(
        _ report: borrowing AdvertisingReport,
        from sender: DeviceAddress,
        now: Duration
    ) -> Change? {
        if !report.eventType.contains(.legacy), report.dataStatus == .moreToCome || !assembler.isIdle {
            return assemble(report, from: sender, now: now)
        }
        return take(report, report.data, from: sender, isTruncated: report.dataStatus == .truncated, now: now)
    }

    /// Processes an extended report that is a fragment, or that is received while fragments are expected.
    @inline(never)
    private mutating func assemble(
        _ report: borrowing AdvertisingReport,
        from sender: DeviceAddress,
        now: Duration
    ) -> Change? {
        let result = assembler.add(report, from: sender, now: now)
        takeGivenUp()
        switch result {
        case .whole(let isTruncated):
            return take(report, report.data, from: sender, isTruncated: isTruncated, now: now)
        case .assembled(let slot, let isTruncated):
            let bytes = assembler.take(slot: slot)
            let change = take(report, bytes.span, from: sender, isTruncated: isTruncated, now: now)
            assembler.giveBack(bytes, slot: slot)
            return change
        case .pending, .discarded:
            // The device was heard even though its data is still incomplete.
            guard let place = index.place(of: sender) else { return nil }
            entries[place].hear(report, now)
            standings.hear(place, entries[place].rssi, counters.reports)
            return nil
        }
    }

    @inline(__always)
    private mutating func take(
        _ report: borrowing AdvertisingReport,
        _ data: Span<UInt8>,
        from sender: DeviceAddress,
        isTruncated: Bool,
        now: Duration
    ) -> Change? {
        guard let place = index.place(of: sender) ?? add(sender, report.rssi, now) else { return nil }
        // The entry is accessed only once, because each access checks the array's bounds and whether its storage is
        // shared.
        let heard = entries[place].hear(report, data, isTruncated: isTruncated, now, reportsDuplicates)
        standings.hear(place, heard.rssi, counters.reports)
        guard heard.isNew else { return heard.change }
        store(data, place, isResponse: report.eventType.contains(.scanResponse), isTruncated: isTruncated)
        return entries[place].change(true, reportsDuplicates)
    }

    /// Processes the received parts of abandoned advertisements as truncated advertisements.
    private mutating func takeGivenUp() {
        copyCounters()
        for beginning in assembler.takeGivenUp() {
            let sender = beginning.key.sender
            let known = index.place(of: sender)
            guard let place = known ?? add(sender, beginning.rssi, beginning.lastHeard) else { continue }
            if known == nil {
                entries[place].rssi = beginning.rssi
                entries[place].reports = 1
                standings.hear(place, beginning.rssi, counters.reports)
            }
            let isNew = entries[place].isNew(beginning.eventType, beginning.bytes.span, isTruncated: true)
            if isNew {
                store(beginning.bytes.span, place, isResponse: beginning.key.isScanResponse, isTruncated: true)
            }
            guard let change = entries[place].change(isNew, reportsDuplicates) else { continue }
            if late.count >= Self.mostLate { late.removeFirst() }
            late.append(Update(device: entries[place], change: change))
        }
    }

    @inline(never)
    private mutating func store(_ data: Span<UInt8>, _ place: Int, isResponse: Bool, isTruncated: Bool) {
        let parsed = AdvertisementData.parse(data)
        if parsed.fault != nil, !isTruncated { counters.badData &+= 1 }
        if isResponse {
            entries[place].scanResponse = [UInt8](copying: data)
            entries[place].responseData = parsed.value
        } else {
            entries[place].advertisement = [UInt8](copying: data)
            entries[place].advertisedData = parsed.value
        }
        entries[place].isTruncated = isTruncated
        entries[place].merge()
        measure(place)
    }

    /// Marks the device as matching if it matches the filter.
    ///
    /// The mark is permanent, because many devices advertise their names and services alternately.
    private mutating func measure(_ index: Int) {
        if entries[index].matchesFilter { return }
        // The fields are copied separately, because a copy of the device would retain all of its arrays.
        let (address, name, services) = (entries[index].address, entries[index].name?.text, entries[index].services)
        guard filter.matches(address, name: name, services: services, entries[index].data) else { return }
        entries[index].matchesFilter = true
        standings.match(index)
    }

    /// Adds a device, evicting another one if the table is full; returns nil if the new device is weaker than all
    /// devices that could be evicted.
    ///
    /// Devices that have been silent for `lifetime` are evicted first, so the table works even if `expire` is never
    /// called.
    @inline(never)
    private mutating func add(_ address: DeviceAddress, _ rssi: Int8?, _ now: Duration) -> Int? {
        let device = DiscoveredDevice(address, heard: now)
        var place = entries.count
        if place >= Self.capacity {
            counters.devicesDropped &+= 1
            place = leaving(now)
            guard isSilent(place, now) || !outranks(place, rssi) else { return nil }
            _ = index.remove(entries[place].address)
            entries[place] = device
            standings.replace(place)
        } else {
            entries.append(device)
            if entries.count == Self.capacity { standings.begin(entries) }
        }
        index.set(address, place: place)
        measure(place)
        return place
    }

    private func isSilent(_ place: Int, _ now: Duration) -> Bool {
        now - entries[place].lastHeard >= Self.lifetime
    }

    /// Returns the place of the device to evict from a full table.
    ///
    /// An expired device is evicted first, then a device that does not match the filter, then the weakest device, then
    /// the device that has been silent longest.
    private func leaving(_ now: Duration) -> Int {
        let (first, oldest) = standings.leaving
        // If any device has expired, the one that was heard longest ago has expired.
        guard isSilent(oldest, now) else { return first }
        return entries.indices.filter { isSilent($0, now) }.min { standings.leaves($0, before: $1) } ?? oldest
    }

    /// Returns true if the device at `place` matches the filter and is stronger than a new device, so that the new one
    /// is not added.
    private func outranks(_ place: Int, _ rssi: Int8?) -> Bool {
        entries[place].matchesFilter && Self.strength(entries[place].rssi) > Self.strength(rssi)
    }

    private static func strength(_ rssi: Int8?) -> Int { rssi.map(Int.init) ?? Int.min }

    private mutating func remove(_ address: DeviceAddress) {
        guard let place = index.remove(address) else { return }
        let last = entries.count - 1
        if place != last {
            entries.swapAt(place, last)
            index.set(entries[place].address, place: place)
        }
        entries.removeLast()
        standings.end()
    }

    private mutating func copyCounters() {
        counters.partialsDropped = assembler.dropped
        counters.fragmentsDiscarded = assembler.discarded
    }
}
