// SPDX-License-Identifier: GPL-2.0-or-later

/// Scan parameters for both the legacy and the extended scan commands (Core 6.0, Vol 4, Part E, 7.8.10, 7.8.11, 7.8.64
/// and 7.8.65).
public struct ScanParameters: Hashable, Sendable {
    /// Scan type, which determines whether scan requests are sent.
    public enum ScanType: UInt8, Hashable, Sendable {
        /// The scanner only listens; it sends no scan requests.
        case passive = 0
        /// The scanner requests the scan responses of scannable advertisers, which often contain the name.
        case active = 1
    }

    /// Type of this host's address in scan requests.
    public enum OwnAddressType: UInt8, Hashable, Sendable {
        /// Public address of the controller.
        case `public` = 0
        /// Random address that was set earlier.
        case random = 1
        /// Resolvable private address from the resolving list, or else the public address.
        case resolvableOrPublic = 2
        /// Resolvable private address from the resolving list, or else the random address.
        case resolvableOrRandom = 3
    }

    /// Selection of the advertisements that the controller reports.
    public enum FilterPolicy: UInt8, Hashable, Sendable {
        /// All advertisements, except advertisements directed to other devices.
        case all = 0
        case acceptList = 1
        /// All advertisements, including advertisements directed to a resolvable private address.
        case allAndResolvableDirected = 2
        /// Advertisements of devices in the Filter Accept List, including those directed to a resolvable private
        /// address.
        case acceptListAndResolvableDirected = 3
    }

    /// Time in units of 0.625 ms, clamped to 0x0004 … 0x4000 (2.5 ms … 10.24 s).
    ///
    /// The extended commands accept longer times, which are not needed here.
    public struct Slots: RawRepresentable, Hashable, Sendable {
        /// Number of units of 0.625 ms.
        public let rawValue: UInt16

        /// Creates a time from a number of units, clamped to the valid range.
        public init(rawValue: UInt16) {
            self.rawValue = min(max(rawValue, 0x0004), 0x4000)
        }

        /// The time as a duration.
        public var duration: Duration { .microseconds(625 * Int64(rawValue)) }
    }

    public var type: ScanType
    /// Time from the start of one scan window to the start of the next.
    public var interval: Slots
    /// Time in each interval during which the receiver is on; it is limited to the interval when the command is
    /// created.
    public var window: Slots
    /// Type of this host's address in scan requests.
    public var ownAddressType: OwnAddressType
    /// Selection of the advertisements that the controller reports.
    public var filterPolicy: FilterPolicy
    /// True if the controller should report each advertiser only once; best effort, because the controller's memory is
    /// small.
    public var filtersDuplicates: Bool
    /// True to scan on the Coded PHY (long range) as well; used only by extended scans.
    public var scansCodedPHY: Bool
    /// Time after which the scan stops automatically, in units of 10 ms; 0 means that it does not stop.
    ///
    /// It is used only by extended scans.
    public var duration: UInt16
    /// Time after which a scan with a duration restarts, in units of 1.28 s; 0 means that it does not restart.
    ///
    /// It is used only by extended scans.
    public var period: UInt16

    /// Creates scan parameters; the default values are those of `discovery`.
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

    /// Parameters for finding devices to list: active scanning, with the receiver always on (interval and window 11.25
    /// ms).
    ///
    /// The kernel uses the same values for its own discovery, so a controller that works with BlueZ supports them.
    public static let discovery = ScanParameters()

    /// Parameters for finding a known device: passive scanning, with the receiver on half of the time (30 ms of every
    /// 60 ms).
    ///
    /// The scan sends nothing and leaves half of the time to connections. The values are those of
    /// TGAP(scan_fast_interval) and TGAP(scan_fast_window) in Core 6.0, Vol 3, Part C, Appendix A.
    public static let background = ScanParameters(
        type: .passive,
        interval: Slots(rawValue: 0x0060),
        window: Slots(rawValue: 0x0030)
    )

    /// Window that is sent to the controller, limited to the interval.
    public var effectiveWindow: Slots { Slots(rawValue: min(window.rawValue, interval.rawValue)) }
}
