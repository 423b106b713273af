// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension VirtualController {
    /// The Link_Type of asynchronous data in Data Buffer Overflow (Core 6.0, Vol 4, Part E, 7.7.26).
    private static let asynchronousLink: UInt8 = 0x01

    /// Takes an ACL packet from the host into the queue of its link.
    ///
    /// A packet that is longer than the buffers, or one more than there are, is lost with Data Buffer Overflow. One for
    /// a handle that no connection has is lost without notice: its link may have ended while it was on its way.
    ///
    /// Core 6.0, Vol 4, Part E, 4.1.1 and 5.4.2.
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

    /// Gives a fragment that came over the air to the host.
    ///
    /// Core 6.0, Vol 4, Part E, 5.4.2: a beginning from a controller is marked 0b10.
    func deliver(_ fragment: Link.Fragment, handle: UInt16) {
        for payload in faults.strike(fragment.payload, .toHost) {
            let limit = max(Int(configuration.aclDataLength), Limit.minimumLinkData)
            for part in Self.fragments(payload, isFirst: fragment.isFirst, limit) {
                emit(data: ACLPacket.encoded(handle: handle, part.isFirst ? .first : .continuing, part.payload.span))
            }
        }
    }

    /// Number Of Completed Packets.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.19.
    func emitCompleted(handle: UInt16, count: Int) {
        guard count > 0 else { return }
        var writer = ByteWriter()
        writer.write(UInt8(1))
        writer.write(handle)
        writer.write(UInt16(clamping: count))
        emit(event: HCIEvent.Code.numberOfCompletedPackets, writer.bytes)
    }
}
