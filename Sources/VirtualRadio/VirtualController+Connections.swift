// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension VirtualController {
    /// The reasons that a host may give (Core 6.0, Vol 4, Part E, 7.1.6).
    private static let disconnectionReasons: Set<UInt8> = [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B]

    /// The link with a handle and this controller's role on it.
    func link(_ handle: UInt16) throws(Refusal) -> (link: Link, role: ConnectionRole) {
        for link in radio?.links ?? [] {
            if let role = link.role(of: self), link[role].handle == handle { return (link, role) }
        }
        throw .unknownConnection
    }

    /// Reads a handle and finds its link.
    func link(_ parameters: inout CommandParameters) throws(Refusal) -> (link: Link, role: ConnectionRole) {
        try link(try parameters.readUInt16() & 0x0FFF)
    }

    /// Puts an operation before the next connection event; not while the link is being ended, and not twice.
    func add(_ operation: Link.Operation, _ link: Link, _ role: ConnectionRole) throws(Refusal) {
        let isEnding = link[role].operations.contains { if case .terminate = $0 { true } else { false } }
        guard !isEnding, !link[role].operations.contains(operation) else { throw .disallowed }
        link[role].operations.append(operation)
        if let radio { link.wake(now: radio.now) }
    }

    /// Disconnect.
    ///
    /// Core 6.0, Vol 4, Part E, 7.1.6.
    func disconnect(_ parameters: inout CommandParameters) throws(Refusal) {
        let (link, role) = try link(&parameters)
        let reason = try parameters.readUInt8()
        guard Self.disconnectionReasons.contains(reason) else { throw .invalid }
        try add(.terminate(HCIStatus(rawValue: reason)), link, role)
    }

    /// Read Remote Version Information, LE Read Remote Features.
    ///
    /// Core 6.0, Vol 4, Part E, 7.1.23 and 7.8.21.
    func begin(_ operation: Link.Operation, _ parameters: inout CommandParameters) throws(Refusal) {
        let (link, role) = try link(&parameters)
        try add(operation, link, role)
    }

    /// LE Connection Update: the central sets the parameters, the peripheral asks for them.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.18.
    func updateConnection(_ parameters: inout CommandParameters) throws(Refusal) {
        let (link, role) = try link(&parameters)
        let request = try ConnectionParameters(&parameters)
        try Self.readEventLengths(&parameters)
        guard !link.isChanging else { throw .disallowed }
        try add(role == .central ? .update(request) : .requestUpdate(request), link, role)
    }

    /// LE Remote Connection Parameter Request Reply.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.31.
    func acceptParameterRequest(_ parameters: inout CommandParameters) throws(Refusal) -> [UInt8] {
        let (link, role) = try link(&parameters)
        let request = try ConnectionParameters(&parameters)
        try Self.readEventLengths(&parameters)
        try answer(.update(request), link, role)
        return Self.bytes(link[role].handle)
    }

    /// LE Remote Connection Parameter Request Negative Reply.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.32.
    func refuseParameterRequest(_ parameters: inout CommandParameters) throws(Refusal) -> [UInt8] {
        let (link, role) = try link(&parameters)
        let reason = HCIStatus(rawValue: try parameters.readUInt8())
        try answer(.rejectUpdate(reason), link, role)
        return Self.bytes(link[role].handle)
    }

    private func answer(_ operation: Link.Operation, _ link: Link, _ role: ConnectionRole) throws(Refusal) {
        guard role == .central, link.isHostAsked else { throw .disallowed }
        try add(operation, link, role)
        link.isHostAsked = false
        link.requestDeadline = nil
    }

    /// Read RSSI.
    ///
    /// Core 6.0, Vol 4, Part E, 7.5.4.
    func readRSSI(_ parameters: inout CommandParameters) throws(Refusal) -> [UInt8] {
        let (link, role) = try link(&parameters)
        guard let radio else { return [] }
        let strength = radio.signalStrength(self, link[role.other].controller)
        return Self.bytes(link[role].handle) + [UInt8(bitPattern: strength)]
    }

    /// LE Read Channel Map: all channels.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.20.
    func readChannelMap(_ parameters: inout CommandParameters) throws(Refusal) -> [UInt8] {
        let (link, role) = try link(&parameters)
        return Self.bytes(link[role].handle) + Identity.channelMap
    }

    static func bytes(_ handle: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: handle), UInt8(truncatingIfNeeded: handle &>> 8)]
    }

    // MARK: Events

    /// Disconnection Complete.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.5.
    func emitDisconnection(handle: UInt16, reason: HCIStatus) {
        emit(
            event: HCIEvent.Code.disconnectionComplete,
            [HCIStatus.success.rawValue] + Self.bytes(handle) + [reason.rawValue]
        )
    }

    /// LE Connection Update Complete.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.3.
    func emitUpdate(handle: UInt16, _ status: HCIStatus, _ parameters: ConnectionParameters) {
        var writer = ByteWriter()
        writer.write(status.rawValue)
        writer.write(handle)
        writer.write(parameters.maximumInterval)
        writer.write(parameters.latency)
        writer.write(parameters.supervisionTimeout)
        emit(.connectionUpdateComplete, writer.bytes)
    }

    /// LE Remote Connection Parameter Request; false when the host does not want to be asked.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.6.
    func emitParameterRequest(handle: UInt16, _ parameters: ConnectionParameters) -> Bool {
        guard isWanted(.remoteConnectionParameterRequest) else { return false }
        var writer = ByteWriter()
        writer.write(handle)
        writer.write(parameters.minimumInterval)
        writer.write(parameters.maximumInterval)
        writer.write(parameters.latency)
        writer.write(parameters.supervisionTimeout)
        emit(.remoteConnectionParameterRequest, writer.bytes)
        return true
    }

    /// LE Read Remote Features Complete.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.4.
    func emitRemoteFeatures(handle: UInt16, of peer: VirtualController) {
        var writer = ByteWriter()
        writer.write(HCIStatus.success.rawValue)
        writer.write(handle)
        writer.write(Identity.lowEnergyFeatures(peer.configuration.generation))
        emit(.readRemoteFeaturesComplete, writer.bytes)
    }

    /// The code of Read Remote Version Information Complete.
    static let remoteVersionCode: UInt8 = 0x0C

    /// Read Remote Version Information Complete.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.12.
    func emitRemoteVersion(handle: UInt16, of peer: VirtualController) {
        var writer = ByteWriter()
        writer.write(HCIStatus.success.rawValue)
        writer.write(handle)
        writer.write(Identity.version(peer.configuration.generation))
        writer.write(Identity.company)
        writer.write(UInt16(0))
        emit(event: Self.remoteVersionCode, writer.bytes)
    }
}
