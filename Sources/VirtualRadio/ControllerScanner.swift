// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Scanner of a controller, with its parameters, scan periods and duplicate filter.
struct ControllerScanner {
    /// Number of advertisements that the duplicate filter remembers.
    private static let capacity = 256

    /// Entry of the duplicate filter.
    private struct Heard: Equatable {
        var sender: DeviceAddress?
        var eventType: UInt16
        var sid: UInt8
    }

    private struct Parameters {
        var isActive = false
        var window = ScanWindow()
        var ownAddressType = AddressType.public
        var usesAcceptList = false
    }

    private var parameters = Parameters()
    /// True if the scan was configured with the extended commands: it receives extended PDUs and sends extended
    /// reports.
    private var isExtended = false
    private(set) var isEnabled = false
    private var address = DeviceAddress(BluetoothAddress(rawValue: 0), .public)
    private var filtersDuplicates = false
    /// Contents of the duplicate filter, oldest advertisement first.
    private var heard: [Heard] = []
    /// Time at which the scan ends, or pauses until `nextPeriod`; nil if neither is scheduled.
    private var end: Duration?
    private var nextPeriod: Duration?
    private var duration = Duration.zero
    private var period = Duration.zero
    private var forgetsEachPeriod = false
    /// True while the scan pauses until the next period.
    private var isPausing = false

    var usesAcceptList: Bool { isEnabled && parameters.usesAcceptList }
    var deadline: Duration? { .earliest(end, nextPeriod) }

    // MARK: Commands

    /// Executes LE Set Scan Parameters (Core 6.0, Vol 4, Part E, 7.8.10).
    mutating func setParameters(_ command: inout CommandReader) throws(Refusal) {
        guard !isEnabled else { throw .disallowed }
        parameters = Parameters(
            isActive: try command.readUInt8(in: 0...1) == 1,
            window: try ScanWindow(&command, in: ScanWindow.legacyIntervals),
            ownAddressType: try command.readAddressType(),
            usesAcceptList: try command.readUInt8(in: 0...3) & 1 != 0
        )
        isExtended = false
    }

    /// Executes LE Set Extended Scan Parameters (Core 6.0, Vol 4, Part E, 7.8.64).
    mutating func setExtendedParameters(_ command: inout CommandReader) throws(Refusal) {
        guard !isEnabled else { throw .disallowed }
        var new = Parameters()
        new.ownAddressType = try command.readAddressType()
        new.usesAcceptList = try command.readUInt8(in: 0...3) & 1 != 0
        try PHYBit.check(&command, known: PHYBit.le1M | PHYBit.leCoded)
        new.isActive = try command.readUInt8(in: 0...1) == 1
        new.window = try ScanWindow(&command, in: ScanWindow.extendedIntervals)
        try command.expectEnd()
        parameters = new
        isExtended = true
    }

    /// Executes LE Set Scan Enable (Core 6.0, Vol 4, Part E, 7.8.11).
    mutating func setEnable(_ command: inout CommandReader) throws(Refusal) {
        let isEnabled = try command.readUInt8(in: 0...1) == 1
        let filter = try command.readUInt8(in: 0...1)
        guard isEnabled else { return stop() }
        try start(command, filter: filter, duration: .zero, period: .zero)
    }

    /// Executes LE Set Extended Scan Enable (Core 6.0, Vol 4, Part E, 7.8.65).
    mutating func setExtendedEnable(_ command: inout CommandReader) throws(Refusal) {
        let isEnabled = try command.readUInt8(in: 0...1) == 1
        let filter = try command.readUInt8(in: 0...2)
        let duration = Duration.milliseconds(10) * Int(try command.readUInt16())
        let period = Duration.milliseconds(1280) * Int(try command.readUInt16())
        guard isEnabled else { return stop() }
        guard period == .zero ? filter < 2 : (duration > .zero && duration < period) else { throw .invalid }
        isExtended = true
        try start(command, filter: filter, duration: duration, period: period)
    }

    /// Starts a scan.
    ///
    /// `filter` is the Filter_Duplicates parameter: 0 disables the duplicate filter, 1 enables it, and 2 also resets it
    /// in each period (Core 6.0, Vol 4, Part E, 7.8.65).
    private mutating func start(
        _ command: CommandReader,
        filter: UInt8,
        duration: Duration,
        period: Duration
    ) throws(Refusal) {
        let now = command.now
        address = try command.ownAddress(parameters.ownAddressType)
        if !isEnabled { parameters.window.start = now }
        isEnabled = true
        isPausing = false
        filtersDuplicates = filter > 0
        forgetsEachPeriod = filter == 2
        heard.removeAll()
        self.duration = duration
        self.period = period
        end = duration > .zero ? now + duration : nil
        nextPeriod = period > .zero ? now + period : nil
    }

    private mutating func stop() {
        isEnabled = false
        end = nil
        nextPeriod = nil
        heard.removeAll()
    }

    /// Ends or pauses a scan whose duration is over, or starts the next scan period; returns false if nothing is due.
    mutating func expire(_ output: inout ControllerOutput, now: Duration) -> Bool {
        if let end, end <= now {
            self.end = nil
            if nextPeriod != nil {
                isPausing = true
            } else {
                stop()
                output.emit(ControllerEvent(.scanTimeout, []), now: now)
            }
            return true
        }
        guard let next = nextPeriod, next <= now else { return false }
        isPausing = false
        nextPeriod = next + period
        end = next + duration
        if forgetsEachPeriod { heard.removeAll() }
        return true
    }

    // MARK: Reports

    /// Reports an advertising event and, if `answers` returns true, the scan response.
    mutating func hear(
        _ set: AdvertisingSet,
        _ acceptList: FilterAcceptList,
        _ output: inout ControllerOutput,
        now: Duration,
        strength: () -> Int8,
        answers: (DeviceAddress) -> Bool
    ) {
        guard isEnabled, !isPausing, parameters.window.isOpen(at: now) else { return }
        let isLegacy = set.properties.contains(.legacy)
        guard isLegacy || isExtended else { return }
        guard !parameters.usesAcceptList || acceptList.contains(set.sender) else { return }
        let isDirected = set.properties.contains(.directed)
        let isScannable = set.properties.contains(.scannable)
        guard !isDirected || set.peer == address else { return }
        if isLegacy || !isScannable {
            let data = isLegacy && isDirected ? [] : set.data
            report(set, data, isResponse: false, &output, now: now, strength)
        }
        guard parameters.isActive, isScannable, answers(address) else { return }
        report(set, set.scanResponse, isResponse: true, &output, now: now, strength)
    }

    private mutating func report(
        _ set: AdvertisingSet,
        _ data: [UInt8],
        isResponse: Bool,
        _ output: inout ControllerOutput,
        now: Duration,
        _ strength: () -> Int8
    ) {
        guard !output.isCongested else { return output.countLostPacket() }
        let type = set.eventType(isResponse: isResponse)
        guard !isDuplicate(Heard(sender: set.sender, eventType: type, sid: set.sid)) else { return }
        let rssi = UInt8(bitPattern: strength())
        let report = AdvertisingReport(set: set, isResponse: isResponse, data: data, rssi: rssi)
        for event in isExtended ? report.extendedEvents : [report.legacyEvent] { output.emit(event, now: now) }
    }

    /// Returns true if the advertisement was reported before; otherwise adds it to the duplicate filter.
    private mutating func isDuplicate(_ event: Heard) -> Bool {
        guard filtersDuplicates else { return false }
        guard !heard.contains(event) else { return true }
        if heard.count >= Self.capacity { heard.removeFirst() }
        heard.append(event)
        return false
    }
}
