// SPDX-License-Identifier: GPL-2.0-or-later

/// View of a received advertisement or scan response in an event's bytes (Core 6.0, Vol 4, Part E, 7.7.65.2 and
/// 7.7.65.13).
///
/// Its fields are decoded when they are accessed.
public struct AdvertisingReport: ~Escapable {
    /// Bytes of the report, which the reader has checked.
    @usableFromInline let bytes: Span<UInt8>
    /// True if the bytes have the layout of an extended report.
    @usableFromInline let isExtended: Bool

    @inlinable @inline(__always)
    @_lifetime(copy bytes)
    init(checked bytes: Span<UInt8>, isExtended: Bool) {
        self.bytes = bytes
        self.isExtended = isExtended
    }

    /// Type of the advertisement or scan response.
    @inlinable @inline(__always)
    public var eventType: AdvertisingEventType {
        let kind = byte(0)
        // The reader rejects all other legacy types.
        return isExtended ? AdvertisingEventType(rawValue: kind) : AdvertisingEventType(legacy: kind) ?? .legacy
    }

    /// Status of `data`: complete, truncated or to be continued.
    @inlinable @inline(__always)
    public var dataStatus: AdvertisingDataStatus {
        isExtended ? AdvertisingDataStatus(eventType: byte(0)) ?? .truncated : .complete
    }

    /// Address of the advertiser; nil if the advertising is anonymous.
    @inlinable @inline(__always)
    public var sender: DeviceAddress? {
        AddressType(hci: addressType).map { DeviceAddress(address(at: isExtended ? 3 : 2), $0) }
    }

    /// True if the controller resolved a private address (address types 2 and 3), so that `sender` is the identity
    /// address.
    public var isResolved: Bool { addressType >= 2 && sender != nil }

    /// Identifier of the advertising set, 0 … 15; nil for a legacy PDU.
    @inlinable @inline(__always)
    public var advertisingSID: UInt8? {
        let sid = isExtended ? byte(11) : Layout.noSID
        return sid == Layout.noSID ? nil : sid
    }

    /// PHY on which the advertisement was received.
    public var primaryPHY: LEPHY { isExtended ? LEPHY(rawValue: byte(9)) : .le1M }

    /// PHY on which the auxiliary packet was received.
    public var secondaryPHY: LEPHY { isExtended ? LEPHY(rawValue: byte(10)) : .none }

    /// Transmission power in dBm, -127 … 20; nil if unknown.
    public var txPower: Int8? { isExtended ? power(byte(12)) : nil }

    /// Received signal strength in dBm, -127 … 20; nil if unknown.
    @inlinable @inline(__always)
    public var rssi: Int8? { power(byte(isExtended ? 13 : bytes.count &- 1)) }

    /// Device to which directed advertising is addressed; nil for undirected advertising.
    public var target: DeviceAddress? {
        guard isExtended, eventType.contains(.directed) else { return nil }
        let type = byte(16)
        let kind = type == Layout.unresolvedTarget ? .random : AddressType(hci: type)
        // The eight-byte word starts one byte before the address, because only one byte is guaranteed to follow the
        // address.
        return kind.map { DeviceAddress(BluetoothAddress(rawValue: bytes.word(at: 16) >> 8), $0) }
    }

    /// AD structures, or a fragment of them.
    @inlinable @inline(__always)
    public var data: Span<UInt8> {
        @_lifetime(copy self)
        get {
            let layout = Layout(isExtended: isExtended)
            return bytes.extracting(layout.fixed..<(bytes.count &- layout.trailer))
        }
    }

    /// Address type of the advertiser.
    @inlinable @inline(__always)
    var addressType: UInt8 { byte(isExtended ? 2 : 1) }

    @inlinable @inline(__always)
    func byte(_ offset: Int) -> UInt8 { bytes[offset] }

    /// Reads an address from the fixed fields; both layouts have at least two bytes after it.
    @inlinable @inline(__always)
    func address(at offset: Int) -> BluetoothAddress { BluetoothAddress(rawValue: bytes.word(at: offset)) }

    @inlinable @inline(__always)
    func power(_ byte: UInt8) -> Int8? {
        let power = Int8(bitPattern: byte)
        return power == Layout.unknownPower ? nil : power
    }
}

extension AdvertisingReport {
    /// Lengths of a report's parts, and special field values.
    @usableFromInline
    struct Layout {
        /// Number of bytes before the data; the last of them is Data_Length.
        @usableFromInline let fixed: Int
        /// Number of bytes after the data.
        @usableFromInline let trailer: Int
        @usableFromInline let mostData: Int

        /// Creates the layout of a legacy or an extended report.
        @inlinable @inline(__always)
        init(isExtended: Bool) {
            fixed = isExtended ? 24 : 9
            trailer = isExtended ? 0 : 1
            mostData =
                isExtended
                ? AdvertisingReportReader.maximumExtendedDataLength : AdvertisingReportReader.maximumLegacyDataLength
        }

        /// Advertising_SID of an advertisement without a set identifier.
        @inlinable @inline(__always)
        static var noSID: UInt8 { 0xFF }
        /// Address_Type of an advertisement without an address.
        @inlinable @inline(__always)
        static var anonymous: UInt8 { 0xFF }
        /// Direct_Address_Type of a private address that the controller could not resolve.
        static let unresolvedTarget: UInt8 = 0xFE
        /// Value of an unknown power or signal strength.
        @inlinable @inline(__always)
        static var unknownPower: Int8 { 127 }
    }
}

/// Type of an advertisement; legacy types are converted to the same bits (Core 6.0, Vol 4, Part E, 7.7.65.13:
/// Event_Type).
public struct AdvertisingEventType: OptionSet, Hashable, Sendable {
    /// Bits 0 to 4 of Event_Type.
    public let rawValue: UInt8

    /// Creates a type from bits 0 to 4 of Event_Type.
    @inlinable @inline(__always)
    public init(rawValue: UInt8) {
        self.rawValue = rawValue & 0x1F
    }

    /// The advertiser accepts connections.
    @inlinable @inline(__always)
    public static var connectable: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 0) }
    /// The advertiser answers scan requests.
    @inlinable @inline(__always)
    public static var scannable: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 1) }
    /// The advertisement is directed to one device.
    @inlinable @inline(__always)
    public static var directed: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 2) }
    /// The report is about a scan response, which does not show whether the device is connectable.
    @inlinable @inline(__always)
    public static var scanResponse: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 3) }
    /// The advertisement was sent with a legacy PDU.
    @inlinable @inline(__always)
    public static var legacy: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 4) }

    /// Creates the type from the Event_Type of an LE Advertising Report; returns nil for a reserved value (Core 6.0,
    /// Vol 4, Part E, 7.7.65.2).
    @inlinable @inline(__always)
    public init?(legacy value: UInt8) {
        switch value {
        case 0x00: self = [.connectable, .scannable, .legacy]  // ADV_IND
        case 0x01: self = [.connectable, .directed, .legacy]  // ADV_DIRECT_IND
        case 0x02: self = [.scannable, .legacy]  // ADV_SCAN_IND
        case 0x03: self = [.legacy]  // ADV_NONCONN_IND
        case 0x04: self = [.scannable, .scanResponse, .legacy]  // SCAN_RSP
        default: return nil
        }
    }
}

/// Completeness of the data in a report (Core 6.0, Vol 4, Part E, 7.7.65.13: Event_Type, bits 5 and 6).
@frozen
public enum AdvertisingDataStatus: UInt8, Hashable, Sendable {
    /// The report contains all of the data, or its last fragment.
    case complete = 0
    case moreToCome = 1
    /// The data is truncated, and no more of it follows.
    case truncated = 2

    /// Creates the status from the first byte of Event_Type; returns nil for a reserved value.
    @inlinable @inline(__always)
    init?(eventType: UInt8) {
        switch eventType &>> 5 & 0b11 {
        case 0: self = .complete
        case 1: self = .moreToCome
        case 2: self = .truncated
        default: return nil
        }
    }
}

/// LE physical layer (Core 6.0, Vol 4, Part E, 7.7.65.13: Primary_PHY, Secondary_PHY).
public struct LEPHY: RawRepresentable, Hashable, Sendable {
    /// Number of the PHY in HCI.
    public let rawValue: UInt8

    /// Creates a PHY from its number.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// No packets were sent on this PHY.
    public static let none = LEPHY(rawValue: 0)
    /// LE 1M PHY, with 1 Mbit/s.
    public static let le1M = LEPHY(rawValue: 1)
}
