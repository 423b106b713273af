// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// A device that was heard, with the data of its last advertisement and its last scan response.
public struct DiscoveredDevice: Hashable, Sendable {
    /// Its address.
    public let address: DeviceAddress
    /// The time at which it was heard last.
    public internal(set) var lastHeard: Duration
    /// The RSSI of its last report, in dBm; nil when that was never known.
    public internal(set) var rssi: Int8?
    /// True where its last advertisement was connectable; a scan response does not tell.
    public internal(set) var isConnectable = false
    /// Its name: the last one heard, kept when later advertisements leave it out.
    public internal(set) var name: LocalName?
    /// Its data: advertisement and scan response merged.
    public internal(set) var data = AdvertisementData()
    /// The advertisement's bytes.
    public internal(set) var advertisement: [UInt8] = []
    /// The scan response's bytes.
    public internal(set) var scanResponse: [UInt8] = []
    /// True when the end of the advertisement or of the scan response was lost.
    public internal(set) var isTruncated = false
    /// True once it met the table's filter.
    public internal(set) var matchesFilter = false
    /// The number of reports from it.
    public internal(set) var reports: UInt64 = 0

    var wasPassedOn = false
    var advertisedData = AdvertisementData()
    var responseData = AdvertisementData()

    init(_ address: DeviceAddress, heard now: Duration) {
        self.address = address
        lastHeard = now
    }

    /// The services it offers.
    public var services: [BluetoothUUID] { data.serviceUUIDs }

    /// Takes the fields that every report has.
    @inline(__always)
    mutating func hear(_ report: borrowing AdvertisingReport, _ now: Duration) {
        lastHeard = now
        reports &+= 1
        if let rssi = report.rssi { self.rssi = rssi }
    }

    /// Takes a report: whether its data is new, its strength, and the change to pass on where nothing is new.
    @inline(__always)
    mutating func hear(
        _ report: borrowing AdvertisingReport,
        _ data: Span<UInt8>,
        isTruncated: Bool,
        _ now: Duration,
        _ reportsDuplicates: Bool
    ) -> (isNew: Bool, rssi: Int8?, change: DeviceTable.Change?) {
        let isNew = hear(report, data, isTruncated: isTruncated, now)
        return (isNew, rssi, isNew ? nil : change(false, reportsDuplicates))
    }

    /// Takes a report and compares its data, or the data that was put together, with what is known: true where it is
    /// new.
    @inline(__always)
    private mutating func hear(
        _ report: borrowing AdvertisingReport,
        _ data: Span<UInt8>,
        isTruncated: Bool,
        _ now: Duration
    ) -> Bool {
        hear(report, now)
        return isNew(report.eventType, data, isTruncated: isTruncated)
    }

    /// Compares data of that kind with what is known: true where it is new.
    @inline(__always)
    mutating func isNew(_ type: AdvertisingEventType, _ data: Span<UInt8>, isTruncated: Bool) -> Bool {
        if type.contains(.scanResponse) { return !Self.says(scanResponse, data, isTruncated: isTruncated) }
        isConnectable = type.contains(.connectable)
        // A directed advertisement of the legacy kind has no data, and says nothing about the rest.
        if data.isEmpty, type.contains(.directed) { return false }
        return !Self.says(advertisement, data, isTruncated: isTruncated)
    }

    /// True for data that is known already; data whose end was lost is compared with the beginning.
    @inline(__always)
    private static func says(_ known: borrowing [UInt8], _ data: Span<UInt8>, isTruncated: Bool) -> Bool {
        (known.count == data.count || isTruncated) && known.span.begins(with: data)
    }

    /// The change to pass on for a report with or without new data; nil for none.
    @inline(__always)
    mutating func change(_ isNew: Bool, _ reportsDuplicates: Bool) -> DeviceTable.Change? {
        guard matchesFilter else { return nil }
        if !wasPassedOn {
            wasPassedOn = true
            return .appeared
        }
        return isNew ? .changed : reportsDuplicates ? .heard : nil
    }

    mutating func merge() {
        data = advertisedData.merged(with: responseData)
        guard let heard = data.localName else { return }
        if !heard.isComplete, let name, name.isComplete, name.text.hasPrefix(heard.text) { return }
        name = heard
    }
}

/// Where a device carries its address in the manufacturer data of its advertisements (BT-3).
///
/// For devices whose address on the air changes, or is another one than is printed on them.
public struct ManufacturerAddressField: Hashable, Sendable {
    private static let length = 6
    /// The greatest offset: manufacturer data of an extended advertisement ends there.
    public static let greatestOffset = 1650 - length

    /// The address's first byte, counted from 0 at the low byte of the company's number.
    public var offset: Int
    /// True where its last written byte comes first.
    public var isReversed: Bool

    /// An address at a place of the manufacturer data.
    public init(offset: Int, isReversed: Bool = false) {
        self.offset = offset
        self.isReversed = isReversed
    }

    /// The addresses at that place, one for each company's data that reaches as far.
    public func addresses(in data: AdvertisementData) -> [BluetoothAddress] {
        data.manufacturerData.compactMap { item in
            let company = [UInt8(truncatingIfNeeded: item.company), UInt8(truncatingIfNeeded: item.company &>> 8)]
            let bytes = (company + item.data).dropFirst(max(0, offset)).prefix(Self.length)
            guard bytes.count == Self.length else { return nil }
            let written = isReversed ? Array(bytes.reversed()) : Array(bytes)
            return BluetoothAddress(rawValue: written.reduce(0) { $0 &<< 8 | UInt64($1) })
        }
    }
}

/// The devices that a scan is for.
public struct ScanFilter: Hashable, Sendable {
    /// A condition on the name; letters of either case are equal, and blanks at its ends do not count (BT-3).
    public enum Name: Hashable, Sendable {
        case exactly(String)
        case prefix(String)
    }

    /// The one device with an address.
    public struct Identity: Hashable, Sendable {
        /// Its address, on the air or in the manufacturer data.
        public var address: BluetoothAddress
        /// The type of the address on the air; nil for either.
        public var type: AddressType?
        /// The place in the manufacturer data where the address may be too; nil for nowhere.
        public var place: ManufacturerAddressField?

        /// The device with that address.
        public init(
            _ address: BluetoothAddress,
            _ type: AddressType? = nil,
            advertisedAt place: ManufacturerAddressField? = nil
        ) {
            self.address = address
            self.type = type
            self.place = place
        }

        /// True for the device of that address on the air which says this.
        func matches(_ sender: DeviceAddress, _ data: AdvertisementData) -> Bool {
            (sender.address == address && type.map { $0 == sender.type } ?? true)
                || place?.addresses(in: data).contains(address) ?? false
        }
    }

    /// Devices that offer any of these; empty is no condition.
    public var services: Set<BluetoothUUID>
    /// Devices of this name; nil is no condition.
    public var name: Name?
    /// The one device with this address; nil is no condition.
    public var identity: Identity?

    /// A filter in which all conditions must hold; without arguments it takes every device.
    public init(services: Set<BluetoothUUID> = [], name: Name? = nil, identity: Identity? = nil) {
        self.services = services
        self.name = name
        self.identity = identity
    }

    /// The address without which no device can meet the filter, whatever it says; nil where there is none such.
    var onlyAddress: BluetoothAddress? { identity?.place == nil ? identity?.address : nil }

    /// True for a device of that address and name which advertises these services and this data.
    public func matches(
        _ sender: DeviceAddress,
        name: String?,
        services: [BluetoothUUID] = [],
        _ data: @autoclosure () -> AdvertisementData = AdvertisementData()
    ) -> Bool {
        (identity?.matches(sender, data()) ?? true) && matches(name: name, services: services)
    }

    /// True for a device of that name which offers these services, whatever its address.
    public func matches(name deviceName: String?, services offered: [BluetoothUUID]) -> Bool {
        guard services.isEmpty || offered.contains(where: services.contains) else { return false }
        switch (name, deviceName) {
        case (nil, _): return true
        case (.exactly(let text)?, let heard?): return LocalName.isSame(heard, text)
        case (.prefix(let text)?, let heard?): return heard.lowercased().hasPrefix(text.lowercased())
        case (_, nil): return false
        }
    }
}
