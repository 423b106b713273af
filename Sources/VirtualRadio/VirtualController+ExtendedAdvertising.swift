// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension VirtualController {
    /// The handles of advertising sets (Core 6.0, Vol 4, Part E, 7.8.53).
    private static let handles: ClosedRange<UInt8> = 0x00...0xEF
    /// The longest interval of 7.8.53, in units of 0.625 ms; the shortest is 20 ms.
    private static let extendedIntervals: ClosedRange<UInt32> = 0x0000_0020...0x00FF_FFFF
    /// The powers of 7.8.53 in dBm; 127 stands for "no preference".
    private static let powers: ClosedRange<Int8> = -127...20
    private static let noPreferredPower: Int8 = 127
    /// The physical layer of 1 Mbit/s, the only one here.
    private static let phy1M: UInt8 = 0x01
    /// The physical layers that exist.
    private static let phys: ClosedRange<UInt8> = 0x01...0x03

    private func placeOfSet(_ parameters: inout CommandParameters) throws(Refusal) -> Int {
        let handle = try parameters.readUInt8(in: Self.handles)
        guard let place = place(ofSet: handle) else { throw .unknownAdvertisingSet }
        return place
    }

    /// LE Set Extended Advertising Parameters [v1]; returns the power (Core 6.0, Vol 4, Part E, 7.8.53).
    func setExtendedAdvertisingParameters(_ parameters: inout CommandParameters) throws(Refusal) -> [UInt8] {
        let handle = try parameters.readUInt8(in: Self.handles)
        let place = place(ofSet: handle)
        var set = place.map { state.sets[$0] } ?? AdvertisingSet(handle: handle)
        guard !set.isEnabled else { throw .disallowed }
        set.properties = .init(rawValue: try parameters.readUInt16())
        try Self.check(set.properties)
        let minimum = try parameters.readUInt24()
        let maximum = try parameters.readUInt24()
        if !set.properties.contains(.highDutyCycle) {
            guard Self.extendedIntervals.contains(minimum), Self.extendedIntervals.contains(maximum),
                minimum <= maximum
            else { throw .invalid }
            set.interval = minimum
        }
        _ = try parameters.readUInt8(in: Self.advertisingChannels)
        set.ownAddressType = try parameters.readAddressType()
        let peerType = try parameters.readAddressType()
        set.peer = DeviceAddress(try parameters.readAddress(), peerType)
        set.filterPolicy = .init(rawValue: try parameters.readUInt8(in: 0...3))
        let power = Int8(bitPattern: try parameters.readUInt8())
        guard power == Self.noPreferredPower || Self.powers.contains(power) else { throw .invalid }
        let primary = try parameters.readUInt8(in: Self.phys)
        _ = try parameters.readUInt8()
        let secondary = try parameters.readUInt8()
        guard primary == Self.phy1M else { throw .unsupported }
        if !set.properties.contains(.legacy) {
            guard Self.phys.contains(secondary) else { throw .invalid }
            guard secondary == Self.phy1M else { throw .unsupported }
        }
        set.sid = try parameters.readUInt8(in: 0x00...0x0F)
        set.reportsScanRequests = try parameters.readUInt8(in: 0...1) == 1
        // A kind that the set's data does not fit is refused.
        guard !set.properties.contains(.legacy) || max(set.data.count, set.scanResponse.count) <= Limit.legacyData
        else {
            throw .invalid
        }
        if let place {
            state.sets[place] = set
        } else {
            guard state.sets.count < Int(configuration.advertisingSetCount) else { throw .memoryCapacityExceeded }
            state.sets.append(set)
        }
        return [Identity.txPower]
    }

    private static func check(_ properties: AdvertisingSet.Properties) throws(Refusal) {
        guard AdvertisingSet.Properties.all.isSuperset(of: properties) else { throw .invalid }
        if properties.contains(.legacy) {
            guard AdvertisingSet.Properties.legacyKinds.contains(properties) else { throw .invalid }
        } else {
            // Extended PDUs are connectable or scannable, never both, and high duty cycle is for legacy PDUs.
            guard !properties.isSuperset(of: [.connectable, .scannable]), !properties.contains(.highDutyCycle),
                !properties.contains(.anonymous) || properties.isDisjoint(with: [.connectable, .scannable])
            else { throw .invalid }
        }
    }

    /// LE Set Advertising Set Random Address (Core 6.0, Vol 4, Part E, 7.8.52).
    func setAdvertisingSetRandomAddress(_ parameters: inout CommandParameters) throws(Refusal) {
        let place = try placeOfSet(&parameters)
        let set = state.sets[place]
        guard !set.isEnabled || !set.properties.contains(.connectable) else { throw .disallowed }
        state.sets[place].randomAddress = try parameters.readAddress()
    }

    /// The values of Operation (7.8.54).
    private enum DataOperation: UInt8 {
        case intermediate = 0
        case first = 1
        case last = 2
        case complete = 3
        case unchanged = 4
    }

    /// LE Set Extended Advertising Data, LE Set Extended Scan Response Data (Core 6.0, Vol 4, Part E, 7.8.54 and
    /// 7.8.55).
    func setExtendedAdvertisingData(_ parameters: inout CommandParameters, isResponse: Bool) throws(Refusal) {
        let place = try placeOfSet(&parameters)
        var set = state.sets[place]
        guard let operation = DataOperation(rawValue: try parameters.readUInt8()) else { throw .invalid }
        _ = try parameters.readUInt8(in: 0...1)
        let part = try parameters.readBytes(Int(try parameters.readUInt8()))
        try parameters.expectEnd()
        guard operation != .unchanged || !isResponse else { throw .invalid }
        let isWhole = operation == .complete || operation == .unchanged
        guard isWhole || !set.isEnabled else { throw .disallowed }
        guard isWhole || (!set.properties.contains(.legacy) && !part.isEmpty) else { throw .invalid }
        if operation == .unchanged {
            guard set.isEnabled, !set.properties.contains(.legacy), part.isEmpty, !set.data.isEmpty else {
                throw .invalid
            }
            return
        }
        let isContinued = operation == .intermediate || operation == .last
        let before = isContinued ? (isResponse ? set.scanResponse : set.data) : []
        let isIncomplete = isResponse ? set.isScanResponseIncomplete : set.isDataIncomplete
        guard !isContinued || isIncomplete else { throw .invalid }
        let data = before + part
        try Self.check(data, set.properties, isResponse: isResponse)
        if isResponse {
            set.scanResponse = data
            set.isScanResponseIncomplete = operation == .first || operation == .intermediate
        } else {
            set.data = data
            set.isDataIncomplete = operation == .first || operation == .intermediate
        }
        state.sets[place] = set
    }

    private static func check(
        _ data: [UInt8],
        _ properties: AdvertisingSet.Properties,
        isResponse: Bool
    ) throws(Refusal) {
        guard properties.contains(.legacy) else {
            guard data.count <= Limit.extendedData else { throw .memoryCapacityExceeded }
            // An extended PDU that is scannable has data in its response only, and no other has a response.
            guard data.isEmpty || properties.contains(.scannable) == isResponse else { throw .invalid }
            return
        }
        guard data.count <= Limit.legacyData else { throw .invalid }
    }

    /// LE Set Extended Advertising Enable (Core 6.0, Vol 4, Part E, 7.8.56).
    func setExtendedAdvertisingEnable(_ parameters: inout CommandParameters) throws(Refusal) {
        let isEnabled = try parameters.readUInt8(in: 0...1) == 1
        let count = Int(try parameters.readUInt8())
        var wanted: [(handle: UInt8, duration: UInt16, maximumEvents: UInt8)] = []
        for _ in 0..<count {
            let handle = try parameters.readUInt8(in: Self.handles)
            guard !wanted.contains(where: { $0.handle == handle }) else { throw .invalid }
            wanted.append((handle, try parameters.readUInt16(), try parameters.readUInt8()))
        }
        try parameters.expectEnd()
        guard isEnabled else {
            for place in state.sets.indices where count == 0 { state.sets[place].nextEvent = nil }
            for entry in wanted where place(ofSet: entry.handle) == nil { throw .unknownAdvertisingSet }
            for entry in wanted {
                if let place = place(ofSet: entry.handle) { state.sets[place].nextEvent = nil }
            }
            return
        }
        guard !wanted.isEmpty else { throw .invalid }
        var places: [(place: Int, address: DeviceAddress)] = []
        for entry in wanted {
            guard let place = place(ofSet: entry.handle) else { throw .unknownAdvertisingSet }
            let set = state.sets[place]
            guard !set.isDataIncomplete, !set.isScanResponseIncomplete else { throw .disallowed }
            // High duty cycle advertising lasts 1.28 s at most (7.8.56).
            guard !set.properties.contains(.highDutyCycle) || entry.duration <= 128 else { throw .invalid }
            try checkRoom(set)
            places.append((place, try ownAddress(set.ownAddressType, random: set.randomAddress)))
        }
        for (entry, target) in zip(wanted, places) {
            let duration = entry.duration == 0 ? nil : Duration.milliseconds(10) * Int(entry.duration)
            try enable(target.place, as: target.address, for: duration, maximumEvents: entry.maximumEvents)
        }
    }

    /// LE Remove Advertising Set (Core 6.0, Vol 4, Part E, 7.8.59).
    func removeAdvertisingSet(_ parameters: inout CommandParameters) throws(Refusal) {
        let place = try placeOfSet(&parameters)
        guard !state.sets[place].isEnabled else { throw .disallowed }
        state.sets.remove(at: place)
    }

    /// LE Clear Advertising Sets (Core 6.0, Vol 4, Part E, 7.8.60).
    func clearAdvertisingSets() throws(Refusal) {
        guard !state.sets.contains(where: { $0.isEnabled }) else { throw .disallowed }
        state.sets.removeAll()
    }
}
