// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Device that was heard, with the data of its last advertisement and its last scan response.
public struct DiscoveredDevice: Hashable, Sendable {
    /// Address of the device.
    public let address: DeviceAddress
    /// Time of the last report.
    public internal(set) var lastHeard: Duration
    /// RSSI of the last report that had one, in dBm; nil if none had.
    public internal(set) var rssi: Int8?
    /// True if the last advertisement was connectable; scan responses do not change it.
    public internal(set) var isConnectable = false
    /// Last name heard, kept when later advertisements omit it.
    public internal(set) var name: LocalName?
    /// Merged data of advertisement and scan response.
    public internal(set) var data = AdvertisementData()
    /// Bytes of the advertisement.
    public internal(set) var advertisement: [UInt8] = []
    /// Bytes of the scan response.
    public internal(set) var scanResponse: [UInt8] = []
    /// True if the end of the advertisement or of the scan response was lost.
    public internal(set) var isTruncated = false
    /// True once the device has matched the table's filter.
    public internal(set) var matchesFilter = false
    /// Number of reports from the device.
    public internal(set) var reports: UInt64 = 0

    var wasPassedOn = false
    var advertisedData = AdvertisementData()
    var responseData = AdvertisementData()

    init(_ address: DeviceAddress, heard now: Duration) {
        self.address = address
        lastHeard = now
    }

    /// Services that the device offers.
    public var services: [BluetoothUUID] { data.serviceUUIDs }

    /// Updates the fields that every report has.
    @inline(__always)
    mutating func hear(_ report: borrowing AdvertisingReport, _ now: Duration) {
        lastHeard = now
        reports &+= 1
        if let rssi = report.rssi { self.rssi = rssi }
    }

    /// Processes a report; returns whether its data is new, its strength, and the change to pass on if nothing is new.
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

    /// Processes a report; returns true if its data, or the reassembled data, differs from the known data.
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

    /// Returns true if data of that kind differs from the known data.
    @inline(__always)
    mutating func isNew(_ type: AdvertisingEventType, _ data: Span<UInt8>, isTruncated: Bool) -> Bool {
        if type.contains(.scanResponse) { return !Self.says(scanResponse, data, isTruncated: isTruncated) }
        isConnectable = type.contains(.connectable)
        // A legacy directed advertisement has no data, so it does not change the known data.
        if data.isEmpty, type.contains(.directed) { return false }
        return !Self.says(advertisement, data, isTruncated: isTruncated)
    }

    /// Returns true for known data; data whose end was lost is compared only with the beginning.
    @inline(__always)
    private static func says(_ known: borrowing [UInt8], _ data: Span<UInt8>, isTruncated: Bool) -> Bool {
        (known.count == data.count || isTruncated) && known.span.begins(with: data)
    }

    /// Returns the change to pass on for a report with or without new data; nil for none.
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

/// Place of a device's address in the manufacturer data of its advertisements (BT-3).
///
/// It is for devices whose address on the air changes or differs from the printed one.
public struct ManufacturerAddressField: Hashable, Sendable {
    private static let length = 6
    /// Maximum offset, at the end of the manufacturer data of an extended advertisement.
    public static let greatestOffset = 1650 - length

    /// Offset of the address's first byte, counted from 0 at the low byte of the company identifier.
    public var offset: Int
    /// True if the last byte of the written address comes first.
    public var isReversed: Bool

    /// Creates a field at a place in the manufacturer data.
    public init(offset: Int, isReversed: Bool = false) {
        self.offset = offset
        self.isReversed = isReversed
    }

    /// Returns the addresses at that place, one for each company's data that is long enough.
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

/// Filter of the devices that a scan is for.
public struct ScanFilter: Hashable, Sendable {
    /// Condition on the name that ignores case and, for `exactly`, blanks at the ends (BT-3).
    public enum Name: Hashable, Sendable {
        case exactly(String)
        case prefix(String)
    }

    /// Condition on the address.
    public struct Identity: Hashable, Sendable {
        /// Address of the device, on the air or in the manufacturer data.
        public var address: BluetoothAddress
        /// Type of the address on the air; nil for any.
        public var type: AddressType?
        /// Place in the manufacturer data that may also hold the address; nil for none.
        public var place: ManufacturerAddressField?

        /// Creates a condition on the address.
        public init(
            _ address: BluetoothAddress,
            _ type: AddressType? = nil,
            advertisedAt place: ManufacturerAddressField? = nil
        ) {
            self.address = address
            self.type = type
            self.place = place
        }

        /// Returns true for a device with that address on the air or in its data.
        func matches(_ sender: DeviceAddress, _ data: AdvertisementData) -> Bool {
            (sender.address == address && type.map { $0 == sender.type } ?? true)
                || place?.addresses(in: data).contains(address) ?? false
        }
    }

    /// Services of which the device must offer at least one; empty for no condition.
    public var services: Set<BluetoothUUID>
    /// Name condition; nil for none.
    public var name: Name?
    /// Address condition; nil for none.
    public var identity: Identity?

    /// Creates a filter whose conditions must all hold; without arguments it matches every device.
    public init(services: Set<BluetoothUUID> = [], name: Name? = nil, identity: Identity? = nil) {
        self.services = services
        self.name = name
        self.identity = identity
    }

    /// Only address that can match the filter, regardless of the data; nil if there is no such address.
    var onlyAddress: BluetoothAddress? { identity?.place == nil ? identity?.address : nil }

    /// Returns true for a device with that address, name, services and data if it matches the filter.
    public func matches(
        _ sender: DeviceAddress,
        name: String?,
        services: [BluetoothUUID] = [],
        _ data: @autoclosure () -> AdvertisementData = AdvertisementData()
    ) -> Bool {
        (identity?.matches(sender, data()) ?? true) && matches(name: name, services: services)
    }

    /// Returns true if the name and the services match, regardless of the address.
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
