// SPDX-License-Identifier: GPL-2.0-or-later

/// The kind of an advertisement; the legacy kinds are expressed in the same bits.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.13 (Event_Type).
public struct AdvertisingEventType: OptionSet, Hashable, Sendable {
    /// The bits 0 to 4 of Event_Type.
    public let rawValue: UInt8

    /// The bits 0 to 4 of Event_Type.
    @inlinable @inline(__always)
    public init(rawValue: UInt8) {
        self.rawValue = rawValue & 0x1F
    }

    /// The advertiser takes connections.
    @inlinable @inline(__always)
    public static var connectable: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 0) }
    /// The advertiser answers scan requests.
    @inlinable @inline(__always)
    public static var scannable: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 1) }
    /// Directed to one device.
    @inlinable @inline(__always)
    public static var directed: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 2) }
    /// A scan response; whether the device is connectable does not follow from it.
    @inlinable @inline(__always)
    public static var scanResponse: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 3) }
    /// Sent with a legacy advertising PDU.
    @inlinable @inline(__always)
    public static var legacy: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 4) }

    /// The kind of an LE Advertising Report; nil for a reserved value.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.2 (Event_Type).
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

/// The completeness of the data in a report.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.13 (Event_Type, bits 5 and 6).
@frozen
public enum AdvertisingDataStatus: UInt8, Hashable, Sendable {
    /// All of the data, or its last fragment.
    case complete = 0
    /// A fragment; more will come.
    case moreToCome = 1
    /// The rest was lost; no more will come.
    case truncated = 2

    /// The status in the first byte of Event_Type; nil for a reserved value.
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

/// A physical layer of LE.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.13 (Primary_PHY, Secondary_PHY).
public struct LEPHY: RawRepresentable, Hashable, Sendable {
    /// The code.
    public let rawValue: UInt8

    /// A PHY from its code.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// No packets there.
    public static let none = LEPHY(rawValue: 0)
    /// 1 Mbit/s.
    public static let le1M = LEPHY(rawValue: 1)
    /// 2 Mbit/s.
    public static let le2M = LEPHY(rawValue: 2)
    /// 125 or 500 kbit/s, long range.
    public static let leCoded = LEPHY(rawValue: 3)
}
