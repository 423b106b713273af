// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Advertising sets of a controller.
///
/// There is a single set if the host uses the legacy commands; the extended commands can create several sets.
struct ControllerAdvertising {
    /// Maximum random delay between two advertising events, in microseconds (Core 6.0, Vol 6, Part B, 4.4.2.2.1).
    private static let maximumDelay: Int64 = 10_000
    /// Valid handles of advertising sets (Core 6.0, Vol 4, Part E, 7.8.53).
    private static let handles: ClosedRange<UInt8> = 0x00...0xEF

    private var sets: [AdvertisingSet] = []

    var usesAcceptList: Bool { sets.contains { $0.isEnabled && !$0.filterPolicy.isEmpty } }
    var isLegacyEnabled: Bool { sets.contains { $0.handle == nil && $0.isEnabled } }
    var deadline: Duration? { sets.reduce(nil) { .earliest($0, $1.deadline) } }

    private func place(of handle: UInt8?) throws(Refusal) -> Int {
        guard let place = sets.firstIndex(where: { $0.handle == handle }) else { throw .unknownAdvertisingSet }
        return place
    }

    private func readPlace(_ command: inout CommandReader) throws(Refusal) -> Int {
        try place(of: try command.readUInt8(in: Self.handles))
    }

    private static func delay(_ radio: VirtualRadio) -> Duration {
        .microseconds(radio.random(in: 0...maximumDelay))
    }

    // MARK: Events

    /// Performs the first due action: ends a set, or counts an advertising event and returns its set.
    mutating func expire(_ output: inout ControllerOutput, _ radio: VirtualRadio) -> AdvertisingSet? {
        let now = radio.now
        if let place = sets.firstIndex(where: { $0.isOver(now: now) }) {
            end(place, .advertisingTimeout, &output, now: now)
            return nil
        }
        guard let place = sets.firstIndex(where: { $0.isDue(now: now) }) else { return nil }
        sets[place].countEvent(now: now) { Self.delay(radio) }
        return sets[place]
    }

    /// Ends the set if it has sent its maximum number of events.
    mutating func finishEvent(of handle: UInt8?, _ output: inout ControllerOutput, now: Duration) {
        guard let place = try? place(of: handle), sets[place].isLimitReached else { return }
        end(place, .limitReached, &output, now: now)
    }

    /// Ends a set to which no device has connected (Core 6.0, Vol 4, Part E, 7.7.65.18; 7.8.9 for the legacy commands).
    private mutating func end(_ place: Int, _ status: HCIStatus, _ output: inout ControllerOutput, now: Duration) {
        sets[place].disable()
        guard let handle = sets[place].handle else {
            return output.emit(ConnectionCompletion(status: status, role: .peripheral), now: now)
        }
        output.emit(.setTerminated(status, handle, connection: 0, events: sets[place].eventCount), now: now)
    }

    /// Ends a set because a device has connected to it (Core 6.0, Vol 4, Part E, 7.7.65.18).
    ///
    /// The new connection must already have been reported to the host.
    mutating func end(_ handle: UInt8?, connection: UInt16, _ output: inout ControllerOutput, now: Duration) {
        guard let place = try? place(of: handle) else { return }
        sets[place].disable()
        guard let handle else { return }
        output.emit(.setTerminated(.success, handle, connection: connection, events: 0), now: now)
    }

    // MARK: Legacy commands

    /// Returns the index of the legacy commands' set, creating the set on first use.
    private mutating func legacyPlace() -> Int {
        if let place = try? place(of: nil) { return place }
        sets.append(AdvertisingSet(handle: nil))
        return sets.count - 1
    }

    mutating func setParameters(_ command: inout CommandReader) throws(Refusal) {
        try sets[legacyPlace()].setLegacyParameters(&command)
    }

    mutating func setData(_ command: inout CommandReader, isResponse: Bool) throws(Refusal) {
        try sets[legacyPlace()].setLegacyData(&command, isResponse: isResponse)
    }

    /// Executes LE Set Advertising Enable (Core 6.0, Vol 4, Part E, 7.8.9).
    mutating func setEnable(_ command: inout CommandReader) throws(Refusal) {
        let isEnabled = try command.readUInt8(in: 0...1) == 1
        let place = legacyPlace()
        guard isEnabled else { return sets[place].disable() }
        guard !sets[place].isEnabled else { return }
        let address = try command.ownAddress(sets[place].ownAddressType)
        try sets[place].checkRoom(command.links)
        sets[place].enable(as: address, now: command.now, delay: Self.delay(command.links.radio))
    }

    // MARK: Extended commands

    /// Executes LE Set Extended Advertising Parameters [v1], which creates a set for a new handle if there are fewer
    /// than `limit` sets.
    mutating func setExtendedParameters(_ command: inout CommandReader, limit: UInt8) throws(Refusal) {
        let handle = try command.readUInt8(in: Self.handles)
        if let place = try? place(of: handle) { return try sets[place].setExtendedParameters(&command) }
        var set = AdvertisingSet(handle: handle)
        try set.setExtendedParameters(&command)
        guard sets.count < Int(limit) else { throw .memoryCapacityExceeded }
        sets.append(set)
    }

    mutating func setRandomAddress(_ command: inout CommandReader) throws(Refusal) {
        try sets[readPlace(&command)].setRandomAddress(&command)
    }

    mutating func setExtendedData(_ command: inout CommandReader, isResponse: Bool) throws(Refusal) {
        try sets[readPlace(&command)].setExtendedData(&command, isResponse: isResponse)
    }

    /// Executes LE Set Extended Advertising Enable (Core 6.0, Vol 4, Part E, 7.8.56).
    mutating func setExtendedEnable(_ command: inout CommandReader) throws(Refusal) {
        let isEnabled = try command.readUInt8(in: 0...1) == 1
        let count = Int(try command.readUInt8())
        var wanted: [(handle: UInt8, duration: UInt16, maximumEvents: UInt8)] = []
        for _ in 0..<count {
            let handle = try command.readUInt8(in: Self.handles)
            guard !wanted.contains(where: { $0.handle == handle }) else { throw .invalid }
            wanted.append((handle, try command.readUInt16(), try command.readUInt8()))
        }
        try command.expectEnd()
        guard isEnabled else {
            let places = try wanted.map { entry throws(Refusal) in try place(of: entry.handle) }
            for place in count == 0 ? Array(sets.indices) : places { sets[place].disable() }
            return
        }
        guard !wanted.isEmpty else { throw .invalid }
        var places: [(place: Int, address: DeviceAddress)] = []
        for entry in wanted {
            let place = try place(of: entry.handle)
            let set = sets[place]
            guard !set.isIncomplete else { throw .disallowed }
            // High duty cycle advertising lasts at most 1.28 s, which is 128 units of 10 ms (7.8.56).
            guard !set.properties.contains(.highDutyCycle) || entry.duration <= 128 else { throw .invalid }
            try set.checkRoom(command.links)
            places.append((place, try command.ownAddress(set.ownAddressType, of: set)))
        }
        for (entry, target) in zip(wanted, places) {
            sets[target.place].enable(
                as: target.address,
                now: command.now,
                delay: Self.delay(command.links.radio),
                duration: entry.duration == 0 ? nil : .milliseconds(10) * Int(entry.duration),
                maximumEvents: entry.maximumEvents
            )
        }
    }

    /// Executes LE Remove Advertising Set (Core 6.0, Vol 4, Part E, 7.8.59).
    mutating func removeSet(_ command: inout CommandReader) throws(Refusal) {
        let place = try readPlace(&command)
        guard !sets[place].isEnabled else { throw .disallowed }
        sets.remove(at: place)
    }

    /// Executes LE Clear Advertising Sets (Core 6.0, Vol 4, Part E, 7.8.60).
    mutating func clearSets() throws(Refusal) {
        guard !sets.contains(where: { $0.isEnabled }) else { throw .disallowed }
        sets.removeAll()
    }
}
