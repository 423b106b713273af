// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension VirtualController {
    /// The Link_Type of asynchronous data in Data Buffer Overflow (Core 6.0, Vol 4, Part E, 7.7.26).
    private static let asynchronousLink: UInt8 = 0x01

    /// Takes an ACL packet from the host into the queue of its link.
    ///
    /// A packet that is longer than the buffers, or one more than there are, is lost with Data Buffer Overflow. One for
    /// a handle that no connection has is lost without notice: its link may have ended while it was on its way. Core
    /// 6.0, Vol 4, Part E, 4.1.1 and 5.4.2.
    func receiveData(_ packet: [UInt8]) {
        let handle: UInt16
        let boundary: ACLPacket.Boundary
        let payload: [UInt8]
        do throws(DecodingError) {
            let acl = try ACLPacket(packet.span)
            (handle, boundary, payload) = (acl.handle, acl.boundary, [UInt8](copying: acl.data))
            guard acl.broadcast == 0 else { return loseSynchronisation() }
        } catch {
            return loseSynchronisation()
        }
        guard boundary != .complete, let radio, let (link, role) = try? link(handle) else {
            lostPackets &+= 1
            return
        }
        guard payload.count <= Int(configuration.aclDataLength), usedBuffers < Int(configuration.aclBufferCount) else {
            lostPackets &+= 1
            return emit(event: HCIEvent.Code.dataBufferOverflow, [Self.asynchronousLink])
        }
        let limit = Int(min(configuration.linkDataLength, link[role.other].controller.configuration.linkDataLength))
        let copies = faults.strike(payload, .fromHost)
        var fragments: [Link.Fragment] = []
        for copy in copies {
            fragments += Self.fragments(copy, isFirst: boundary != .continuing, max(limit, Limit.minimumLinkData))
        }
        // A packet without data keeps its place: its buffer is free after the next connection event.
        link[role].queue.append(Link.OutgoingPacket(fragments: fragments))
        link.wake(now: radio.now)
    }

    /// The number of ACL packets that have not left this controller.
    private var usedBuffers: Int {
        (radio?.links ?? []).reduce(0) { sum, link in
            sum + (link.role(of: self).map { link[$0].queue.count } ?? 0)
        }
    }

    private static func fragments(_ payload: [UInt8], isFirst: Bool, _ limit: Int) -> [Link.Fragment] {
        guard !payload.isEmpty else { return [] }
        return stride(from: 0, to: payload.count, by: limit).map { start in
            let part = payload[start..<min(start + limit, payload.count)]
            return Link.Fragment(isFirst: isFirst && start == 0, payload: [UInt8](part))
        }
    }

    /// Gives a fragment that came over the air to the host (Core 6.0, Vol 4, Part E, 5.4.2: a beginning from a
    /// controller is marked 0b10).
    func deliver(_ fragment: Link.Fragment, handle: UInt16) {
        for payload in faults.strike(fragment.payload, .toHost) {
            let limit = max(Int(configuration.aclDataLength), Limit.minimumLinkData)
            for part in Self.fragments(payload, isFirst: fragment.isFirst, limit) {
                emit(data: ACLPacket.encoded(handle: handle, part.isFirst ? .first : .continuing, part.payload.span))
            }
        }
    }

    /// Number Of Completed Packets (Core 6.0, Vol 4, Part E, 7.7.19).
    func emitCompleted(handle: UInt16, count: Int) {
        guard count > 0 else { return }
        emit(event: HCIEvent.Code.numberOfCompletedPackets, ByteWriter.bytes(UInt8(1), handle, UInt16(clamping: count)))
    }

    /// The reasons that a host may give (Core 6.0, Vol 4, Part E, 7.1.6).
    private static let disconnectionReasons: Set<UInt8> = [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B]

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

    /// Disconnect (Core 6.0, Vol 4, Part E, 7.1.6).
    func disconnect(_ parameters: inout CommandParameters) throws(Refusal) {
        let (link, role) = try link(&parameters)
        let reason = try parameters.readUInt8()
        guard Self.disconnectionReasons.contains(reason) else { throw .invalid }
        try add(.terminate(HCIStatus(rawValue: reason)), link, role)
    }

    /// Read Remote Version Information, LE Read Remote Features (Core 6.0, Vol 4, Part E, 7.1.23 and 7.8.21).
    func begin(_ operation: Link.Operation, _ parameters: inout CommandParameters) throws(Refusal) {
        let (link, role) = try link(&parameters)
        try add(operation, link, role)
    }

    /// LE Connection Update: the central sets the parameters, the peripheral asks for them (Core 6.0, Vol 4, Part E,
    /// 7.8.18).
    func updateConnection(_ parameters: inout CommandParameters) throws(Refusal) {
        let (link, role) = try link(&parameters)
        let request = try ConnectionParameters(&parameters)
        try Self.readEventLengths(&parameters)
        guard !link.isChanging else { throw .disallowed }
        try add(role == .central ? .update(request) : .requestUpdate(request), link, role)
    }

    /// LE Remote Connection Parameter Request Reply (Core 6.0, Vol 4, Part E, 7.8.31).
    func acceptParameterRequest(_ parameters: inout CommandParameters) throws(Refusal) -> [UInt8] {
        let (link, role) = try link(&parameters)
        let request = try ConnectionParameters(&parameters)
        try Self.readEventLengths(&parameters)
        try answer(.update(request), link, role)
        return ByteWriter.bytes(link[role].handle)
    }

    /// LE Remote Connection Parameter Request Negative Reply (Core 6.0, Vol 4, Part E, 7.8.32).
    func refuseParameterRequest(_ parameters: inout CommandParameters) throws(Refusal) -> [UInt8] {
        let (link, role) = try link(&parameters)
        let reason = HCIStatus(rawValue: try parameters.readUInt8())
        try answer(.rejectUpdate(reason), link, role)
        return ByteWriter.bytes(link[role].handle)
    }

    private func answer(_ operation: Link.Operation, _ link: Link, _ role: ConnectionRole) throws(Refusal) {
        guard role == .central, link.isHostAsked else { throw .disallowed }
        try add(operation, link, role)
        link.isHostAsked = false
        link.requestDeadline = nil
    }

    /// Read RSSI (Core 6.0, Vol 4, Part E, 7.5.4).
    func readRSSI(_ parameters: inout CommandParameters) throws(Refusal) -> [UInt8] {
        let (link, role) = try link(&parameters)
        guard let radio else { return [] }
        let strength = radio.signalStrength(self, link[role.other].controller)
        return ByteWriter.bytes(link[role].handle, UInt8(bitPattern: strength))
    }

    /// LE Read Channel Map: all channels (Core 6.0, Vol 4, Part E, 7.8.20).
    func readChannelMap(_ parameters: inout CommandParameters) throws(Refusal) -> [UInt8] {
        let (link, role) = try link(&parameters)
        return ByteWriter.bytes(link[role].handle, Identity.channelMap)
    }

    /// Disconnection Complete (Core 6.0, Vol 4, Part E, 7.7.5).
    func emitDisconnection(handle: UInt16, reason: HCIStatus) {
        let parameters = ByteWriter.bytes(HCIStatus.success.rawValue, handle, reason.rawValue)
        emit(event: HCIEvent.Code.disconnectionComplete, parameters)
    }

    /// LE Connection Update Complete (Core 6.0, Vol 4, Part E, 7.7.65.3).
    func emitUpdate(handle: UInt16, _ status: HCIStatus, _ parameters: ConnectionParameters) {
        let timing = ByteWriter.bytes(parameters.maximumInterval, parameters.latency, parameters.supervisionTimeout)
        emit(.connectionUpdateComplete, ByteWriter.bytes(status.rawValue, handle, timing))
    }

    /// LE Remote Connection Parameter Request; false when the host does not want to be asked (Core 6.0, Vol 4, Part E,
    /// 7.7.65.6).
    func emitParameterRequest(handle: UInt16, _ parameters: ConnectionParameters) -> Bool {
        guard isWanted(.remoteConnectionParameterRequest) else { return false }
        emit(.remoteConnectionParameterRequest, ByteWriter.bytes(handle, parameters))
        return true
    }

    /// LE Read Remote Features Complete (Core 6.0, Vol 4, Part E, 7.7.65.4).
    func emitRemoteFeatures(handle: UInt16, of peer: VirtualController) {
        let features = Identity.lowEnergyFeatures(peer.configuration.generation)
        emit(.readRemoteFeaturesComplete, ByteWriter.bytes(HCIStatus.success.rawValue, handle, features))
    }

    /// The code of Read Remote Version Information Complete.
    static let remoteVersionCode: UInt8 = 0x0C

    /// Read Remote Version Information Complete (Core 6.0, Vol 4, Part E, 7.7.12).
    func emitRemoteVersion(handle: UInt16, of peer: VirtualController) {
        let version = Identity.version(peer.configuration.generation)
        let parameters = ByteWriter.bytes(HCIStatus.success.rawValue, handle, version, Identity.company, UInt16(0))
        emit(event: Self.remoteVersionCode, parameters)
    }
}

/// Encryption as hosts see it: who has the key gets the data. Nothing is ciphered.
extension VirtualController {
    /// LE Enable Encryption: the central's (Core 6.0, Vol 4, Part E, 7.8.24).
    func enableEncryption(_ parameters: inout CommandParameters) throws(Refusal) {
        let (link, role) = try link(&parameters)
        let random = try parameters.readUInt64()
        let diversifier = try parameters.readUInt16()
        let key = try readKey(&parameters)
        guard role == .central, link.encryption == nil else { throw .disallowed }
        try add(.encrypt(key: key, random: random, diversifier: diversifier), link, role)
    }

    /// LE Long Term Key Request Reply (Core 6.0, Vol 4, Part E, 7.8.25).
    func replyWithKey(_ parameters: inout CommandParameters) throws(Refusal) -> [UInt8] {
        let (link, role) = try link(&parameters)
        try answerKeyRequest(link, role, try readKey(&parameters))
        return ByteWriter.bytes(link[role].handle)
    }

    /// LE Long Term Key Request Negative Reply (Core 6.0, Vol 4, Part E, 7.8.26).
    func refuseKey(_ parameters: inout CommandParameters) throws(Refusal) -> [UInt8] {
        let (link, role) = try link(&parameters)
        try answerKeyRequest(link, role, nil)
        return ByteWriter.bytes(link[role].handle)
    }

    private func readKey(_ parameters: inout CommandParameters) throws(Refusal) -> UInt128 {
        let low = try parameters.readUInt64()
        return UInt128(try parameters.readUInt64()) &<< 64 | UInt128(low)
    }

    private func answerKeyRequest(_ link: Link, _ role: ConnectionRole, _ key: UInt128?) throws(Refusal) {
        guard role == .peripheral, link.encryption?.isAsked == true else { throw .disallowed }
        link.encryption?.isAsked = false
        try add(.startEncryption(key: key), link, role)
    }

    /// LE Long Term Key Request; false when the host does not want to be asked (Core 6.0, Vol 4, Part E, 7.7.65.5).
    func emitKeyRequest(handle: UInt16, random: UInt64, diversifier: UInt16) -> Bool {
        guard isWanted(.longTermKeyRequest) else { return false }
        emit(.longTermKeyRequest, ByteWriter.bytes(handle, random, diversifier))
        return true
    }

    /// Encryption Change, or Encryption Key Refresh Complete (Core 6.0, Vol 4, Part E, 7.7.8 and 7.7.39).
    func emitEncryption(handle: UInt16, _ status: HCIStatus, isRefresh: Bool) {
        let isOn: [UInt8] = status == .success ? [1] : [0]
        emit(
            event: isRefresh ? HCIEvent.Code.encryptionKeyRefreshComplete : HCIEvent.Code.encryptionChange,
            [status.rawValue] + ByteWriter.bytes(handle) + (isRefresh ? [] : isOn)
        )
    }
}
