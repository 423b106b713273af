// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension VirtualController {
    /// The advertising channels 37, 38 and 39 (Core 6.0, Vol 4, Part E, 7.8.5, Advertising_Channel_Map).
    static let advertisingChannels: ClosedRange<UInt8> = 0x01...0x07
    /// The longest random delay between two events (Core 6.0, Vol 6, Part B, 4.4.2.2.1).
    private static let maximumDelay: Int64 = 10_000

    func place(ofSet handle: UInt8?) -> Int? {
        state.sets.firstIndex { $0.handle == handle }
    }

    /// The index of the legacy commands' only set, which is made on first use.
    private func placeOfLegacySet() -> Int {
        if let place = place(ofSet: nil) { return place }
        state.sets.append(AdvertisingSet(handle: nil))
        return state.sets.count - 1
    }

    /// LE Set Advertising Parameters (Core 6.0, Vol 4, Part E, 7.8.5).
    func setAdvertisingParameters(_ parameters: inout CommandParameters) throws(Refusal) {
        let place = placeOfLegacySet()
        var set = state.sets[place]
        guard !set.isEnabled else { throw .disallowed }
        let minimum = try parameters.readUInt16()
        let maximum = try parameters.readUInt16()
        guard let properties = AdvertisingSet.Properties(legacyType: try parameters.readUInt8()) else {
            throw .invalid
        }
        set.properties = properties
        if !properties.contains(.highDutyCycle) {
            // The intervals of 7.8.5; high duty cycle has none.
            guard (0x0020...0x4000).contains(minimum), (0x0020...0x4000).contains(maximum), minimum <= maximum else {
                throw .invalid
            }
            set.interval = UInt32(minimum)
        }
        set.ownAddressType = try parameters.readAddressType()
        let peerType = try parameters.readAddressType()
        set.peer = DeviceAddress(try parameters.readAddress(), peerType)
        _ = try parameters.readUInt8(in: Self.advertisingChannels)
        set.filterPolicy = .init(rawValue: try parameters.readUInt8(in: 0...3))
        state.sets[place] = set
    }

    /// LE Set Advertising Data, LE Set Scan Response Data (Core 6.0, Vol 4, Part E, 7.8.7 and 7.8.8).
    func setAdvertisingData(_ parameters: inout CommandParameters, isResponse: Bool) throws(Refusal) {
        let length = Int(try parameters.readUInt8())
        guard length <= Limit.legacyData else { throw .invalid }
        let field = try parameters.readBytes(Limit.legacyData)
        let place = placeOfLegacySet()
        if isResponse {
            state.sets[place].scanResponse = [UInt8](field.prefix(length))
        } else {
            state.sets[place].data = [UInt8](field.prefix(length))
        }
    }

    /// LE Set Advertising Enable (Core 6.0, Vol 4, Part E, 7.8.9).
    func setAdvertisingEnable(_ parameters: inout CommandParameters) throws(Refusal) {
        let isEnabled = try parameters.readUInt8(in: 0...1) == 1
        let place = placeOfLegacySet()
        guard isEnabled else {
            state.sets[place].nextEvent = nil
            return
        }
        guard !state.sets[place].isEnabled else { return }
        let address = try ownAddress(state.sets[place].ownAddressType, random: state.randomAddress)
        try enable(place, as: address, for: nil, maximumEvents: 0)
    }

    func checkRoom(_ set: AdvertisingSet) throws(Refusal) {
        guard !set.properties.contains(.connectable) || connectionCount < Int(configuration.maximumConnections) else {
            throw Refusal(status: .connectionLimitExceeded)
        }
    }

    /// Enables a set, whose first event is within 10 ms.
    func enable(
        _ place: Int,
        as address: DeviceAddress,
        for duration: Duration?,
        maximumEvents: UInt8
    ) throws(Refusal) {
        guard let radio else { return }
        try checkRoom(state.sets[place])
        state.sets[place].address = address
        state.sets[place].nextEvent = radio.now + Self.delay(radio)
        let isHighDuty = state.sets[place].properties.contains(.highDutyCycle)
        let end = duration ?? (isHighDuty ? AdvertisingSet.highDutyCycleDuration : nil)
        state.sets[place].end = end.map { radio.now + $0 }
        state.sets[place].maximumEvents = maximumEvents
        state.sets[place].eventCount = 0
    }

    private static func delay(_ radio: VirtualRadio) -> Duration {
        .microseconds(radio.random(in: 0...maximumDelay))
    }

    /// Carries out the first due action of advertising: an end, or an event.
    func expireAdvertising(_ radio: VirtualRadio) {
        let now = radio.now
        if let place = state.sets.firstIndex(where: { $0.isEnabled && ($0.end ?? now + .seconds(1)) <= now }) {
            endAdvertising(place, .advertisingTimeout)
        } else if let place = state.sets.firstIndex(where: { ($0.nextEvent ?? now + .seconds(1)) <= now }) {
            advertise(place, radio)
        }
    }

    /// Ends a set that nobody has connected to (Core 6.0, Vol 4, Part E, 7.7.65.18; 7.8.9 for the legacy commands).
    private func endAdvertising(_ place: Int, _ status: HCIStatus) {
        let set = state.sets[place]
        state.sets[place].nextEvent = nil
        guard let handle = set.handle else {
            emitConnectionFailure(status, role: .peripheral)
            return
        }
        emit(.advertisingSetTerminated, [status.rawValue, handle, 0x00, 0x00, set.eventCount])
    }

    /// Sends one advertising event: every scanner receives it, and one initiator may connect.
    private func advertise(_ place: Int, _ radio: VirtualRadio) {
        let set = state.sets[place]
        let isHighDuty = set.properties.contains(.highDutyCycle)
        state.sets[place].nextEvent = radio.now + set.period + (isHighDuty ? .zero : Self.delay(radio))
        state.sets[place].eventCount &+= set.eventCount < .max ? 1 : 0
        for other in radio.controllers where radio.isInRange(self, other) {
            other.hear(set, from: self, radio)
        }
        if set.properties.contains(.connectable) {
            for other in radio.controllers where radio.isInRange(self, other) {
                if other.connectIfWanted(to: set, of: self, radio) { return }
            }
        }
        if set.maximumEvents > 0, state.sets[place].eventCount >= set.maximumEvents {
            endAdvertising(place, .limitReached)
        }
    }

    /// True where a set answers a scan request or a connection request from a device.
    func answers(_ device: DeviceAddress, _ set: AdvertisingSet, _ policy: AdvertisingSet.FilterPolicy) -> Bool {
        if set.properties.contains(.directed) { return set.peer == device }
        return !set.filterPolicy.contains(policy) || state.acceptList.contains(device)
    }

    /// Notes a scan request, and reports it where the host asked for that (LE Scan Request Received) (Core 6.0, Vol 4,
    /// Part E, 7.7.65.19).
    func noteScanRequest(_ set: AdvertisingSet, from scanner: DeviceAddress) {
        guard let handle = set.handle, set.reportsScanRequests else { return }
        emit(.scanRequestReceived, ByteWriter.bytes(handle, scanner.type.rawValue, scanner.address))
    }

    /// Ends a set because a device has connected to it; the event follows that of the connection (Core 6.0, Vol 4, Part
    /// E, 7.7.65.18).
    func endAdvertising(handle: UInt8?, connection: UInt16) {
        guard let place = place(ofSet: handle) else { return }
        state.sets[place].nextEvent = nil
        guard let handle else { return }
        emit(.advertisingSetTerminated, ByteWriter.bytes(HCIStatus.success.rawValue, handle, connection, UInt8(0)))
    }
}

extension LESubevent {
    /// LE Scan Request Received (7.7.65.19).
    static let scanRequestReceived = LESubevent(rawValue: 0x13)
}
