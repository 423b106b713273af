// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Discovered device, with the data of its latest advertisement and scan response.
public struct DiscoveredDevice: Hashable, Sendable {
    /// Address of the device.
    public let address: DeviceAddress
    /// Time of the latest report.
    public internal(set) var lastHeard: Duration
    /// RSSI of the latest report that contained one, in dBm; nil if no report did.
    public internal(set) var rssi: Int8?
    /// True if the latest advertisement was connectable; scan responses do not change this.
    public internal(set) var isConnectable = false
    /// Latest name; kept even if later advertisements omit the name.
    public internal(set) var name: LocalName?
    /// Combined data of the advertisement and the scan response.
    public internal(set) var data = AdvertisementData()
    /// Bytes of the latest advertisement.
    public internal(set) var advertisement: [UInt8] = []
    /// Bytes of the latest scan response.
    public internal(set) var scanResponse: [UInt8] = []
    /// True if the end of the advertisement or the scan response was lost.
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

    /// Updates the fields that every report contains.
    @inline(__always)
    mutating func hear(_ report: borrowing AdvertisingReport, _ now: Duration) {
        lastHeard = now
        reports &+= 1
        if let rssi = report.rssi { self.rssi = rssi }
    }

    /// Processes a report; returns true if its data is new, its signal strength, and the change to pass on.
    ///
    /// The change is set only if the data is not new.
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

    /// Processes a report; returns true if its data, or the reassembled data, differs from the stored data.
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

    /// Returns true if the data differs from the stored data of the same kind.
    @inline(__always)
    mutating func isNew(_ type: AdvertisingEventType, _ data: Span<UInt8>, isTruncated: Bool) -> Bool {
        if type.contains(.scanResponse) { return !Self.says(scanResponse, data, isTruncated: isTruncated) }
        isConnectable = type.contains(.connectable)
        // A legacy directed advertisement carries no data, so it leaves the stored data unchanged.
        if data.isEmpty, type.contains(.directed) { return false }
        return !Self.says(advertisement, data, isTruncated: isTruncated)
    }

    /// Returns true if the data equals the stored data; truncated data is compared only with the beginning of the
    /// stored data.
    @inline(__always)
    private static func says(_ known: borrowing [UInt8], _ data: Span<UInt8>, isTruncated: Bool) -> Bool {
        (known.count == data.count || isTruncated) && known.span.begins(with: data)
    }

    /// Returns the change to pass on for a report, or nil if the report is not passed on.
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

/// Location of a device's address in the manufacturer data of its advertisements (BT-3).
///
/// It is intended for devices whose address over the air changes, or differs from the printed address.
public struct ManufacturerAddressField: Hashable, Sendable {
    private static let length = 6
    /// Maximum offset, at which the address occupies the last bytes of the longest extended advertisement.
    public static let greatestOffset = 1650 - length

    /// Offset of the address's first byte, counted from the low byte of the company identifier, which has offset 0.
    public var offset: Int
    /// True if the bytes are stored in reverse: the last byte of the printed address comes first.
    public var isReversed: Bool

    /// Creates a field at an offset in the manufacturer data.
    public init(offset: Int, isReversed: Bool = false) {
        self.offset = offset
        self.isReversed = isReversed
    }

    /// Returns the address from each company's manufacturer data that is long enough to contain one.
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

/// Conditions that a device must meet to be reported by a scan.
public struct ScanFilter: Hashable, Sendable {
    /// Condition on the name; it ignores case and, for `exactly`, leading and trailing blanks (BT-3).
    public enum Name: Hashable, Sendable {
        case exactly(String)
        case prefix(String)
    }

    /// Condition on the address.
    public struct Identity: Hashable, Sendable {
        /// Address of the device, either over the air or in the manufacturer data.
        public var address: BluetoothAddress
        /// Type of the address over the air; nil to accept any type.
        public var type: AddressType?
        /// Location in the manufacturer data where the address is also looked for; nil to check only the address over
        /// the air.
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

        /// Returns true if the device has the address, either over the air or in its data.
        func matches(_ sender: DeviceAddress, _ data: AdvertisementData) -> Bool {
            (sender.address == address && type.map { $0 == sender.type } ?? true)
                || place?.addresses(in: data).contains(address) ?? false
        }
    }

    /// Services of which the device must offer at least one; empty if there is no condition on the services.
    public var services: Set<BluetoothUUID>
    /// Condition on the name; nil if there is none.
    public var name: Name?
    /// Condition on the address; nil if there is none.
    public var identity: Identity?

    /// Creates a filter that matches a device if all given conditions are met; without arguments, it matches every
    /// device.
    public init(services: Set<BluetoothUUID> = [], name: Name? = nil, identity: Identity? = nil) {
        self.services = services
        self.name = name
        self.identity = identity
    }

    /// Only address over the air that can match the filter; nil if other addresses can match as well.
    var onlyAddress: BluetoothAddress? { identity?.place == nil ? identity?.address : nil }

    /// Returns true if a device with this address, name, services and data matches the filter.
    public func matches(
        _ sender: DeviceAddress,
        name: String?,
        services: [BluetoothUUID] = [],
        _ data: @autoclosure () -> AdvertisementData = AdvertisementData()
    ) -> Bool {
        (identity?.matches(sender, data()) ?? true) && matches(name: name, services: services)
    }

    /// Returns true if the name and the services match, ignoring the address condition.
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
