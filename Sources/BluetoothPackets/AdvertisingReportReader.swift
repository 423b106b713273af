// SPDX-License-Identifier: GPL-2.0-or-later

/// The reports of one LE Advertising Report or LE Extended Advertising Report, one after the other, in place.
///
/// The initialiser checks the whole event, so an event that lies about its number or its lengths is refused before
/// any report of it was used. Each report's fields follow one another, as controllers send them, and the next report's
/// follow them.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.2 and 7.7.65.13.
public struct AdvertisingReportReader: ~Escapable {
    private var reader: ByteReader
    private let isExtended: Bool
    /// How many reports were not read yet.
    public private(set) var remaining: Int

    /// The most reports in one LE Advertising Report.
    public static let maximumLegacyReports = 0x19
    /// The most reports in one LE Extended Advertising Report.
    public static let maximumExtendedReports = 0x0A
    /// The longest data of a legacy PDU.
    public static let maximumLegacyDataLength = 31
    /// The longest data of one extended report.
    public static let maximumExtendedDataLength = 229
    /// The value of Advertising_SID for "none".
    private static let noSID: UInt8 = 0xFF
    /// The value of Address_Type for an advertisement without an address.
    private static let anonymous: UInt8 = 0xFF
    /// The value of Direct_Address_Type for a private address that the controller could not resolve.
    private static let unresolvedTarget: UInt8 = 0xFE

    /// True for the two subevents that this reads.
    public static func reads(_ subevent: LESubevent) -> Bool {
        subevent == .advertisingReport || subevent == .extendedAdvertisingReport
    }

    /// Begins with the bytes after the subevent's code, once all of them were found sound.
    @_lifetime(copy parameters)
    public init(_ subevent: LESubevent, _ parameters: Span<UInt8>) throws(DecodingError) {
        var checked = try Self(unchecked: subevent, parameters)
        while try checked.read() != nil {}
        try checked.reader.expectEnd()
        try self.init(unchecked: subevent, parameters)
    }

    /// The next report; nil when there is none.
    ///
    /// What it throws, the initialiser has thrown before.
    @_lifetime(self: copy self)
    @_lifetime(copy self)
    public mutating func next() throws(DecodingError) -> AdvertisingReport? {
        try read()
    }

    @_lifetime(copy parameters)
    private init(unchecked subevent: LESubevent, _ parameters: Span<UInt8>) throws(DecodingError) {
        guard Self.reads(subevent) else {
            throw DecodingError(
                packet: "LE Advertising Report",
                field: "Subevent_Code",
                offset: 0,
                reason: .unexpectedCode(UInt16(subevent.rawValue))
            )
        }
        isExtended = subevent == .extendedAdvertisingReport
        reader = ByteReader(
            parameters,
            packet: isExtended ? "LE Extended Advertising Report" : "LE Advertising Report"
        )
        let count = try reader.readUInt8("Num_Reports")
        let limit = isExtended ? Self.maximumExtendedReports : Self.maximumLegacyReports
        guard count >= 1, Int(count) <= limit else {
            throw reader.error("Num_Reports", .invalidValue(UInt64(count)))
        }
        remaining = Int(count)
    }

    @_lifetime(self: copy self)
    @_lifetime(copy self)
    private mutating func read() throws(DecodingError) -> AdvertisingReport? {
        guard remaining > 0 else { return nil }
        remaining &-= 1
        return isExtended ? try readExtended() : try readLegacy()
    }

    @_lifetime(self: copy self)
    @_lifetime(copy self)
    private mutating func readLegacy() throws(DecodingError) -> AdvertisingReport {
        let kind = try reader.readUInt8("Event_Type")
        guard let eventType = AdvertisingEventType(legacy: kind) else {
            throw reader.error("Event_Type", .invalidValue(UInt64(kind)))
        }
        let addressType = try reader.readUInt8("Address_Type")
        guard let type = AddressType(hci: addressType) else {
            throw reader.error("Address_Type", .invalidValue(UInt64(addressType)))
        }
        let address = try reader.readAddress("Address")
        let length = Int(try reader.readUInt8("Data_Length"))
        guard length <= Self.maximumLegacyDataLength else {
            throw reader.error("Data_Length", .invalidLength(length))
        }
        let data = try reader.readSpan(count: length, "Data")
        let rssi = try reader.readInt8("RSSI")
        return AdvertisingReport(
            eventType: eventType,
            dataStatus: .complete,
            sender: DeviceAddress(address, type),
            isResolved: addressType >= 2,
            advertisingSID: nil,
            primaryPHY: .le1M,
            secondaryPHY: .none,
            txPower: AdvertisingReport.unknownPower,
            rssi: rssi,
            target: nil,
            data: data
        )
    }

    @_lifetime(self: copy self)
    @_lifetime(copy self)
    private mutating func readExtended() throws(DecodingError) -> AdvertisingReport {
        let kind = try reader.readUInt16("Event_Type")
        let eventType = AdvertisingEventType(rawValue: UInt8(truncatingIfNeeded: kind))
        guard let status = AdvertisingDataStatus(rawValue: UInt8(truncatingIfNeeded: kind &>> 5 & 0b11)) else {
            throw reader.error("Event_Type", .invalidValue(UInt64(kind)))
        }
        let addressType = try reader.readUInt8("Address_Type")
        let type = AddressType(hci: addressType)
        guard type != nil || addressType == Self.anonymous else {
            throw reader.error("Address_Type", .invalidValue(UInt64(addressType)))
        }
        let address = try reader.readAddress("Address")
        let primary = try reader.readUInt8("Primary_PHY")
        let secondary = try reader.readUInt8("Secondary_PHY")
        let sid = try reader.readUInt8("Advertising_SID")
        let txPower = try reader.readInt8("TX_Power")
        let rssi = try reader.readInt8("RSSI")
        _ = try reader.readUInt16("Periodic_Advertising_Interval")
        let targetType = try reader.readUInt8("Direct_Address_Type")
        let targetAddress = try reader.readAddress("Direct_Address")
        let length = Int(try reader.readUInt8("Data_Length"))
        guard length <= Self.maximumExtendedDataLength else {
            throw reader.error("Data_Length", .invalidLength(length))
        }
        let data = try reader.readSpan(count: length, "Data")
        let targetKind = targetType == Self.unresolvedTarget ? .random : AddressType(hci: targetType)
        return AdvertisingReport(
            eventType: eventType,
            dataStatus: status,
            sender: type.map { DeviceAddress(address, $0) },
            isResolved: type != nil && addressType >= 2,
            advertisingSID: sid == Self.noSID ? nil : sid,
            primaryPHY: LEPHY(rawValue: primary),
            secondaryPHY: LEPHY(rawValue: secondary),
            txPower: txPower,
            rssi: rssi,
            target: eventType.contains(.directed) ? targetKind.map { DeviceAddress(targetAddress, $0) } : nil,
            data: data
        )
    }
}
