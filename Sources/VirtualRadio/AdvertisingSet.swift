// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Advertising set of a controller.
///
/// The legacy commands use a single set; the extended commands can create several sets.
struct AdvertisingSet {
    struct Properties: OptionSet {
        let rawValue: UInt16
        static let connectable = Properties(rawValue: 1 << 0)
        static let scannable = Properties(rawValue: 1 << 1)
        static let directed = Properties(rawValue: 1 << 2)
        static let highDutyCycle = Properties(rawValue: 1 << 3)
        static let legacy = Properties(rawValue: 1 << 4)
        static let anonymous = Properties(rawValue: 1 << 5)
        static let includesTxPower = Properties(rawValue: 1 << 6)
        static let all = Properties(rawValue: 0x7F)

        /// Combinations that are valid with legacy PDUs (Core 6.0, Vol 4, Part E, 7.8.53, table 7.5).
        static let legacyKinds: [Properties] = [
            [.legacy, .connectable, .scannable], [.legacy, .connectable, .directed],
            [.legacy, .connectable, .directed, .highDutyCycle], [.legacy, .scannable], [.legacy],
        ]

        /// True if the combination of properties is valid.
        var isValid: Bool {
            guard !contains(.legacy) else { return Self.legacyKinds.contains(self) }
            // Extended PDUs cannot be both connectable and scannable, and only legacy PDUs support a high duty cycle.
            return Self.all.isSuperset(of: self) && !isSuperset(of: [.connectable, .scannable])
                && !contains(.highDutyCycle)
                && (!contains(.anonymous) || isDisjoint(with: [.connectable, .scannable]))
        }
    }

    /// Kinds of requests that the set answers only if they come from a device in the Filter Accept List.
    struct FilterPolicy: OptionSet {
        let rawValue: UInt8
        static let scansFromAcceptList = FilterPolicy(rawValue: 1 << 0)
        static let connectionsFromAcceptList = FilterPolicy(rawValue: 1 << 1)
    }

    /// Advertising data or scan response data.
    private struct Payload {
        var bytes: [UInt8] = []
        /// True between the first and the last fragment of data from the host.
        var isIncomplete = false
    }

    /// Values of the Operation parameter (7.8.54).
    private enum DataOperation: UInt8 {
        case intermediate = 0
        case first = 1
        case last = 2
        case complete = 3
        case unchanged = 4
    }

    /// Valid channel maps, in which bits 0 to 2 enable the channels 37, 38 and 39 (Core 6.0, Vol 4, Part E, 7.8.5,
    /// Advertising_Channel_Map).
    private static let channels: ClosedRange<UInt8> = 0x01...0x07
    /// Valid intervals of LE Set Advertising Parameters (7.8.5), in units of 0.625 ms.
    private static let legacyIntervals: ClosedRange<UInt32> = 0x0020...0x4000
    /// Valid intervals of LE Set Extended Advertising Parameters (7.8.53), in units of 0.625 ms.
    private static let extendedIntervals: ClosedRange<UInt32> = 0x0000_0020...0x00FF_FFFF
    /// Valid powers of LE Set Extended Advertising Parameters (7.8.53), in dBm, in addition to 127 for "no preference".
    private static let powers: ClosedRange<Int8> = -127...20
    private static let noPreferredPower: Int8 = 127
    /// Valid PHY values; this controller supports only LE 1M.
    private static let phys: ClosedRange<UInt8> = 0x01...0x03
    /// Maximum data length of a legacy PDU (Core 6.0, Vol 6, Part B, 2.3.1).
    private static let legacyDataLength = 31
    /// Maximum length of extended advertising data, in bytes (7.8.57).
    static let extendedDataLength = 1650
    /// Duration of high duty cycle directed advertising (Core 6.0, Vol 6, Part B, 4.4.2.4.3).
    private static let highDutyCycleDuration = Duration.milliseconds(1280)

    /// Handle of the set; nil for the legacy commands' set.
    let handle: UInt8?
    private(set) var properties: Properties = [.legacy, .connectable, .scannable]
    /// Interval in units of 0.625 ms; the default is 1.28 s (7.8.5).
    private var interval: UInt32 = 0x0800
    private(set) var ownAddressType = AddressType.public
    private(set) var peer = DeviceAddress(BluetoothAddress(rawValue: 0), .public)
    private(set) var filterPolicy: FilterPolicy = []
    private(set) var sid: UInt8 = 0
    private(set) var reportsScanRequests = false
    private(set) var randomAddress: BluetoothAddress?
    private var payload = Payload()
    private var response = Payload()

    /// Time of the next advertising event; nil if the set is disabled.
    private var nextEvent: Duration?
    /// Time at which advertising ends automatically; nil for no limit.
    private var end: Duration?
    /// Number of events after which advertising ends automatically; zero for no limit.
    private var maximumEvents: UInt8 = 0
    private(set) var eventCount: UInt8 = 0
    /// Advertised address, fixed while the set is enabled.
    private(set) var address = DeviceAddress(BluetoothAddress(rawValue: 0), .public)

    init(handle: UInt8?) {
        self.handle = handle
    }

    var data: [UInt8] { payload.bytes }
    var scanResponse: [UInt8] { response.bytes }
    var isIncomplete: Bool { payload.isIncomplete || response.isIncomplete }
    /// Address of the advertiser as scanners see it; nil if the advertising is anonymous.
    var sender: DeviceAddress? { properties.contains(.anonymous) ? nil : address }
    var isEnabled: Bool { nextEvent != nil }
    var isLimitReached: Bool { maximumEvents > 0 && eventCount >= maximumEvents }
    /// Time of the next advertising event or the end of advertising, whichever is earlier; nil if the set is disabled.
    var deadline: Duration? { nextEvent.map { min($0, end ?? $0) } }

    /// Returns the Event_Type of the set's reports, whose bits 0, 1, 2 and 4 equal those of the properties (7.7.65.13).
    func eventType(isResponse: Bool) -> UInt16 {
        properties.rawValue & 0b1_0111 | (isResponse ? UInt16(AdvertisingEventType.scanResponse.rawValue) : 0)
    }

    func isOver(now: Duration) -> Bool { isEnabled && end.map { $0 <= now } ?? false }
    func isDue(now: Duration) -> Bool { nextEvent.map { $0 <= now } ?? false }

    /// Returns true if the set answers a scan or connection request from `device`.
    func answers(_ device: DeviceAddress, _ policy: FilterPolicy, _ acceptList: FilterAcceptList) -> Bool {
        if properties.contains(.directed) { return peer == device }
        return !filterPolicy.contains(policy) || acceptList.contains(device)
    }

    func checkRoom(_ links: ControllerLinks) throws(Refusal) {
        if properties.contains(.connectable) { try links.checkRoom() }
    }

    // MARK: Events

    /// Enables the set until `duration` has passed or `maximumEvents` events have been sent.
    mutating func enable(
        as address: DeviceAddress,
        now: Duration,
        delay: Duration,
        duration: Duration? = nil,
        maximumEvents: UInt8 = 0
    ) {
        self.address = address
        self.maximumEvents = maximumEvents
        eventCount = 0
        nextEvent = now + delay
        let isHighDuty = properties.contains(.highDutyCycle)
        end = (duration ?? (isHighDuty ? Self.highDutyCycleDuration : nil)).map { now + $0 }
    }

    mutating func disable() {
        nextEvent = nil
    }

    /// Counts an advertising event, and schedules the next one after the interval and a random delay.
    ///
    /// With a high duty cycle, the next event follows after at most 3.75 ms, without a random delay (Core 6.0, Vol 6,
    /// Part B, 4.4.2.4.3).
    mutating func countEvent(now: Duration, delay: () -> Duration) {
        let isHighDuty = properties.contains(.highDutyCycle)
        nextEvent = now + (isHighDuty ? .microseconds(3750) : .microseconds(625) * Int(interval) + delay())
        eventCount &+= eventCount < .max ? 1 : 0
    }

    // MARK: Legacy commands

    /// Executes LE Set Advertising Parameters (Core 6.0, Vol 4, Part E, 7.8.5).
    mutating func setLegacyParameters(_ command: inout CommandReader) throws(Refusal) {
        guard !isEnabled else { throw .disallowed }
        var set = self
        let minimum = UInt32(try command.readUInt16())
        let maximum = UInt32(try command.readUInt16())
        guard let properties = Properties(legacyType: try command.readUInt8()) else { throw .invalid }
        set.properties = properties
        try set.setInterval(minimum, maximum, in: Self.legacyIntervals)
        set.ownAddressType = try command.readAddressType()
        set.peer = try command.readDevice()
        _ = try command.readUInt8(in: Self.channels)
        set.filterPolicy = .init(rawValue: try command.readUInt8(in: 0...3))
        self = set
    }

    /// Sets the interval requested by the host, which does not apply to high duty cycle advertising.
    private mutating func setInterval(
        _ minimum: UInt32,
        _ maximum: UInt32,
        in range: ClosedRange<UInt32>
    ) throws(Refusal) {
        guard !properties.contains(.highDutyCycle) else { return }
        guard range.contains(minimum), range.contains(maximum), minimum <= maximum else { throw .invalid }
        interval = minimum
    }

    /// Executes LE Set Advertising Data or LE Set Scan Response Data (Core 6.0, Vol 4, Part E, 7.8.7 and 7.8.8).
    mutating func setLegacyData(_ command: inout CommandReader, isResponse: Bool) throws(Refusal) {
        let length = Int(try command.readUInt8())
        guard length <= Self.legacyDataLength else { throw .invalid }
        let bytes = [UInt8](try command.readBytes(Self.legacyDataLength).prefix(length))
        if isResponse { response.bytes = bytes } else { payload.bytes = bytes }
    }

    // MARK: Extended commands

    /// Executes LE Set Extended Advertising Parameters [v1], whose handle has already been read (Core 6.0, Vol 4, Part
    /// E, 7.8.53).
    mutating func setExtendedParameters(_ command: inout CommandReader) throws(Refusal) {
        guard !isEnabled else { throw .disallowed }
        var set = self
        set.properties = .init(rawValue: try command.readUInt16())
        guard set.properties.isValid else { throw .invalid }
        let minimum = try command.readUInt24()
        let maximum = try command.readUInt24()
        try set.setInterval(minimum, maximum, in: Self.extendedIntervals)
        _ = try command.readUInt8(in: Self.channels)
        set.ownAddressType = try command.readAddressType()
        set.peer = try command.readDevice()
        set.filterPolicy = .init(rawValue: try command.readUInt8(in: 0...3))
        let power = Int8(bitPattern: try command.readUInt8())
        guard power == Self.noPreferredPower || Self.powers.contains(power) else { throw .invalid }
        let primary = try command.readUInt8(in: Self.phys)
        _ = try command.readUInt8()
        let secondary = try command.readUInt8()
        guard primary == LEPHY.le1M.rawValue else { throw .unsupported }
        if !set.properties.contains(.legacy) {
            guard Self.phys.contains(secondary) else { throw .invalid }
            guard secondary == LEPHY.le1M.rawValue else { throw .unsupported }
        }
        set.sid = try command.readUInt8(in: 0x00...0x0F)
        set.reportsScanRequests = try command.readUInt8(in: 0...1) == 1
        // Rejects properties that would make the set's existing data too long.
        let length = max(set.data.count, set.scanResponse.count)
        guard !set.properties.contains(.legacy) || length <= Self.legacyDataLength else { throw .invalid }
        self = set
    }

    /// Executes LE Set Advertising Set Random Address, whose handle has already been read (Core 6.0, Vol 4, Part E,
    /// 7.8.52).
    mutating func setRandomAddress(_ command: inout CommandReader) throws(Refusal) {
        guard !isEnabled || !properties.contains(.connectable) else { throw .disallowed }
        randomAddress = try command.readAddress()
    }

    /// Executes LE Set Extended Advertising Data or LE Set Extended Scan Response Data, whose handle has already been
    /// read (Core 6.0, Vol 4, Part E, 7.8.54 and 7.8.55).
    mutating func setExtendedData(_ command: inout CommandReader, isResponse: Bool) throws(Refusal) {
        guard let operation = DataOperation(rawValue: try command.readUInt8()) else { throw .invalid }
        _ = try command.readUInt8(in: 0...1)
        let part = try command.readBytes(Int(try command.readUInt8()))
        try command.expectEnd()
        guard operation != .unchanged || !isResponse else { throw .invalid }
        let isWhole = operation == .complete || operation == .unchanged
        guard isWhole || !isEnabled else { throw .disallowed }
        guard isWhole || (!properties.contains(.legacy) && !part.isEmpty) else { throw .invalid }
        if operation == .unchanged {
            guard isEnabled, !properties.contains(.legacy), part.isEmpty, !data.isEmpty else { throw .invalid }
            return
        }
        let before = isResponse ? response : payload
        let isContinued = operation == .intermediate || operation == .last
        guard !isContinued || before.isIncomplete else { throw .invalid }
        let bytes = (isContinued ? before.bytes : []) + part
        if properties.contains(.legacy) {
            guard bytes.count <= Self.legacyDataLength else { throw .invalid }
        } else {
            guard bytes.count <= Self.extendedDataLength else { throw .memoryCapacityExceeded }
            // Scannable extended PDUs have data only in the scan response; all other extended PDUs have no scan
            // response.
            guard bytes.isEmpty || properties.contains(.scannable) == isResponse else { throw .invalid }
        }
        let after = Payload(bytes: bytes, isIncomplete: operation == .first || operation == .intermediate)
        if isResponse { response = after } else { payload = after }
    }
}

extension AdvertisingSet.Properties {
    /// Converts a legacy command's Advertising_Type (7.8.5); fails for an invalid value.
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
}
