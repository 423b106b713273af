// SPDX-License-Identifier: GPL-2.0-or-later

/// How to advertise with legacy PDUs: what both generations of advertising commands take.
///
/// Core 6.0, Vol 4, Part E, 7.8.5 and 7.8.53.
public struct AdvertisingParameters: Hashable, Sendable {
    /// What centrals may do with the advertiser.
    public enum Kind: UInt8, Hashable, Sendable {
        /// Connect, and ask for the scan response (ADV_IND).
        case connectable = 0x00
        /// Ask for the scan response (ADV_SCAN_IND).
        case scannable = 0x02
        /// Listen (ADV_NONCONN_IND).
        case nonConnectable = 0x03

        /// The bits of Advertising_Event_Properties that ask for the same with legacy PDUs.
        ///
        /// Core 6.0, Vol 4, Part E, 7.8.53.
        var eventProperties: UInt16 {
            switch self {
            case .connectable: 0x0013
            case .scannable: 0x0012
            case .nonConnectable: 0x0010
            }
        }
    }

    /// What centrals may do.
    public var kind: Kind
    /// The time between advertising events in units of 0.625 ms, 0x0020 … 0x4000.
    public let interval: UInt16
    /// The address in the packets.
    public var ownAddressType: ScanParameters.OwnAddressType

    /// Parameters; an interval outside 20 ms … 10.24 s is moved to the nearer end.
    ///
    /// Where nobody may connect it is at least 100 ms, which controllers before 5.0 insist on.
    public init(
        kind: Kind,
        interval: Duration = .milliseconds(100),
        ownAddressType: ScanParameters.OwnAddressType = .public
    ) {
        self.kind = kind
        self.ownAddressType = ownAddressType
        let lowest: Int64 = kind == .connectable ? 0x0020 : 0x00A0
        let (seconds, attoseconds) = max(.zero, min(interval, .seconds(11))).components
        let microseconds = seconds &* 1_000_000 &+ attoseconds / 1_000_000_000_000
        self.interval = UInt16(truncatingIfNeeded: min(max(microseconds / 625, lowest), 0x4000))
    }
}
