// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// A connection that a host has asked for.
struct Initiation {
    /// The device to connect to; nil for any device in the Filter Accept List.
    var peer: DeviceAddress?
    var address: DeviceAddress
    var window: ScanWindow
    var parameters: ConnectionParameters
    /// True when extended PDUs are answered, too.
    var isExtended: Bool
}

extension VirtualController {
    /// The handles that connections may have (Core 6.0, Vol 4, Part E, 5.4.2).
    private static let handles: ClosedRange<UInt16> = 0x0040...0x0EFF

    /// LE Create Connection (Core 6.0, Vol 4, Part E, 7.8.12).
    func createConnection(_ parameters: inout CommandParameters) throws(Refusal) {
        let window = try ScanWindow(&parameters, in: Self.legacyScanIntervals)
        let usesAcceptList = try parameters.readUInt8(in: 0...1) == 1
        let peer = try Self.readPeer(&parameters, isIgnored: usesAcceptList)
        let ownType = try parameters.readAddressType()
        let request = try ConnectionParameters(&parameters)
        try Self.readEventLengths(&parameters)
        try initiate(to: peer, ownType, window, request, isExtended: false)
    }

    /// LE Extended Create Connection [v1] (Core 6.0, Vol 4, Part E, 7.8.66).
    func extendedCreateConnection(_ parameters: inout CommandParameters) throws(Refusal) {
        let usesAcceptList = try parameters.readUInt8(in: 0...1) == 1
        let ownType = try parameters.readAddressType()
        let peer = try Self.readPeer(&parameters, isIgnored: usesAcceptList)
        let phys = try parameters.readUInt8()
        guard phys != 0, phys & ~(PHYBit.le1M | PHYBit.le2M | PHYBit.leCoded) == 0 else { throw .invalid }
        guard phys == PHYBit.le1M else { throw .unsupported }
        let window = try ScanWindow(&parameters, in: Self.extendedScanIntervals)
        let request = try ConnectionParameters(&parameters)
        try Self.readEventLengths(&parameters)
        try parameters.expectEnd()
        try initiate(to: peer, ownType, window, request, isExtended: true)
    }

    /// Peer_Address_Type and Peer_Address, which mean nothing beside the Filter Accept List.
    private static func readPeer(
        _ parameters: inout CommandParameters,
        isIgnored: Bool
    ) throws(Refusal) -> DeviceAddress? {
        let value = try parameters.readUInt8()
        let address = try parameters.readAddress()
        if isIgnored { return nil }
        guard let type = AddressType(rawValue: value) else { throw .invalid }
        return DeviceAddress(address, type)
    }

    /// Min_CE_Length and Max_CE_Length: information for the controller that this one has no use for.
    static func readEventLengths(_ parameters: inout CommandParameters) throws(Refusal) {
        let minimum = try parameters.readUInt16()
        guard minimum <= (try parameters.readUInt16()) else { throw .invalid }
    }

    private func initiate(
        to peer: DeviceAddress?,
        _ ownType: AddressType,
        _ window: ScanWindow,
        _ request: ConnectionParameters,
        isExtended: Bool
    ) throws(Refusal) {
        guard let radio else { return }
        guard state.initiation == nil else { throw .disallowed }
        let address = try ownAddress(ownType, random: state.randomAddress)
        guard connectionCount < Int(configuration.maximumConnections) else {
            throw Refusal(status: .connectionLimitExceeded)
        }
        if let peer, isConnected(to: peer) { throw Refusal(status: .connectionAlreadyExists) }
        var window = window
        window.start = radio.now
        state.initiation = Initiation(
            peer: peer,
            address: address,
            window: window,
            parameters: request,
            isExtended: isExtended
        )
    }

    /// LE Create Connection Cancel: the attempt completes with Unknown Connection Identifier (Core 6.0, Vol 4, Part E,
    /// 7.8.13).
    func cancelConnection() throws(Refusal) {
        guard state.initiation != nil else { throw .disallowed }
        state.initiation = nil
        emitConnectionFailure(.unknownConnectionIdentifier, role: .central)
    }

    /// Connects to an advertiser that was just heard, if an attempt is for it and it answers; false if not.
    func connectIfWanted(to set: AdvertisingSet, of advertiser: VirtualController, _ radio: VirtualRadio) -> Bool {
        guard let initiation = state.initiation, initiation.window.isOpen(at: radio.now) else { return false }
        guard initiation.isExtended || set.properties.contains(.legacy) else { return false }
        guard initiation.peer.map({ $0 == set.address }) ?? state.acceptList.contains(set.address) else { return false }
        guard advertiser.answers(initiation.address, set, .connectionsFromAcceptList) else { return false }
        guard !isConnected(to: set.address), !advertiser.isConnected(to: initiation.address) else { return false }
        guard let handle = freeHandle(), let otherHandle = advertiser.freeHandle() else { return false }
        var parameters = initiation.parameters
        parameters.minimumInterval = parameters.maximumInterval
        let link = Link(
            central: .init(controller: self, handle: handle, address: initiation.address),
            peripheral: .init(controller: advertiser, handle: otherHandle, address: set.address),
            parameters: parameters,
            // The first packet follows 1.25 ms after the connection request (Core 6.0, Vol 6, Part B, 4.5.3).
            anchor: radio.now + .microseconds(1250)
        )
        radio.links.append(link)
        state.initiation = nil
        emitConnection(link, .central)
        advertiser.emitConnection(link, .peripheral)
        advertiser.endAdvertising(handle: set.handle, connection: otherHandle)
        return true
    }

    /// The number of this controller's connections.
    var connectionCount: Int { radio?.links.count { $0.role(of: self) != nil } ?? 0 }

    private func isConnected(to peer: DeviceAddress) -> Bool {
        radio?.links.contains { link in link.role(of: self).map { link[$0.other].address == peer } ?? false } ?? false
    }

    /// The lowest handle that no connection has; nil when there are as many connections as there may be.
    private func freeHandle() -> UInt16? {
        guard let radio, connectionCount < Int(configuration.maximumConnections) else { return nil }
        let used = Set(radio.links.compactMap { link in link.role(of: self).map { link[$0].handle } })
        return Self.handles.first { !used.contains($0) }
    }

    /// LE Enhanced Connection Complete [v1] where the host wants it, else LE Connection Complete (Core 6.0, Vol 4, Part
    /// E, 7.7.65.1 and 7.7.65.10).
    private func emitConnection(_ link: Link, _ role: ConnectionRole) {
        emitConnection(
            .success,
            handle: link[role].handle,
            role,
            peer: link[role.other].address,
            link.parameters,
            // The central's clock is within 50 ppm; for the central itself the field has no meaning.
            clockAccuracy: role == .peripheral ? 0x05 : 0x00
        )
    }

    /// Reports a failed attempt; all fields but the status and the role are zero.
    func emitConnectionFailure(_ status: HCIStatus, role: ConnectionRole) {
        emitConnection(
            status,
            handle: 0,
            role,
            peer: DeviceAddress(BluetoothAddress(rawValue: 0), .public),
            ConnectionParameters(minimumInterval: 0, maximumInterval: 0, latency: 0, supervisionTimeout: 0),
            clockAccuracy: 0
        )
    }

    private func emitConnection(
        _ status: HCIStatus,
        handle: UInt16,
        _ role: ConnectionRole,
        peer: DeviceAddress,
        _ parameters: ConnectionParameters,
        clockAccuracy: UInt8
    ) {
        let isEnhanced = isWanted(.enhancedConnectionComplete)
        // No resolvable private address was generated on either side.
        let generated = [UInt8](repeating: 0, count: isEnhanced ? 12 : 0)
        let peer = ByteWriter.bytes(role.rawValue, peer.type.rawValue, peer.address, generated)
        let timing = ByteWriter.bytes(parameters.maximumInterval, parameters.latency, parameters.supervisionTimeout)
        emit(
            isEnhanced ? .enhancedConnectionComplete : .connectionComplete,
            ByteWriter.bytes(status.rawValue, handle, peer, timing, clockAccuracy)
        )
    }
}
