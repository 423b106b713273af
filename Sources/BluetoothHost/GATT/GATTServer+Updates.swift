// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

extension GATTServer {
    /// The links that want a characteristic's values.
    public func subscribers(of handle: AttributeHandle) -> [PeerID] {
        peers.filter { $0.value.configurations[handle] != nil }.keys.sorted { $0.number < $1.number }
    }

    /// Queues a characteristic's new value for its subscribers, or for the chosen ones among them, and keeps it when it
    /// is a stored one.
    ///
    /// Returns the links whose queues are full and which therefore miss this value; `readyToUpdate` tells of each when
    /// there is room again. A value is cut to MTU − 3 bytes when it leaves.
    ///
    /// Core 6.0, Vol 3, Part G, 4.10.1 and 4.11.1.
    public mutating func update(
        _ value: [UInt8],
        of handle: AttributeHandle,
        for chosen: [PeerID]? = nil
    ) throws(GATTServerError) -> [PeerID] {
        guard let attribute = database.attribute(handle), !attribute.subscribable.isEmpty else {
            throw .notSubscribable(handle)
        }
        guard value.count <= GATTClient.longestValue else { throw .invalidLength(handle, value.count) }
        if case .stored = attribute.source { try setValue(value, of: handle) }
        var full: [PeerID] = []
        for id in subscribers(of: handle) where chosen?.contains(id) ?? true {
            if peers[id]?.updates.count ?? 0 >= max(1, limits.updates) {
                peers[id]?.wasRefusedUpdate = true
                full.append(id)
            } else {
                peers[id]?.updates.append(Update(handle: handle, value: value))
            }
        }
        return full
    }

    /// The PDU to send to a peer next: its response, or an update that may be sent now.
    ///
    /// An indication waits for the confirmation of the one before; notifications of other characteristics pass it.
    public mutating func nextOutgoing(
        for id: PeerID,
        mtu: Int,
        canNotify: Bool = true,
        canIndicate: Bool
    ) -> ATTPDU? {
        guard let peer = peers[id] else { return nil }
        if let response = peer.response {
            peers[id]?.response = nil
            return response
        }
        let index = peer.updates.firstIndex { update in
            switch peer.configurations[update.handle].flatMap({ GATTSubscriptionKind(configuration: $0) }) {
            case .notifications: canNotify
            case .indications: canIndicate && peer.indicated == nil
            case nil: false
            }
        }
        guard let index else { return nil }
        let update = peer.updates[index]
        peers[id]?.updates.remove(at: index)
        reportRoom(id)
        let value = Array(update.value.prefix(max(0, mtu &- 3)))
        let bits = peer.configurations[update.handle] ?? 0
        guard GATTSubscriptionKind(configuration: bits) == .indications else {
            return .handleValueNotification(update.handle, value: value)
        }
        peers[id]?.indicated = update.handle
        return .handleValueIndication(update.handle, value: value)
    }

    /// Notes that a peer has confirmed the indication on its way.
    public mutating func confirm(_ id: PeerID) {
        guard let handle = peers[id]?.indicated else { return }
        peers[id]?.indicated = nil
        report(.confirmed(id, handle))
    }

    /// Reports room in a queue that was full, once it is half empty.
    mutating func reportRoom(_ id: PeerID) {
        guard let peer = peers[id], peer.wasRefusedUpdate, peer.updates.count <= limits.updates / 2 else { return }
        peers[id]?.wasRefusedUpdate = false
        report(.readyToUpdate(id))
    }
}
