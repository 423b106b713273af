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

    /// Merges the parsed data anew.
    mutating func merge() {
        data = advertisedData.merged(with: responseData)
        guard let heard = data.localName else { return }
        if !heard.isComplete, let name, name.isComplete, name.text.hasPrefix(heard.text) { return }
        name = heard
    }
}
