// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension GATTClient {
    /// Takes one arriving PDU of a peer that is not served.
    ///
    /// A notification costs a few comparisons and no memory, and nobody asks what time it is.
    public mutating func receive(_ bytes: Span<UInt8>, now: @autoclosure () -> Duration) -> Reception {
        let reception = bearer.receive(bytes, now: now())
        if case .notification(let handle) = reception { return .notification(handle) }
        let now = now()
        switch reception {
        case .command: return take(bearer.ignore(), now: now)
        case .request(let pdu):
            var server = GATTServer(.empty)
            let peer = server.connect()
            server.receive(pdu, from: peer, mtu: Int(mtu), now: now)
            send(from: peer, of: &server, now: now)
            return .handled
        default: return take(reception, now: now)
        }
    }

    /// Takes one arriving PDU of a peer that is served: PDUs for the server go there, and may become its events.
    public mutating func receive(
        _ bytes: Span<UInt8>,
        from peer: GATTServer.PeerID,
        for server: inout GATTServer,
        now: Duration
    ) -> Reception {
        let reception = bearer.receive(bytes, now: now)
        switch reception {
        case .confirmed: server.confirm(peer)
        case .command(let pdu), .request(let pdu): server.receive(pdu, from: peer, mtu: Int(mtu), now: now)
        default: return take(reception, now: now)
        }
        return .handled
    }

    /// The next PDU for the transport; nil when there is none.
    public mutating func nextOutgoing() -> [UInt8]? {
        bearer.nextOutgoing()
    }

    /// The next PDU for the transport, the client's or the server's; nil when there is none.
    ///
    /// The server's updates stay in its own queue until the transport has taken everything else.
    public mutating func nextOutgoing(
        to peer: GATTServer.PeerID,
        from server: inout GATTServer,
        now: Duration
    ) -> [UInt8]? {
        if let pdu = bearer.nextOutgoing() { return pdu }
        send(from: peer, of: &server, now: now)
        return bearer.nextOutgoing()
    }

    private mutating func send(from peer: GATTServer.PeerID, of server: inout GATTServer, now: Duration) {
        guard failure == nil else { return }
        let pdu = server.nextOutgoing(
            for: peer,
            mtu: Int(mtu),
            canNotify: bearer.canNotify,
            canIndicate: bearer.canIndicate
        )
        guard let pdu else { return }
        do throws(ATTBearer.Refusal) {
            if pdu.opcode.kind == .response {
                try bearer.answer(pdu)
            } else {
                try bearer.send(pdu, now: now)
            }
        } catch {
            // This happens only where the MTU became smaller after the request, which still gets its one response.
            guard let opcode = bearer.unanswered else { return }
            try? bearer.answer(.errorResponse(request: opcode, handle: .invalid, error: .unlikelyError))
        }
    }
}
