// SPDX-License-Identifier: GPL-2.0-or-later

/// Scan parameters, for the legacy and the extended scan commands (Core 6.0, Vol 4, Part E, 7.8.10, 7.8.11, 7.8.64 and
/// 7.8.65).
public struct ScanParameters: Hashable, Sendable {
    /// Scan type: with or without scan requests.
    public enum ScanType: UInt8, Hashable, Sendable {
        /// Listens only; sends no scan requests.
        case passive = 0
        /// Requests the scan response of scannable advertisers, which often contains the name.
        case active = 1
    }

    /// The address in scan requests.
    public enum OwnAddressType: UInt8, Hashable, Sendable {
        /// The controller's public address.
        case `public` = 0
        /// The random address set earlier.
        case random = 1
        /// A resolvable private address from the resolving list, or the public address.
        case resolvableOrPublic = 2
        /// A resolvable private address from the resolving list, or the random address.
        case resolvableOrRandom = 3
    }

    /// The filter policy for advertisements.
    public enum FilterPolicy: UInt8, Hashable, Sendable {
        /// All advertisements, except directed ones for other devices.
        case all = 0
        case acceptList = 1
        /// All advertisements, including directed ones for a resolvable private address.
        case allAndResolvableDirected = 2
        /// Advertisements from the Filter Accept List, including directed ones for a resolvable private address.
        case acceptListAndResolvableDirected = 3
    }

    /// A time in units of 0.625 ms, 0x0004 … 0x4000: 2.5 ms … 10.24 s; other values are clamped.
    ///
    /// The extended commands accept longer times, which are not needed here.
    public struct Slots: RawRepresentable, Hashable, Sendable, Comparable {
        /// Number of units.
        public let rawValue: UInt16

        /// Creates a time from a number of units, clamped to the range.
        public init(rawValue: UInt16) {
            self.rawValue = min(max(rawValue, 0x0004), 0x4000)
        }

        /// The time as a duration.
        public var duration: Duration { .microseconds(625 * Int64(rawValue)) }

        /// Compares two times by length.
        public static func < (left: Slots, right: Slots) -> Bool { left.rawValue < right.rawValue }
    }

    /// The scan type.
    public var type: ScanType
    /// The scan interval, from the start of one window to the start of the next.
    public var interval: Slots
    /// The scan window, during which the receiver is on in each interval; it is limited to the interval when it is
    /// sent.
    public var window: Slots
    /// The address in scan requests.
    public var ownAddressType: OwnAddressType
    /// The filter policy for advertisements.
    public var filterPolicy: FilterPolicy
    /// True to let the controller report each advertiser once; best effort, because its memory is small.
    public var filtersDuplicates: Bool
    /// True to scan also on the Coded PHY (long range); extended scans only.
    public var scansCodedPHY: Bool
    /// The time after which the scan stops automatically, in units of 10 ms; 0 means never.
    ///
    /// Extended scans only.
    public var duration: UInt16
    /// The time after which a scan with a duration restarts, in units of 1.28 s; 0 means never.
    ///
    /// Extended scans only.
    public var period: UInt16

    /// Creates parameters; the defaults are those of `discovery`.
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

    /// Parameters for showing a list of devices: active, with the receiver always on (11.25 ms of 11.25 ms).
    ///
    /// The kernel's own discovery uses the same values, so a controller that works with BlueZ supports them.
    public static let discovery = ScanParameters()

    /// Parameters for waiting for a known device: passive, with the receiver on half of the time (30 ms of 60 ms).
    ///
    /// The radio load is low: nothing is sent, and half of the air time remains free for connections. The values are
    /// TGAP(scan_fast_interval) and TGAP(scan_fast_window) of Core 6.0, Vol 3, Part C, Appendix A.
    public static let background = ScanParameters(
        type: .passive,
        interval: Slots(rawValue: 0x0060),
        window: Slots(rawValue: 0x0030)
    )

    /// The window sent to the controller, limited to the interval.
    public var effectiveWindow: Slots { min(window, interval) }
}
