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

    /// Merges what was parsed anew.
    mutating func merge() {
        data = advertisedData.merged(with: responseData)
        guard let heard = data.localName else { return }
        if !heard.isComplete, let name, name.isComplete, name.text.hasPrefix(heard.text) { return }
        name = heard
    }
}
