// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// The devices that were heard: bounded, merged by address and type, and forgotten after a minute of silence.
///
/// A report of a known device with unchanged data allocates nothing: its bytes are compared with the stored ones first.
public struct DeviceTable: Sendable {
    /// The effect of a report.
    public enum Change: Hashable, Sendable {
        /// The device met the filter for the first time.
        case appeared
        /// Its advertisement or its scan response has changed.
        case changed
        /// The device was heard again, with nothing new; only where duplicates are asked for.
        case heard
    }

    /// A device to pass on.
    public struct Update: Hashable, Sendable {
        /// The device as it stands now.
        public let device: DiscoveredDevice
        /// The effect of the report on it.
        public let change: Change
    }

    /// Counts since the table was made.
    public struct Counters: Hashable, Sendable {
        /// Reports that were taken, those without an address included.
        public internal(set) var reports: UInt64 = 0
        /// Events that were refused, with every report in them.
        public internal(set) var badEvents: UInt64 = 0
        /// Advertisements and scan responses whose AD structures held a fault.
        public internal(set) var badData: UInt64 = 0
        /// Reports without an address.
        public internal(set) var anonymous: UInt64 = 0
        /// Partial advertisements that were given up; their beginnings are used as truncated ones.
        public internal(set) var partialsDropped: UInt64 = 0
        /// Fragments without a beginning.
        public internal(set) var fragmentsDiscarded: UInt64 = 0
        /// Devices that had to leave a full table, or were not let in.
        public internal(set) var devicesDropped: UInt64 = 0
    }

    /// The most devices in the table.
    public static let capacity = 256
    /// The most effects that wait for the next report.
    private static let mostLate = 2 * AdvertisementAssembler.maximumPartials
    /// The silence after which a device leaves (LK-3).
    public static let lifetime = Duration.seconds(60)

    /// The filter of devices that are passed on and listed; the others are kept too, for a name may come in a later
    /// scan response.
    public let filter: ScanFilter
    /// True to pass on every report, false for each device once and again when its data changes (CB-3).
    public var reportsDuplicates: Bool
    /// The resolver of private addresses, by which a device is listed with its identity; nil for none.
    public var resolver: AddressResolver?
    /// The counts so far.
    public private(set) var counters = Counters()

    /// The only address whose reports are taken; nil where they are taken from anybody.
    private let onlyAddress: BluetoothAddress?
    private var entries: [DiscoveredDevice] = []
    /// How the device in each place stands, while the table is full.
    private var standings = DeviceStandings()
    private var index = DeviceIndex()
    private var assembler = AdvertisementAssembler()
    /// The effects of advertisements that were given up, which are passed on with the next report.
    private var late: [Update] = []

    /// An empty table.
    public init(filter: ScanFilter = ScanFilter(), reportsDuplicates: Bool = false) {
        self.filter = filter
        self.reportsDuplicates = reportsDuplicates
        onlyAddress = filter.onlyAddress
        entries.reserveCapacity(Self.capacity)
    }

    /// The number of known devices, matching or not.
    public var count: Int { entries.count }

    /// The device with that address.
    public subscript(address: DeviceAddress) -> DiscoveredDevice? {
        index.place(of: address).map { entries[$0] }
    }

    /// The devices that meet the filter: the strongest first (LK-1), then by address.
    public var devices: [DiscoveredDevice] {
        entries.filter { $0.matchesFilter }.sorted { left, right in
            if left.rssi != right.rssi { return Self.strength(left.rssi) > Self.strength(right.rssi) }
            return left.address.address < right.address.address
        }
    }

    /// Forgets every device; the counters stay.
    public mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        standings.end()
        index.removeAll()
        assembler.removeAll()
        late.removeAll()
    }

    /// Counts an event that was refused.
    public mutating func noteBadEvent() {
        counters.badEvents &+= 1
    }

    /// Removes the devices that were silent for `lifetime`, and returns them.
    public mutating func expire(now: Duration) -> [DeviceAddress] {
        assembler.expire(now: now)
        takeGivenUp()
        let gone = entries.indices.filter { isSilent($0, now) }.map { entries[$0].address }
        for address in gone { remove(address) }
        return gone
    }

    /// Takes an event packet, its indicator included; `update` is called for every report to pass on.
    ///
    /// Events other than advertising reports change nothing; one that is not sound is counted.
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

    /// Takes the parameters of an event with advertising reports.
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

    /// Takes a report and passes it on; by itself, so that one that is of no use costs nothing of it.
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

    /// Takes a report; returns its effect where that is to be passed on, else nil.
    ///
    /// The device as it stands then is the subscript's.
    public mutating func handle(_ report: borrowing AdvertisingReport, now: Duration) -> Change? {
        guard let sender = admitted(report) else { return nil }
        let change = take(report, from: sender, now: now)
        if late.isEmpty { return change }
        defer { late.removeAll() }
        return change ?? late.last { $0.device.address == sender }?.change
    }

    /// Counts a report, and answers its sender where the table has a use for it.
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

    /// Takes an extended report while there are fragments.
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
            // The device was heard, though its data is not known yet.
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
        // One access to the entry: each is a check of its bounds and of its array's only reference.
        let heard = entries[place].hear(report, data, isTruncated: isTruncated, now, reportsDuplicates)
        standings.hear(place, heard.rssi, counters.reports)
        guard heard.isNew else { return heard.change }
        store(data, place, isResponse: report.eventType.contains(.scanResponse), isTruncated: isTruncated)
        return entries[place].change(true, reportsDuplicates)
    }

    /// Takes the beginnings of advertisements that were given up, as truncated ones.
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

    /// A device that met the filter once meets it until it leaves: many send their name and their services in turn.
    private mutating func measure(_ index: Int) {
        if entries[index].matchesFilter { return }
        // Asked field by field: a copy of the device is a reference more to each of its arrays.
        let (address, name, services) = (entries[index].address, entries[index].name?.text, entries[index].services)
        guard filter.matches(address, name: name, services: services, entries[index].data) else { return }
        entries[index].matchesFilter = true
        standings.match(index)
    }

    /// Makes room for a device and puts it in; nil when it is weaker than all that could give way.
    ///
    /// Who was silent for `lifetime` gives way first, so the table needs nobody who calls `expire`.
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

    /// The place of the device that leaves a full table first: one that should have left, then one that does not match,
    /// then the weakest, then the one silent for longest.
    private func leaving(_ now: Duration) -> Int {
        let (first, oldest) = standings.leaving
        // Who is heard longest ago is silent if anybody is.
        guard isSilent(oldest, now) else { return first }
        return entries.indices.filter { isSilent($0, now) }.min { standings.leaves($0, before: $1) } ?? oldest
    }

    /// True when the device in a place matches the filter and is heard more strongly than a newcomer, which then stays
    /// outside.
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
