// SPDX-License-Identifier: GPL-2.0-or-later

/// A received advertisement or scan response, as a view into the event's bytes; its fields are decoded on access (Core
/// 6.0, Vol 4, Part E, 7.7.65.2 and 7.7.65.13).
public struct AdvertisingReport: ~Escapable {
    /// The report's bytes, checked by the reader.
    @usableFromInline let bytes: Span<UInt8>
    /// True for the layout of an extended report.
    @usableFromInline let isExtended: Bool

    @inlinable @inline(__always)
    @_lifetime(copy bytes)
    init(checked bytes: Span<UInt8>, isExtended: Bool) {
        self.bytes = bytes
        self.isExtended = isExtended
    }

    /// The kind of advertisement.
    @inlinable @inline(__always)
    public var eventType: AdvertisingEventType {
        let kind = byte(0)
        // The reader rejects any other legacy kind.
        return isExtended ? AdvertisingEventType(rawValue: kind) : AdvertisingEventType(legacy: kind) ?? .legacy
    }

    /// The completeness of `data`.
    @inlinable @inline(__always)
    public var dataStatus: AdvertisingDataStatus {
        isExtended ? AdvertisingDataStatus(eventType: byte(0)) ?? .truncated : .complete
    }

    /// The advertiser's address; nil for anonymous advertising.
    @inlinable @inline(__always)
    public var sender: DeviceAddress? {
        AddressType(hci: addressType).map { DeviceAddress(address(at: isExtended ? 3 : 2), $0) }
    }

    /// True if the controller resolved a private address, so that `sender` is the identity address (types 2 and 3).
    public var isResolved: Bool { addressType >= 2 && sender != nil }

    /// The advertising set, 0 … 15; nil for a legacy PDU.
    @inlinable @inline(__always)
    public var advertisingSID: UInt8? {
        let sid = isExtended ? byte(11) : Layout.noSID
        return sid == Layout.noSID ? nil : sid
    }

    /// The PHY on which the advertisement was received.
    public var primaryPHY: LEPHY { isExtended ? LEPHY(rawValue: byte(9)) : .le1M }

    /// The PHY on which the auxiliary packet was received.
    public var secondaryPHY: LEPHY { isExtended ? LEPHY(rawValue: byte(10)) : .none }

    /// The transmit power in dBm, -127 … 20; nil if unknown.
    public var txPower: Int8? { isExtended ? power(byte(12)) : nil }

    /// The received signal strength in dBm, -127 … 20; nil if unknown.
    @inlinable @inline(__always)
    public var rssi: Int8? { power(byte(isExtended ? 13 : bytes.count &- 1)) }

    /// The target device of directed advertising; nil for undirected advertising.
    public var target: DeviceAddress? {
        guard isExtended, eventType.contains(.directed) else { return nil }
        let type = byte(16)
        let kind = type == Layout.unresolvedTarget ? .random : AddressType(hci: type)
        // The word includes the byte before the address, because only one byte after the address is guaranteed.
        return kind.map { DeviceAddress(BluetoothAddress(rawValue: bytes.word(at: 16) >> 8), $0) }
    }

    /// The AD structures, or a fragment of them.
    @inlinable @inline(__always)
    public var data: Span<UInt8> {
        @_lifetime(copy self)
        get {
            let layout = Layout(isExtended: isExtended)
            return bytes.extracting(layout.fixed..<(bytes.count &- layout.trailer))
        }
    }

    /// The advertiser's address type.
    @inlinable @inline(__always)
    var addressType: UInt8 { byte(isExtended ? 2 : 1) }

    @inlinable @inline(__always)
    func byte(_ offset: Int) -> UInt8 { bytes[offset] }

    /// Reads an address from the fixed fields; at least two bytes follow it in either layout.
    @inlinable @inline(__always)
    func address(at offset: Int) -> BluetoothAddress { BluetoothAddress(rawValue: bytes.word(at: offset)) }

    @inlinable @inline(__always)
    func power(_ byte: UInt8) -> Int8? {
        let power = Int8(bitPattern: byte)
        return power == Layout.unknownPower ? nil : power
    }
}

extension AdvertisingReport {
    /// The lengths of a report's parts, and special values.
    @usableFromInline
    struct Layout {
        /// Number of bytes before the data, of which Data_Length is the last.
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

        /// The value of Advertising_SID for "none".
        @inlinable @inline(__always)
        static var noSID: UInt8 { 0xFF }
        /// The value of Address_Type for an advertisement without an address.
        @inlinable @inline(__always)
        static var anonymous: UInt8 { 0xFF }
        /// The value of Direct_Address_Type for a private address that the controller could not resolve.
        static let unresolvedTarget: UInt8 = 0xFE
        /// The value for an unknown power or signal strength.
        @inlinable @inline(__always)
        static var unknownPower: Int8 { 127 }
    }
}

/// The type of an advertisement; legacy types are converted to the same bits (Core 6.0, Vol 4, Part E, 7.7.65.13
/// (Event_Type)).
public struct AdvertisingEventType: OptionSet, Hashable, Sendable {
    /// The bits 0 to 4 of Event_Type.
    public let rawValue: UInt8

    /// Creates a type from the bits 0 to 4 of Event_Type.
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
    /// Directed to one device.
    @inlinable @inline(__always)
    public static var directed: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 2) }
    /// A scan response, which does not show if the device is connectable.
    @inlinable @inline(__always)
    public static var scanResponse: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 3) }
    /// Sent with a legacy advertising PDU.
    @inlinable @inline(__always)
    public static var legacy: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 4) }

    /// Creates the type from an LE Advertising Report; nil for a reserved value (Core 6.0, Vol 4, Part E, 7.7.65.2
    /// (Event_Type)).
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

/// The completeness of the data in a report (Core 6.0, Vol 4, Part E, 7.7.65.13 (Event_Type, bits 5 and 6)).
@frozen
public enum AdvertisingDataStatus: UInt8, Hashable, Sendable {
    /// All of the data, or its last fragment.
    case complete = 0
    case moreToCome = 1
    /// Truncated: the rest was lost.
    case truncated = 2

    /// Creates the status from the first byte of Event_Type; nil for a reserved value.
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

/// An LE physical layer (Core 6.0, Vol 4, Part E, 7.7.65.13 (Primary_PHY, Secondary_PHY)).
public struct LEPHY: RawRepresentable, Hashable, Sendable {
    /// The code.
    public let rawValue: UInt8

    /// Creates a PHY from its code.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// No packets on this PHY.
    public static let none = LEPHY(rawValue: 0)
    /// 1 Mbit/s.
    public static let le1M = LEPHY(rawValue: 1)
}
