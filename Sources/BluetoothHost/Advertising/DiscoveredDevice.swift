// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// A device that was heard, with what its last advertisement and its last scan response said together.
public struct DiscoveredDevice: Hashable, Sendable {
    /// Who it is.
    public let address: DeviceAddress
    /// When it was heard last.
    public internal(set) var lastHeard: Duration
    /// How strongly it was heard last, in dBm; nil when that was never known.
    public internal(set) var rssi: Int8?
    /// Whether it takes connections, as its last advertisement said; a scan response says nothing of it.
    public internal(set) var isConnectable = false
    /// Its name: the last one heard, kept when later advertisements leave it out.
    public internal(set) var name: LocalName?
    /// What it says: advertisement and scan response merged.
    public internal(set) var data = AdvertisementData()
    /// The advertisement's bytes.
    public internal(set) var advertisement: [UInt8] = []
    /// The scan response's bytes.
    public internal(set) var scanResponse: [UInt8] = []
    /// True when the end of the advertisement or of the scan response was lost.
    public internal(set) var isTruncated = false
    /// True once it met the table's filter.
    public internal(set) var matchesFilter = false
    /// How many reports came from it.
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

    /// Takes what every report says.
    @inline(__always)
    mutating func hear(_ report: borrowing AdvertisingReport, _ now: Duration) {
        lastHeard = now
        reports &+= 1
        if let rssi = report.rssi { self.rssi = rssi }
    }

    /// Takes a report and compares its data, or the data that was put together, with what is known: true where it is new.
    @inline(__always)
    mutating func hear(
        _ report: borrowing AdvertisingReport,
        _ data: Span<UInt8>,
        isTruncated: Bool,
        _ now: Duration
    ) -> Bool {
        hear(report, now)
        let type = report.eventType
        if type.contains(.scanResponse) { return !Self.says(scanResponse, data, isTruncated: isTruncated) }
        isConnectable = type.contains(.connectable)
        // A directed advertisement of the legacy kind has no data, and says nothing about the rest.
        if data.isEmpty, type.contains(.directed) { return false }
        return !Self.says(advertisement, data, isTruncated: isTruncated)
    }

    /// Whether data is what is known, or where its end was lost the beginning of it.
    @inline(__always)
    private static func says(_ known: borrowing [UInt8], _ data: Span<UInt8>, isTruncated: Bool) -> Bool {
        (known.count == data.count || isTruncated) && known.span.begins(with: data)
    }

    /// What to pass on of a report whose data was new or not; nil for nothing.
    @inline(__always)
    mutating func change(_ isNew: Bool, _ reportsDuplicates: Bool) -> DeviceTable.Change? {
        guard matchesFilter else { return nil }
        if !wasPassedOn {
            wasPassedOn = true
            return .appeared
        }
        return isNew ? .changed : reportsDuplicates ? .heard : nil
    }

    /// Merges what was parsed anew.
    mutating func merge() {
        data = advertisedData.merged(with: responseData)
        guard let heard = data.localName else { return }
        if !heard.isComplete, let name, name.isComplete, name.text.hasPrefix(heard.text) { return }
        name = heard
    }
}
