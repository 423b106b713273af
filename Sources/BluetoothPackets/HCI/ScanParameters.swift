// SPDX-License-Identifier: GPL-2.0-or-later

/// The parameters of a scan, as both generations of scan commands take them (Core 6.0, Vol 4, Part E, 7.8.10, 7.8.11,
/// 7.8.64 and 7.8.65).
public struct ScanParameters: Hashable, Sendable {
    /// Whether scan requests are sent.
    public enum ScanType: UInt8, Hashable, Sendable {
        /// Listens only; nothing is transmitted, scan responses are not asked for.
        case passive = 0
        /// Asks scannable advertisers for their scan response, which often holds the name.
        case active = 1
    }

    /// The address in scan requests.
    public enum OwnAddressType: UInt8, Hashable, Sendable {
        /// The controller's public address.
        case `public` = 0
        /// The random address that was set.
        case random = 1
        /// A resolvable private one from the resolving list, else the public one.
        case resolvableOrPublic = 2
        /// A resolvable private one from the resolving list, else the random one.
        case resolvableOrRandom = 3
    }

    /// The choice of advertisers that are reported.
    public enum FilterPolicy: UInt8, Hashable, Sendable {
        /// Everybody's, but not directed ones for others.
        case all = 0
        case acceptList = 1
        /// Everybody's, and directed ones for a resolvable address.
        case allAndResolvableDirected = 2
        /// Those on the Filter Accept List, and directed ones for a resolvable address.
        case acceptListAndResolvableDirected = 3
    }

    /// A time in units of 0.625 ms, 0x0004 … 0x4000: 2.5 ms … 10.24 s; values outside are moved to the nearest one.
    ///
    /// The extended commands would take longer ones; nothing here needs them.
    public struct Slots: RawRepresentable, Hashable, Sendable, Comparable {
        /// The number of units.
        public let rawValue: UInt16

        /// So many units, moved into the range.
        public init(rawValue: UInt16) {
            self.rawValue = min(max(rawValue, 0x0004), 0x4000)
        }

        /// The time as a duration.
        public var duration: Duration { .microseconds(625 * Int64(rawValue)) }

        /// By length.
        public static func < (left: Slots, right: Slots) -> Bool { left.rawValue < right.rawValue }
    }

    /// Active or passive.
    public var type: ScanType
    /// The time from the beginning of one window to the beginning of the next.
    public var interval: Slots
    /// The time that the receiver is open in each interval; where it is longer than the interval, the interval is sent.
    public var window: Slots
    /// The address in scan requests.
    public var ownAddressType: OwnAddressType
    /// The choice of advertisers that are reported.
    public var filterPolicy: FilterPolicy
    /// True to let the controller report each advertiser once; its memory is small, so it is no promise.
    public var filtersDuplicates: Bool
    /// Also scan on the Coded PHY (long range); extended scans only.
    public var scansCodedPHY: Bool
    /// The time after which the scan ends by itself, in units of 10 ms; 0 is never.
    ///
    /// Extended scans only.
    public var duration: UInt16
    /// The time after which a scan with a duration begins again, in units of 1.28 s; 0 is never.
    ///
    /// Extended scans only.
    public var period: UInt16

    /// Parameters; the defaults are those of `discovery`.
    public init(
        type: ScanType = .active,
        interval: Slots = Slots(rawValue: 0x0012),
        window: Slots = Slots(rawValue: 0x0012),
        ownAddressType: OwnAddressType = .public,
        filterPolicy: FilterPolicy = .all,
        filtersDuplicates: Bool = false,
        scansCodedPHY: Bool = false,
        duration: UInt16 = 0,
        period: UInt16 = 0
    ) {
        self.type = type
        self.interval = interval
        self.window = window
        self.ownAddressType = ownAddressType
        self.filterPolicy = filterPolicy
        self.filtersDuplicates = filtersDuplicates
        self.scansCodedPHY = scansCodedPHY
        self.duration = duration
        self.period = period
    }

    /// The parameters while a list of devices is shown: active, the receiver always open (11.25 ms of 11.25 ms).
    ///
    /// These are the values the kernel's own discovery uses, so a controller that works with BlueZ works with them.
    public static let discovery = ScanParameters()

    /// The parameters while a known device is waited for: passive, the receiver open half of the time (30 ms of 60 ms).
    ///
    /// Least scanning: nothing is sent, and half of the air time stays free for connections. The values are
    /// TGAP(scan_fast_interval) and TGAP(scan_fast_window) of Core 6.0, Vol 3, Part C, Appendix A.
    public static let background = ScanParameters(
        type: .passive,
        interval: Slots(rawValue: 0x0060),
        window: Slots(rawValue: 0x0030)
    )

    /// The window as it is sent: never longer than the interval.
    public var effectiveWindow: Slots { min(window, interval) }
}
