// SPDX-License-Identifier: GPL-2.0-or-later

/// One heard advertisement or scan response, a view into the event's bytes.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.2 and 7.7.65.13.
public struct AdvertisingReport: ~Escapable {
    /// What kind it is.
    public let eventType: AdvertisingEventType
    /// Whether `data` is all of it.
    public let dataStatus: AdvertisingDataStatus
    /// Who sent it; nil when the sender hides its address (anonymous advertising).
    public let sender: DeviceAddress?
    /// True when the controller resolved a private address: `sender` is then the identity address (types 2 and 3).
    public let isResolved: Bool
    /// The advertising set, 0 … 15; nil for a legacy PDU.
    public let advertisingSID: UInt8?
    /// Where it was heard.
    public let primaryPHY: LEPHY
    /// Where its auxiliary packet was heard.
    public let secondaryPHY: LEPHY
    /// The power of transmission in dBm, -127 … 20; nil where unknown.
    public let txPower: Int8?
    /// The strength of reception in dBm, -127 … 20; nil where unknown.
    public let rssi: Int8?
    /// For whom it was meant, if it was directed.
    public let target: DeviceAddress?
    /// The AD structures, or a fragment of them.
    public let data: Span<UInt8>

    /// The value that stands for an unknown power or strength.
    static let unknownPower: Int8 = 127

    @_lifetime(copy data)
    init(
        eventType: AdvertisingEventType,
        dataStatus: AdvertisingDataStatus,
        sender: DeviceAddress?,
        isResolved: Bool,
        advertisingSID: UInt8?,
        primaryPHY: LEPHY,
        secondaryPHY: LEPHY,
        txPower: Int8,
        rssi: Int8,
        target: DeviceAddress?,
        data: Span<UInt8>
    ) {
        self.eventType = eventType
        self.dataStatus = dataStatus
        self.sender = sender
        self.isResolved = isResolved
        self.advertisingSID = advertisingSID
        self.primaryPHY = primaryPHY
        self.secondaryPHY = secondaryPHY
        self.txPower = txPower == Self.unknownPower ? nil : txPower
        self.rssi = rssi == Self.unknownPower ? nil : rssi
        self.target = target
        self.data = data
    }
}
