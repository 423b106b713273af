// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension GATTClient {
    /// What the server's side has to do with an arriving PDU.
    enum ForServer {
        /// Nothing.
        case nothing(Reception)
        /// To respond.
        case request(ATTPDU)
        /// To do, or not to do, what it says.
        case command(ATTPDU)
        /// To send the next indication.
        case confirmation
    }

    /// Takes one arriving PDU of a peer that is not served.
    ///
    /// A notification costs a few comparisons and no memory.
    public mutating func receive(_ bytes: Span<UInt8>, now: Duration) -> Reception {
        switch receiveAsClient(bytes, now: now) {
        case .nothing(let reception): return reception
        case .confirmation: return .handled
        case .command:
            _ = bearer.ignore()
            return .ignored
        case .request(let pdu):
            var server = GATTServer(.empty)
            let peer = server.connect()
            server.receive(pdu, from: peer, mtu: Int(mtu), now: now)
            send(from: peer, of: &server, now: now)
            return .handled
        }
    }

    /// Takes one arriving PDU of a peer that is served: what is for the server goes there, and may become an event of it.
    public mutating func receive(
        _ bytes: Span<UInt8>,
        from peer: GATTServer.PeerID,
        for server: inout GATTServer,
        now: Duration
    ) -> Reception {
        switch receiveAsClient(bytes, now: now) {
        case .nothing(let reception): return reception
        case .confirmation: server.confirm(peer)
        case .command(let pdu), .request(let pdu): server.receive(pdu, from: peer, mtu: Int(mtu), now: now)
        }
        return .handled
    }

    /// The next PDU for the transport; nil when there is none.
    public mutating func nextOutgoing() -> [UInt8]? {
        bearer.nextOutgoing()
    }

    /// The next PDU for the transport, the client's or the server's; nil when there is none.
    ///
    /// The server's updates stay in its own queue until the transport has taken all else.
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
            // Only an MTU that became smaller after the request can be why; the request still has its one response.
            guard let opcode = bearer.unanswered else { return }
            try? bearer.answer(.errorResponse(request: opcode, handle: .invalid, error: .unlikelyError))
        }
    }
}
