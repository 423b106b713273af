// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// One controller's ends of its connections; also executes the commands that concern a single connection.
struct ControllerLinks {
    /// Valid connection handles (Core 6.0, Vol 4, Part E, 5.4.2).
    private static let handles: ClosedRange<UInt16> = 0x0040...0x0EFF
    /// Disconnection reasons that a host may use (Core 6.0, Vol 4, Part E, 7.1.6).
    private static let disconnectionReasons: [UInt8] = [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B]

    private let ends: [(link: Link, role: ConnectionRole)]
    let radio: VirtualRadio
    let configuration: VirtualController.Configuration

    init(of controller: VirtualController, _ radio: VirtualRadio) {
        ends = radio.links.compactMap { link in link.role(of: controller).map { (link, $0) } }
        self.radio = radio
        configuration = controller.configuration
    }

    private var isFull: Bool { ends.count >= Int(configuration.maximumConnections) }

    /// Lowest unused connection handle; nil if the controller has its maximum number of connections.
    var freeHandle: UInt16? {
        guard !isFull else { return nil }
        return Self.handles.first { handle in !ends.contains { $0.link[$0.role].handle == handle } }
    }

    /// Number of ACL packets that occupy buffers because they are not yet sent.
    private var usedBuffers: Int { ends.reduce(0) { $0 + $1.link[$1.role].queue.count } }

    func checkRoom() throws(Refusal) {
        if isFull { throw Refusal(status: .connectionLimitExceeded) }
    }

    func contains(_ peer: DeviceAddress) -> Bool { ends.contains { $0.link[$0.role.other].address == peer } }

    /// Ends all connections without notifying the peers.
    func kill() {
        for (link, role) in ends { link.kill(role, now: radio.now) }
        radio.removeDeadLinks()
    }

    private func find(_ handle: UInt16) throws(Refusal) -> (link: Link, role: ConnectionRole) {
        guard let end = ends.first(where: { $0.link[$0.role].handle == handle }) else { throw .unknownConnection }
        return end
    }

    /// Queues an ACL packet from the host on its link.
    ///
    /// A packet that is larger than a buffer, or for which no buffer is free, is lost, and Data Buffer Overflow reports
    /// the loss. A packet with an unknown handle is discarded without an event, because its link may have just ended.
    /// Core 6.0, Vol 4, Part E, 4.1.1 and 5.4.2.
    func receive(_ packet: [UInt8], _ output: inout ControllerOutput) {
        let handle: UInt16
        let boundary: ACLPacket.Boundary
        let payload: [UInt8]
        do throws(DecodingError) {
            let acl = try ACLPacket(packet.span)
            (handle, boundary, payload) = (acl.handle, acl.boundary, [UInt8](copying: acl.data))
            guard acl.broadcast == 0 else { return output.loseSynchronisation(now: radio.now) }
        } catch {
            return output.loseSynchronisation(now: radio.now)
        }
        guard boundary != .complete, let (link, role) = try? find(handle) else { return output.countLostPacket() }
        guard payload.count <= Int(configuration.aclDataLength), usedBuffers < Int(configuration.aclBufferCount) else {
            output.countLostPacket()
            output.emit(.dataBufferOverflow, now: radio.now)
            return
        }
        let limit = min(configuration.linkDataLength, link[role.other].controller.configuration.linkDataLength)
        // Even a packet without data occupies a buffer until the next connection event.
        let fragments = output.faults.strike(payload, .fromHost).flatMap {
            Link.Fragment.cut($0, isFirst: boundary != .continuing, Int(limit))
        }
        link.send(fragments, from: role, now: radio.now)
    }

    /// Executes a command that concerns a single connection; returns the return parameters that follow the status in
    /// Command Complete (Core 6.0, Vol 4, Part E, 7.1, 7.5 and 7.8).
    func perform(_ command: inout CommandReader) throws(Refusal) -> [UInt8] {
        let now = radio.now
        let handle = try command.readUInt16() & 0x0FFF
        let (link, role) = try find(handle)
        var returned = ByteWriter.bytes(handle)
        switch command.code {
        case .disconnect:
            let reason = try command.readUInt8()
            guard Self.disconnectionReasons.contains(reason) else { throw .invalid }
            try link.begin(.terminate(HCIStatus(rawValue: reason)), role, now: now)
        case .readRemoteVersionInformation: try link.begin(.readVersion, role, now: now)
        case .leReadRemoteFeatures: try link.begin(.readFeatures, role, now: now)
        case .leConnectionUpdate:
            // The central sets the connection parameters; the peripheral can only request them.
            let wanted = try ConnectionParameters(&command)
            guard !link.isChanging else { throw .disallowed }
            try link.begin(role == .central ? .update(wanted) : .requestUpdate(wanted), role, now: now)
        case .leRemoteConnectionParameterRequestReply:
            try link.answerRequest(.update(ConnectionParameters(&command)), role, now: now)
        case .leRemoteConnectionParameterRequestNegativeReply:
            try link.answerRequest(.rejectUpdate(HCIStatus(rawValue: command.readUInt8())), role, now: now)
        case .leEnableEncryption:
            let (random, diversifier) = (try command.readUInt64(), try command.readUInt16())
            let key = try command.readUInt128()
            guard role == .central, !link.isEncrypting else { throw .disallowed }
            try link.begin(.encrypt(key: key, random: random, diversifier: diversifier), role, now: now)
        case .leLongTermKeyRequestReply: try link.answerKeyRequest(command.readUInt128(), role, now: now)
        case .leLongTermKeyRequestNegativeReply: try link.answerKeyRequest(nil, role, now: now)
        case .readRSSI:
            let strength = radio.signalStrength(link[role].controller, link[role.other].controller)
            returned.append(UInt8(bitPattern: strength))
        case .leReadChannelMap: returned += ControllerIdentity.channelMap
        default: throw .disallowed
        }
        return returned
    }
}
