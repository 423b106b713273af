// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// One advertiser of a controller: the only one of the legacy commands, or one of the extended ones.
struct AdvertisingSet {
    struct Properties: OptionSet, Hashable {
        let rawValue: UInt16
        static let connectable = Properties(rawValue: 1 << 0)
        static let scannable = Properties(rawValue: 1 << 1)
        static let directed = Properties(rawValue: 1 << 2)
        static let highDutyCycle = Properties(rawValue: 1 << 3)
        static let legacy = Properties(rawValue: 1 << 4)
        static let anonymous = Properties(rawValue: 1 << 5)
        static let includesTxPower = Properties(rawValue: 1 << 6)
        static let all = Properties(rawValue: 0x7F)

        /// The combinations with legacy PDUs that exist (Core 6.0, Vol 4, Part E, 7.8.53, table 7.5).
        static let legacyKinds: Set<Properties> = [
            [.legacy, .connectable, .scannable], [.legacy, .connectable, .directed],
            [.legacy, .connectable, .directed, .highDutyCycle], [.legacy, .scannable], [.legacy],
        ]

        /// The kind of a legacy command's Advertising_Type (7.8.5); nil for a value that does not exist.
        init?(legacyType: UInt8) {
            switch legacyType {
            case 0x00: self = [.legacy, .connectable, .scannable]
            case 0x01: self = [.legacy, .connectable, .directed, .highDutyCycle]
            case 0x02: self = [.legacy, .scannable]
            case 0x03: self = [.legacy]
            case 0x04: self = [.legacy, .connectable, .directed]
            default: return nil
            }
        }

        init(rawValue: UInt16) {
            self.rawValue = rawValue
        }
    }

    /// The devices that it answers.
    struct FilterPolicy: OptionSet, Hashable {
        let rawValue: UInt8
        static let scansFromAcceptList = FilterPolicy(rawValue: 1 << 0)
        static let connectionsFromAcceptList = FilterPolicy(rawValue: 1 << 1)
    }

    /// Its number; nil for the legacy commands' only one.
    let handle: UInt8?
    var properties: Properties = [.legacy, .connectable, .scannable]
    /// In units of 0.625 ms; 1.28 s until the host says otherwise (7.8.5).
    var interval: UInt32 = 0x0800
    var ownAddressType = AddressType.public
    var peer = DeviceAddress(BluetoothAddress(rawValue: 0), .public)
    var filterPolicy: FilterPolicy = []
    var sid: UInt8 = 0
    var reportsScanRequests = false
    var randomAddress: BluetoothAddress?
    var data: [UInt8] = []
    var scanResponse: [UInt8] = []
    /// True while the host has sent a part of the data, and not its last.
    var isDataIncomplete = false
    var isScanResponseIncomplete = false

    /// The time of its next event; nil while it is off.
    var nextEvent: Duration?
    /// The time at which it ends by itself; nil for never.
    var end: Duration?
    /// The number of events after which it ends by itself; zero for never.
    var maximumEvents: UInt8 = 0
    var eventCount: UInt8 = 0
    /// The address that it advertises, fixed while it is on.
    var address = DeviceAddress(BluetoothAddress(rawValue: 0), .public)

    init(handle: UInt8?) {
        self.handle = handle
    }

    var isEnabled: Bool { nextEvent != nil }

    /// The time between two events without their random delay.
    ///
    /// High duty cycle directed advertising sends at least every 3.75 ms (Core 6.0, Vol 6, Part B, 4.4.2.4.3).
    var period: Duration {
        properties.contains(.highDutyCycle) ? .microseconds(3750) : .microseconds(625) * Int(interval)
    }

    /// The duration of high duty cycle directed advertising (Core 6.0, Vol 6, Part B, 4.4.2.4.3).
    static let highDutyCycleDuration = Duration.milliseconds(1280)
}

/// The times at which a receiver is open: a window at the beginning of every interval.
struct ScanWindow: Hashable {
    /// In units of 0.625 ms: 0x0004 … 0x4000 for the legacy commands, to 0xFFFF for the extended ones.
    var interval: UInt16 = 0x0010
    /// In the same units, no longer than the interval.
    var window: UInt16 = 0x0010
    var start = Duration.zero

    init() {}

    init(_ parameters: inout CommandParameters, in range: ClosedRange<UInt16>) throws(Refusal) {
        interval = try parameters.readUInt16(in: range)
        window = try parameters.readUInt16(in: range)
        guard window <= interval else { throw .invalid }
    }

    func isOpen(at time: Duration) -> Bool {
        let unit = Duration.microseconds(625).attoseconds
        let passed = max(0, (time - start).attoseconds) % (Int128(interval) * unit)
        return passed < Int128(window) * unit
    }
}

/// A scan: its parameters and its memory.
struct ScanState {
    /// An advertisement as the duplicate filter remembers it.
    struct Heard: Hashable {
        var sender: DeviceAddress?
        var eventType: UInt16
        var sid: UInt8
    }

    var isActive = false
    var window = ScanWindow()
    var ownAddressType = AddressType.public
    var usesAcceptList = false
    /// True when the extended commands have set it up: it hears extended PDUs, and makes extended reports.
    var isExtended = false

    var isEnabled = false
    var address = DeviceAddress(BluetoothAddress(rawValue: 0), .public)
    var filtersDuplicates = false
    /// The advertisements that were reported, the oldest first.
    var heard: [Heard] = []
    /// The time at which the scan ends, or pauses until `nextPeriod`; nil for never.
    var end: Duration?
    var nextPeriod: Duration?
    var duration = Duration.zero
    var period = Duration.zero
    var forgetsEachPeriod = false
    /// True between the end of a period's scan and the next period.
    var isPausing = false

    /// True for an advertisement that was reported before; it is remembered from then on.
    mutating func isDuplicate(_ event: Heard) -> Bool {
        guard filtersDuplicates else { return false }
        guard !heard.contains(event) else { return true }
        if heard.count >= VirtualController.Limit.duplicates { heard.removeFirst() }
        heard.append(event)
        return false
    }
}
