// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Initiator of a controller; it can have only one connection attempt at a time.
struct ControllerInitiator {
    struct Attempt {
        /// Device to connect to; nil for any device in the Filter Accept List.
        let peer: DeviceAddress?
        let window: ScanWindow
        let parameters: ConnectionParameters
        /// True if the attempt also responds to extended PDUs.
        let isExtended: Bool
        fileprivate(set) var address = DeviceAddress(BluetoothAddress(rawValue: 0), .public)
    }

    private var attempt: Attempt?

    var isActive: Bool { attempt != nil }
    /// True while the initiator connects to any device in the Filter Accept List.
    var usesAcceptList: Bool { attempt.map { $0.peer == nil } ?? false }

    /// Executes LE Create Connection (Core 6.0, Vol 4, Part E, 7.8.12).
    mutating func create(_ command: inout CommandReader) throws(Refusal) {
        let window = try ScanWindow(&command, in: ScanWindow.legacyIntervals)
        let usesAcceptList = try command.readUInt8(in: 0...1) == 1
        let peer = try command.readDevice(isIgnored: usesAcceptList)
        let ownType = try command.readAddressType()
        let parameters = try ConnectionParameters(&command)
        try begin(Attempt(peer: peer, window: window, parameters: parameters, isExtended: false), ownType, command)
    }

    /// Executes LE Extended Create Connection [v1] (Core 6.0, Vol 4, Part E, 7.8.66).
    mutating func createExtended(_ command: inout CommandReader) throws(Refusal) {
        let usesAcceptList = try command.readUInt8(in: 0...1) == 1
        let ownType = try command.readAddressType()
        let peer = try command.readDevice(isIgnored: usesAcceptList)
        try PHYBit.check(&command, known: PHYBit.le1M | PHYBit.le2M | PHYBit.leCoded)
        let window = try ScanWindow(&command, in: ScanWindow.extendedIntervals)
        let parameters = try ConnectionParameters(&command)
        try command.expectEnd()
        try begin(Attempt(peer: peer, window: window, parameters: parameters, isExtended: true), ownType, command)
    }

    private mutating func begin(_ new: Attempt, _ ownType: AddressType, _ command: CommandReader) throws(Refusal) {
        guard attempt == nil else { throw .disallowed }
        var new = new
        new.address = try command.ownAddress(ownType)
        try command.links.checkRoom()
        if let peer = new.peer, command.links.contains(peer) { throw Refusal(status: .connectionAlreadyExists) }
        attempt = new
    }

    /// Executes LE Create Connection Cancel, after which the attempt fails with Unknown Connection Identifier (Core
    /// 6.0, Vol 4, Part E, 7.8.13).
    mutating func cancel(_ output: inout ControllerOutput, now: Duration) throws(Refusal) {
        guard attempt != nil else { throw .disallowed }
        finish()
        output.emit(ConnectionCompletion(status: .unknownConnectionIdentifier, role: .central), now: now)
    }

    mutating func finish() {
        attempt = nil
    }

    /// Returns the pending attempt if it matches the advertising set that was just received; otherwise nil.
    func attempt(for set: AdvertisingSet, _ acceptList: FilterAcceptList, now: Duration) -> Attempt? {
        guard let attempt, attempt.window.isOpen(at: now) else { return nil }
        guard attempt.isExtended || set.properties.contains(.legacy) else { return nil }
        guard attempt.peer.map({ $0 == set.address }) ?? acceptList.contains(set.address) else { return nil }
        return attempt
    }
}
