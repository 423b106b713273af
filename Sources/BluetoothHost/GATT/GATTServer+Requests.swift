// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

extension GATTServer {
    /// Takes a request or a command of a peer, and the longest PDU that may be sent back.
    ///
    /// A request is given one response: it waits in `nextOutgoing` at once or, after an event, when the owner has
    /// answered. The bearer lets no second request through before. Core 6.0, Vol 3, Part F, 3.3.2.
    public mutating func receive(_ pdu: ATTPDU, from id: PeerID, mtu: Int, now: Duration) {
        guard let peer = peers[id] else { return }
        if case .writeCommand(let handle, let value) = pdu {
            command(id, peer, handle, value)
            return
        }
        guard pdu.opcode.kind == .request, peer.pending == nil, peer.response == nil else { return }
        peers[id]?.pending = Pending(
            request: pdu,
            mtu: max(mtu, Int(ATTBearer.defaultMTU)),
            deadline: now + limits.answerTime
        )
        guard hasRoomForEvents else {
            finish(id, .insufficientResources, .invalid)
            return
        }
        switch pdu {
        case .writeRequest(let handle, let value): write(id, handle, value)
        case .prepareWriteRequest(let handle, let offset, let value):
            prepare(id, Write(handle: handle, offset: Int(offset), value: value), now)
        case .executeWriteRequest(let flags): execute(id, flags, now)
        default: read(id)
        }
    }

    /// Answers a `read` event with all of the value, whatever the offset, at most 512 bytes.
    ///
    /// An offset behind the value's end becomes Invalid Offset.
    public mutating func respond(to id: RequestID, with value: [UInt8]) throws(GATTServerError) {
        let (peer, pending, handle) = try open(id)
        guard pending.plan == nil else { throw .wrongAnswer(id) }
        guard value.count <= GATTClient.longestValue else { throw .invalidLength(handle, value.count) }
        supply(.success(value), for: handle, to: peer)
    }

    /// Accepts a `write` event: the values are written.
    public mutating func accept(_ id: RequestID) throws(GATTServerError) {
        let (peer, pending, _) = try open(id)
        guard let plan = pending.plan else { throw .wrongAnswer(id) }
        commit(plan, of: peer)
        finish(peer, pending.request.writeResponse)
    }

    /// Refuses a `read` or `write` event; none of the values is written, and `handle` tells which one was at fault, the
    /// first unless it is named.
    public mutating func refuse(
        _ id: RequestID,
        _ error: ATTError,
        about handle: AttributeHandle? = nil
    ) throws(GATTServerError) {
        let (peer, pending, asked) = try open(id)
        if pending.plan == nil {
            supply(.failure(error), for: asked, to: peer)
        } else {
            finish(peer, error, handle ?? asked)
        }
    }

    private func open(_ id: RequestID) throws(GATTServerError) -> (PeerID, Pending, AttributeHandle) {
        for (peer, state) in peers {
            if let pending = state.pending, let question = pending.question, question.id == id {
                return (peer, pending, question.handle)
            }
        }
        throw .unknownRequest(id)
    }

    private mutating func supply(
        _ result: Result<[UInt8], ATTError>,
        for handle: AttributeHandle,
        to id: PeerID
    ) {
        peers[id]?.pending?.question = nil
        peers[id]?.pending?.supplied[handle] = result
        read(id)
    }

    /// Puts a question to the owner about the peer's request.
    mutating func ask(_ id: PeerID, about handle: AttributeHandle) -> RequestID {
        let question = RequestID(number: nextNumber())
        peers[id]?.pending?.question = (question, handle)
        return question
    }

    /// Responds to the pending request, or asks for the value that is missing.
    private mutating func read(_ id: PeerID) {
        guard let peer = peers[id], let pending = peer.pending else { return }
        let answer = GATTReadAnswer(
            database: database,
            security: peer.security,
            stored: stored,
            configurations: peer.configurations,
            supplied: pending.supplied,
            mtu: pending.mtu
        )
        do throws(GATTReadAnswer.Interruption) {
            finish(id, try answer.response(to: pending.request))
        } catch {
            switch error {
            case .refused(let error, let handle): finish(id, error, handle)
            case .needs(let handle, let offset):
                report(.read(ask(id, about: handle), id, handle, offset: offset))
            }
        }
    }
}

extension ATTPDU {
    /// The response to a Write or Execute Write Request.
    var writeResponse: ATTPDU {
        opcode == .executeWriteRequest ? .executeWriteResponse : .writeResponse
    }
}
