// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

extension GATTServer {
    /// Processes a request or command of a peer; `mtu` limits the length of the response.
    ///
    /// Each request gets exactly one response. `nextOutgoing` returns it immediately or, if the request caused an
    /// event, once the owner has answered the event. Until then, the bearer accepts no further request from the peer.
    /// Core 6.0, Vol 3, Part F, 3.3.2.
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

    /// Answers a `read` event with the whole value, which has at most 512 bytes, regardless of the offset in the event.
    ///
    /// If the offset is beyond the end of the value, the peer receives Invalid Offset.
    public mutating func respond(to id: RequestID, with value: [UInt8]) throws(GATTServerError) {
        let (peer, pending, handle) = try open(id)
        guard pending.plan == nil else { throw .wrongAnswer(id) }
        guard value.count <= GATTClient.longestValue else { throw .invalidLength(handle, value.count) }
        supply(.success(value), for: handle, to: peer)
    }

    /// Accepts a `write` event and writes the values.
    public mutating func accept(_ id: RequestID) throws(GATTServerError) {
        let (peer, pending, _) = try open(id)
        guard let plan = pending.plan else { throw .wrongAnswer(id) }
        commit(plan, of: peer)
        finish(peer, pending.request.writeResponse)
    }

    /// Rejects a `read` or `write` event: no value is written, and the error names `handle` or, by default, the event's
    /// first handle.
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

    private mutating func supply(_ result: Result<[UInt8], ATTError>, for handle: AttributeHandle, to id: PeerID) {
        peers[id]?.pending?.question = nil
        peers[id]?.pending?.supplied[handle] = result
        read(id)
    }

    /// Registers a question to the owner about the peer's pending request; returns the question's identifier.
    mutating func ask(_ id: PeerID, about handle: AttributeHandle) -> RequestID {
        let question = RequestID(number: nextNumber())
        peers[id]?.pending?.question = (question, handle)
        return question
    }

    /// Responds to the pending read request, or asks the owner for a missing value.
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

    /// Returns the error if the peer may not write this attribute with a request; nil if it may.
    private func refusal(_ handle: AttributeHandle, of peer: Peer) -> ATTError? {
        guard let attribute = database.attribute(handle) else { return .invalidHandle }
        guard attribute.write != .never, attribute.takesRequests else { return .writeNotPermitted }
        return peer.security.refusal(for: attribute.write, keySize: attribute.minimumKeySize)
    }

    private func plan(_ writes: [Write], of peer: Peer) throws(GATTWritePlan.Refusal) -> GATTWritePlan {
        try GATTWritePlan(writes, database: database) { handle in
            if case .configuration(let value, _) = database.attribute(handle)?.source {
                let bits = peer.configurations[value] ?? 0
                return [UInt8(truncatingIfNeeded: bits), UInt8(bits &>> 8)]
            }
            return stored[handle] ?? []
        }
    }

    /// Writes a value (Core 6.0, Vol 3, Part F, 3.4.5.1).
    mutating func write(_ id: PeerID, _ handle: AttributeHandle, _ value: [UInt8]) {
        perform([Write(handle: handle, offset: 0, value: value)], of: id)
    }

    /// Performs all writes, or none if one is rejected; asks the owner first if necessary.
    private mutating func perform(_ writes: [Write], of id: PeerID) {
        guard let peer = peers[id], let pending = peer.pending else { return }
        for write in writes {
            if let error = refusal(write.handle, of: peer) {
                finish(id, error, write.handle)
                return
            }
        }
        do throws(GATTWritePlan.Refusal) {
            let plan = try plan(writes, of: peer)
            if let first = plan.dynamic.first {
                peers[id]?.pending?.plan = plan
                report(.write(ask(id, about: first.handle), id, plan.dynamic))
            } else {
                commit(plan, of: id)
                finish(id, pending.request.writeResponse)
            }
        } catch {
            finish(id, error.error, error.handle)
        }
    }

    mutating func commit(_ plan: GATTWritePlan, of id: PeerID) {
        for item in plan.values {
            if case .configuration(let value, _) = database.attribute(item.handle)?.source {
                let bits = item.value.count == 2 ? AttributeHandle(low: item.value[0], high: item.value[1]).rawValue : 0
                configure(id, value, bits)
            } else {
                stored[item.handle] = item.value
                report(.written(id, item.handle, item.value))
            }
        }
    }

    /// Restores the subscription that a bonded client made on an earlier connection; reports it as `subscribed`.
    ///
    /// Call it only once the link is as secure as subscribing requires. Throws `notSubscribable` if the characteristic
    /// does not support this kind. Does nothing if the peer has disconnected. Core 6.0, Vol 3, Part G, 3.3.3.3.
    public mutating func restoreSubscription(
        _ kind: GATTSubscriptionKind,
        to handle: AttributeHandle,
        of id: PeerID
    ) throws(GATTServerError) {
        let property: GATTCharacteristicProperties = kind == .notifications ? .notify : .indicate
        guard database.attribute(handle)?.subscribable.contains(property) == true else {
            throw .notSubscribable(handle)
        }
        guard peers[id] != nil else { return }
        configure(id, handle, kind.rawValue)
    }

    private mutating func configure(_ id: PeerID, _ value: AttributeHandle, _ bits: UInt16) {
        let before = peers[id]?.configurations[value].flatMap { GATTSubscriptionKind(configuration: $0) }
        peers[id]?.configurations[value] = bits == 0 ? nil : bits
        let after = GATTSubscriptionKind(configuration: bits)
        guard before != after else { return }
        if let after {
            report(.subscribed(id, value, after))
        } else {
            peers[id]?.updates.removeAll { $0.handle == value }
            report(.unsubscribed(id, value))
            reportRoom(id)
        }
    }

    /// Executes a Write Command; if it is rejected, the peer receives no error (Core 6.0, Vol 3, Part F, 3.4.5.3).
    mutating func command(_ id: PeerID, _ peer: Peer, _ handle: AttributeHandle, _ value: [UInt8]) {
        guard hasRoomForEvents, let attribute = database.attribute(handle),
            attribute.write != .never, attribute.takesCommands,
            peer.security.refusal(for: attribute.write, keySize: attribute.minimumKeySize) == nil
        else { return }
        do throws(GATTWritePlan.Refusal) {
            let plan = try plan([Write(handle: handle, offset: 0, value: value)], of: peer)
            for write in plan.dynamic { report(.command(id, write.handle, write.value)) }
            commit(plan, of: id)
        } catch {
            return
        }
    }

    /// Queues a prepared write; its offset and length are checked on execution (Core 6.0, Vol 3, Part F, 3.4.6.1).
    mutating func prepare(_ id: PeerID, _ write: Write, _ now: Duration) {
        guard let peer = peers[id] else { return }
        if let error = refusal(write.handle, of: peer) {
            finish(id, error, write.handle)
            return
        }
        guard peers[id]?.prepared.append(write, now: now, limits) == true else {
            finish(id, .prepareQueueFull, write.handle)
            return
        }
        finish(
            id,
            .prepareWriteResponse(write.handle, offset: UInt16(truncatingIfNeeded: write.offset), value: write.value)
        )
    }

    /// Executes or cancels the prepared writes; empties the queue in either case (Core 6.0, Vol 3, Part F, 3.4.6.3).
    mutating func execute(_ id: PeerID, _ flags: ATTPDU.ExecuteFlags, _ now: Duration) {
        let writes = peers[id]?.prepared.take(now: now, after: limits.preparedTime)
        switch (flags, writes) {
        case (.cancel, _): finish(id, .executeWriteResponse)
        case (.write, nil): finish(id, .unlikelyError, .invalid)
        case (.write, let writes?): perform(writes, of: id)
        }
    }
}

extension ATTPDU {
    /// Response to this Write Request or Execute Write Request.
    var writeResponse: ATTPDU {
        opcode == .executeWriteRequest ? .executeWriteResponse : .writeResponse
    }
}

extension GATTSubscriptionKind {
    /// Creates the kind from the bits of a client characteristic configuration; prefers notifications if both bits are
    /// set, returns nil if neither is set.
    init?(configuration bits: UInt16) {
        guard let kind = Self.allCases.first(where: { bits & $0.rawValue != 0 }) else { return nil }
        self = kind
    }
}

/// Prepared writes of one peer, limited in number, total size and time (Core 6.0, Vol 3, Part F, 3.4.6).
struct GATTPreparedQueue: Sendable {
    private(set) var writes: [GATTServer.Write] = []
    private var byteCount = 0
    private var lastPrepared = Duration.zero
    /// True from the expiry of the writes until the peer executes or cancels them.
    ///
    /// Until then, further writes are rejected, because the peer does not know which of its writes have expired.
    private(set) var isVoid = false

    /// Adds a write; returns false if the limits do not allow it.
    mutating func append(_ write: GATTServer.Write, now: Duration, _ limits: GATTServer.Limits) -> Bool {
        expire(now: now, after: limits.preparedTime)
        guard !isVoid, writes.count < limits.preparedWrites,
            byteCount &+ write.value.count <= limits.preparedBytes
        else { return false }
        writes.append(write)
        byteCount &+= write.value.count
        lastPrepared = now
        return true
    }

    /// Empties the queue and returns its writes, or nil if they have expired.
    mutating func take(now: Duration, after time: Duration) -> [GATTServer.Write]? {
        expire(now: now, after: time)
        let taken = isVoid ? nil : writes
        self = GATTPreparedQueue()
        return taken
    }

    func deadline(after time: Duration) -> Duration? {
        writes.isEmpty ? nil : lastPrepared + time
    }

    mutating func expire(now: Duration, after time: Duration) {
        guard let deadline = deadline(after: time), deadline <= now else { return }
        writes = []
        byteCount = 0
        isVoid = true
    }
}
