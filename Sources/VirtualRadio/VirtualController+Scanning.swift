// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension VirtualController {
    /// The intervals of the legacy commands (Core 6.0, Vol 4, Part E, 7.8.10) and of the extended ones (7.8.64).
    static let legacyScanIntervals: ClosedRange<UInt16> = 0x0004...0x4000
    static let extendedScanIntervals: ClosedRange<UInt16> = 0x0004...0xFFFF
    /// The bits of Scanning_PHYs and Initiating_PHYs.
    enum PHYBit {
        static let le1M: UInt8 = 1 << 0
        static let le2M: UInt8 = 1 << 1
        static let leCoded: UInt8 = 1 << 2
    }

    /// LE Set Scan Parameters (Core 6.0, Vol 4, Part E, 7.8.10).
    func setScanParameters(_ parameters: inout CommandParameters) throws(Refusal) {
        guard !state.scan.isEnabled else { throw .disallowed }
        var scan = state.scan
        scan.isExtended = false
        scan.isActive = try parameters.readUInt8(in: 0...1) == 1
        scan.window = try ScanWindow(&parameters, in: Self.legacyScanIntervals)
        scan.ownAddressType = try parameters.readAddressType()
        scan.usesAcceptList = try parameters.readUInt8(in: 0...3) & 1 != 0
        state.scan = scan
    }

    /// LE Set Scan Enable (Core 6.0, Vol 4, Part E, 7.8.11).
    func setScanEnable(_ parameters: inout CommandParameters) throws(Refusal) {
        let isEnabled = try parameters.readUInt8(in: 0...1) == 1
        let filtersDuplicates = try parameters.readUInt8(in: 0...1) == 1
        guard isEnabled else { return stopScan() }
        try startScan(filtersDuplicates: filtersDuplicates, duration: .zero, period: .zero, forgets: false)
    }

    /// LE Set Extended Scan Parameters (Core 6.0, Vol 4, Part E, 7.8.64).
    func setExtendedScanParameters(_ parameters: inout CommandParameters) throws(Refusal) {
        guard !state.scan.isEnabled else { throw .disallowed }
        var scan = state.scan
        scan.isExtended = true
        scan.ownAddressType = try parameters.readAddressType()
        scan.usesAcceptList = try parameters.readUInt8(in: 0...3) & 1 != 0
        let phys = try parameters.readUInt8()
        // Long range is a feature that this controller does not have.
        guard phys == PHYBit.le1M else {
            throw phys & ~(PHYBit.le1M | PHYBit.leCoded) == 0 && phys != 0 ? .unsupported : .invalid
        }
        scan.isActive = try parameters.readUInt8(in: 0...1) == 1
        scan.window = try ScanWindow(&parameters, in: Self.extendedScanIntervals)
        try parameters.expectEnd()
        state.scan = scan
    }

    /// LE Set Extended Scan Enable (Core 6.0, Vol 4, Part E, 7.8.65).
    func setExtendedScanEnable(_ parameters: inout CommandParameters) throws(Refusal) {
        let isEnabled = try parameters.readUInt8(in: 0...1) == 1
        let filter = try parameters.readUInt8(in: 0...2)
        let duration = Duration.milliseconds(10) * Int(try parameters.readUInt16())
        let period = Duration.milliseconds(1280) * Int(try parameters.readUInt16())
        guard isEnabled else { return stopScan() }
        guard period == .zero ? filter < 2 : (duration > .zero && duration < period) else { throw .invalid }
        state.scan.isExtended = true
        try startScan(filtersDuplicates: filter > 0, duration: duration, period: period, forgets: filter == 2)
    }

    private func startScan(
        filtersDuplicates: Bool,
        duration: Duration,
        period: Duration,
        forgets: Bool
    ) throws(Refusal) {
        guard let radio else { return }
        state.scan.address = try ownAddress(state.scan.ownAddressType, random: state.randomAddress)
        if !state.scan.isEnabled { state.scan.window.start = radio.now }
        state.scan.isEnabled = true
        state.scan.isPausing = false
        state.scan.filtersDuplicates = filtersDuplicates
        state.scan.forgetsEachPeriod = forgets
        state.scan.heard.removeAll()
        state.scan.duration = duration
        state.scan.period = period
        state.scan.end = duration > .zero ? radio.now + duration : nil
        state.scan.nextPeriod = period > .zero ? radio.now + period : nil
    }

    private func stopScan() {
        state.scan.isEnabled = false
        state.scan.end = nil
        state.scan.nextPeriod = nil
        state.scan.heard.removeAll()
    }

    /// Ends or pauses a scan whose time is over, or begins its next period; false if nothing of that is due.
    func expireScan(now: Duration) -> Bool {
        if let end = state.scan.end, end <= now {
            state.scan.end = nil
            if state.scan.nextPeriod != nil {
                state.scan.isPausing = true
            } else {
                stopScan()
                emit(.scanTimeout, [])
            }
            return true
        }
        guard let next = state.scan.nextPeriod, next <= now else { return false }
        state.scan.isPausing = false
        state.scan.nextPeriod = next + state.scan.period
        state.scan.end = next + state.scan.duration
        if state.scan.forgetsEachPeriod { state.scan.heard.removeAll() }
        return true
    }

    /// Takes an advertising event of another controller: reports it, and asks for the response if there is one.
    func hear(_ set: AdvertisingSet, from advertiser: VirtualController, _ radio: VirtualRadio) {
        let scan = state.scan
        guard scan.isEnabled, !scan.isPausing, scan.window.isOpen(at: radio.now) else { return }
        let isLegacy = set.properties.contains(.legacy)
        guard isLegacy || scan.isExtended else { return }
        let isAnonymous = set.properties.contains(.anonymous)
        if scan.usesAcceptList {
            guard isAnonymous ? state.acceptsAnonymous : state.acceptList.contains(set.address) else { return }
        }
        if set.properties.contains(.directed), set.peer != scan.address { return }
        // Bits 0, 1, 2 and 4 of the properties are those of the report's Event_Type.
        let kind = set.properties.rawValue & 0b1_0111
        let hasData = isLegacy ? !set.properties.contains(.directed) : !set.properties.contains(.scannable)
        if isLegacy || hasData {
            report(kind, set, hasData ? set.data : [], advertiser, radio)
        }
        guard scan.isActive, set.properties.contains(.scannable),
            advertiser.answers(scan.address, set, .scansFromAcceptList)
        else { return }
        advertiser.noteScanRequest(set, from: scan.address)
        report(kind | UInt16(AdvertisingEventType.scanResponse.rawValue), set, set.scanResponse, advertiser, radio)
    }

    private func report(
        _ kind: UInt16,
        _ set: AdvertisingSet,
        _ data: [UInt8],
        _ advertiser: VirtualController,
        _ radio: VirtualRadio
    ) {
        guard !isCongested else {
            lostPackets &+= 1
            return
        }
        let isAnonymous = set.properties.contains(.anonymous)
        let sender = isAnonymous ? nil : set.address
        guard !state.scan.isDuplicate(.init(sender: sender, eventType: kind, sid: set.sid)) else { return }
        let rssi = UInt8(bitPattern: radio.signalStrength(self, advertiser))
        if state.scan.isExtended {
            emitExtendedReports(kind, set, sender, data, rssi)
        } else {
            emitLegacyReport(kind, set, data, rssi)
        }
    }

    /// LE Advertising Report (Core 6.0, Vol 4, Part E, 7.7.65.2).
    private func emitLegacyReport(_ kind: UInt16, _ set: AdvertisingSet, _ data: [UInt8], _ rssi: UInt8) {
        let type: UInt8
        if kind & UInt16(AdvertisingEventType.scanResponse.rawValue) != 0 {
            type = 0x04
        } else if set.properties.contains(.directed) {
            type = 0x01
        } else if set.properties.contains(.connectable) {
            type = 0x00
        } else {
            type = set.properties.contains(.scannable) ? 0x02 : 0x03
        }
        let count = UInt8(clamping: data.count)
        emit(
            .advertisingReport,
            ByteWriter.bytes(UInt8(1), type, set.address.type.rawValue, set.address.address, count, data, rssi)
        )
    }

    /// LE Extended Advertising Report, as many as the data needs (Core 6.0, Vol 4, Part E, 7.7.65.13).
    private func emitExtendedReports(
        _ kind: UInt16,
        _ set: AdvertisingSet,
        _ sender: DeviceAddress?,
        _ data: [UInt8],
        _ rssi: UInt8
    ) {
        let isLegacy = set.properties.contains(.legacy)
        var rest = data[...]
        repeat {
            let part = rest.prefix(Limit.reportData)
            rest = rest.dropFirst(Limit.reportData)
            // Bits 5 and 6: 0 for all of the data, 1 when more will come.
            let status = rest.isEmpty ? 0 : UInt16(AdvertisingDataStatus.moreToCome.rawValue) &<< 5
            let senderAddress = sender?.address ?? BluetoothAddress(rawValue: 0)
            // No set for a legacy PDU; no power unless the PDU names it.
            let secondary = isLegacy ? LEPHY.none.rawValue : LEPHY.le1M.rawValue
            let power = set.properties.contains(.includesTxPower) ? Identity.txPower : 0x7F
            let target = set.properties.contains(.directed) ? set.peer : nil
            let head = ByteWriter.bytes(UInt8(1), kind | status, sender?.type.rawValue ?? 0xFF, senderAddress)
            let sid = isLegacy ? 0xFF : set.sid
            let radio = ByteWriter.bytes(LEPHY.le1M.rawValue, secondary, sid, power, rssi, UInt16(0))
            let direct = ByteWriter.bytes(target?.type.rawValue ?? 0, target?.address ?? BluetoothAddress(rawValue: 0))
            emit(.extendedAdvertisingReport, head + radio + direct + [UInt8(clamping: part.count)] + part)
        } while !rest.isEmpty
    }
}
