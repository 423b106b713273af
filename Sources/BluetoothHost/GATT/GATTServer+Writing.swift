// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension GATTServer {
    /// The error for a peer that may not write this attribute by request; nil where it may.
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

    /// Core 6.0, Vol 3, Part F, 3.4.5.1.
    mutating func write(_ id: PeerID, _ handle: AttributeHandle, _ value: [UInt8]) {
        perform([Write(handle: handle, offset: 0, value: value)], of: id)
    }

    /// Writes everything, asks the owner first, or refuses it all.
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

    /// Stores the values and configurations of the plan.
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

    /// A command that is refused is not answered.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.5.3.
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

    /// The offset and the length are looked at when the writes are executed.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.6.1.
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
            .prepareWriteResponse(
                write.handle,
                offset: UInt16(truncatingIfNeeded: write.offset),
                value: write.value
            )
        )
    }

    /// The queue is empty afterwards, whatever the outcome.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.6.3.
    mutating func execute(_ id: PeerID, _ flags: ATTPDU.ExecuteFlags, _ now: Duration) {
        let writes = peers[id]?.prepared.take(now: now, after: limits.preparedTime)
        switch (flags, writes) {
        case (.cancel, _): finish(id, .executeWriteResponse)
        case (.write, nil): finish(id, .unlikelyError, .invalid)
        case (.write, let writes?): perform(writes, of: id)
        }
    }
}

extension GATTSubscriptionKind {
    /// The kind of values that the bits of a client characteristic configuration ask for: notifications where they ask
    /// for both.
    init?(configuration bits: UInt16) {
        guard let kind = Self.allCases.first(where: { bits & $0.rawValue != 0 }) else { return nil }
        self = kind
    }
}
