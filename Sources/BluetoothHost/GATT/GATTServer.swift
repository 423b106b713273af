// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Server for any number of links, without their bearers: receives requests as PDUs, and returns one response to each.
///
/// The owner connects and disconnects peers, passes their requests and commands to `receive`, processes all events that
/// `nextEvent` returns, answers the events that need an answer, sends all PDUs that `nextOutgoing` returns, and calls
/// `handleDeadline` at `deadline`. `GATTClient` connects the bearer and the server. Core 6.0, Vol 3, Part F, 3.4 and
/// Part G, 4.
public struct GATTServer: Sendable {
    /// Limits of the data that the server stores for its peers.
    public struct Limits: Equatable, Sendable {
        /// Maximum number of prepared writes of one peer.
        public var preparedWrites = 128
        /// Maximum total size of one peer's prepared writes, in bytes.
        public var preparedBytes = 4096
        /// Time from a peer's last prepared write until all its prepared writes expire.
        public var preparedTime = Duration.seconds(30)
        /// Maximum number of notifications and indications queued for one peer.
        public var updates = 64
        /// Time within which the owner must answer an event; the peer's own time-out for the response is 30 s.
        public var answerTime = Duration.seconds(20)
        /// Maximum number of queued events; while the queue is full, requests are rejected and commands discarded.
        public var events = 1024

        /// Creates limits with the default values.
        public init() {}
    }

    /// Identifier of one link, valid until the link is disconnected.
    public struct PeerID: Hashable, Sendable {
        let number: UInt64
    }

    /// Identifier of a request that the owner must answer.
    public struct RequestID: Hashable, Sendable {
        let number: UInt64
    }

    /// Part of a value that a peer writes, starting at `offset`.
    public struct Write: Equatable, Sendable {
        /// Handle of the attribute.
        public var handle: AttributeHandle
        /// Position of the part in the value, in bytes: 0 to 65,535.
        public var offset: Int
        /// Bytes of the part; together with the bytes before them, at most 512.
        public var value: [UInt8]
    }

    /// Event or request for the owner.
    public enum Event: Equatable, Sendable {
        /// A peer reads a dynamic value from `offset`; answer with the whole value (`respond`), or `refuse`.
        case read(RequestID, PeerID, AttributeHandle, offset: Int)
        /// A peer writes to dynamic values; answer with `accept` to write all of them, or `refuse` to write none.
        case write(RequestID, PeerID, [Write])
        /// A request no longer needs an answer: the peer has disconnected, or the time to answer is over.
        case requestEnded(RequestID)
        /// A peer wrote to a dynamic value without a response.
        case command(PeerID, AttributeHandle, [UInt8])
        /// A peer wrote to a stored value; the bytes are the new value.
        case written(PeerID, AttributeHandle, [UInt8])
        /// A peer subscribed to a characteristic's values, or changed the kind of its subscription.
        case subscribed(PeerID, AttributeHandle, GATTSubscriptionKind)
        case unsubscribed(PeerID, AttributeHandle)
        /// The queue of a peer for which an update was rejected has room again.
        case readyToUpdate(PeerID)
        case confirmed(PeerID, AttributeHandle)
    }

    /// Value queued for a peer.
    struct Update: Sendable {
        var handle: AttributeHandle
        var value: [UInt8]
    }

    struct Pending: Sendable {
        var request: ATTPDU
        var mtu: Int
        var question: (id: RequestID, handle: AttributeHandle)?
        /// Values and errors that the owner has supplied so far.
        var supplied: [AttributeHandle: Result<[UInt8], ATTError>] = [:]
        /// Writes to perform if the owner accepts them.
        var plan: GATTWritePlan?
        var deadline: Duration
    }

    struct Peer: Sendable {
        var security: GATTLinkSecurity
        /// Nonzero client characteristic configurations, keyed by the handle of the characteristic's value.
        var configurations: [AttributeHandle: UInt16] = [:]
        var prepared = GATTPreparedQueue()
        var pending: Pending?
        /// Response that has not been sent yet.
        var response: ATTPDU?
        var updates: [Update] = []
        var wasRefusedUpdate = false
        var indicated: AttributeHandle?
    }

    /// Attributes that the server offers.
    public let database: GATTServerDatabase
    /// Limits of the data stored for peers.
    public let limits: Limits

    var stored: [AttributeHandle: [UInt8]]
    var peers: [PeerID: Peer] = [:]
    private var events: [Event] = []
    private var lastNumber: UInt64 = 0

    /// Creates a server for a database, without peers.
    public init(_ database: GATTServerDatabase, limits: Limits = Limits()) {
        self.database = database
        self.limits = limits
        stored = database.initialValues
    }

    /// Starts to serve a new link.
    public mutating func connect(security: GATTLinkSecurity = GATTLinkSecurity()) -> PeerID {
        let id = PeerID(number: nextNumber())
        peers[id] = Peer(security: security)
        return id
    }

    /// Removes a link, together with its prepared writes, subscriptions and queue.
    public mutating func disconnect(_ id: PeerID) {
        guard let peer = peers.removeValue(forKey: id) else { return }
        if let question = peer.pending?.question { report(.requestEnded(question.id)) }
        for handle in peer.configurations.keys.sorted() { report(.unsubscribed(id, handle)) }
    }

    /// Updates the security of a link.
    public mutating func setSecurity(_ security: GATTLinkSecurity, of id: PeerID) {
        peers[id]?.security = security
    }

    /// Returns the next event, or nil if there is none.
    public mutating func nextEvent() -> Event? {
        events.isEmpty ? nil : events.removeFirst()
    }

    /// Time at which `handleDeadline` must be called; nil if nothing can expire.
    public var deadline: Duration? {
        peers.values.compactMap { $0.deadline(preparedTime: limits.preparedTime) }.min()
    }

    /// Responds with Unlikely Error to requests that the owner has not answered in time, and discards expired prepared
    /// writes.
    public mutating func handleDeadline(now: Duration) {
        for id in peers.keys {
            peers[id]?.prepared.expire(now: now, after: limits.preparedTime)
            guard let pending = peers[id]?.pending, let question = pending.question, pending.deadline <= now else {
                continue
            }
            finish(id, .unlikelyError, question.handle)
            report(.requestEnded(question.id))
        }
    }

    /// Returns a stored value, or nil if the attribute has no stored value.
    public func value(of handle: AttributeHandle) -> [UInt8]? {
        stored[handle]
    }

    /// Replaces a stored value without notifying the subscribers.
    public mutating func setValue(_ value: [UInt8], of handle: AttributeHandle) throws(GATTServerError) {
        guard case .stored(let lengths) = database.attribute(handle)?.source else { throw .notStored(handle) }
        guard lengths.contains(value.count) else { throw .invalidLength(handle, value.count) }
        stored[handle] = value
    }

    // MARK: For the server's other parts

    mutating func nextNumber() -> UInt64 {
        lastNumber &+= 1
        return lastNumber
    }

    var hasRoomForEvents: Bool { events.count < limits.events }

    mutating func report(_ event: Event) {
        events.append(event)
    }

    /// Completes the peer's request with a response.
    mutating func finish(_ id: PeerID, _ response: ATTPDU) {
        peers[id]?.pending = nil
        peers[id]?.response = response
    }

    /// Completes the peer's request with an error.
    mutating func finish(_ id: PeerID, _ error: ATTError, _ handle: AttributeHandle) {
        guard let opcode = peers[id]?.pending?.request.opcode else { return }
        finish(id, .errorResponse(request: opcode, handle: handle, error: error))
    }

    /// Returns the links subscribed to a characteristic.
    public func subscribers(of handle: AttributeHandle) -> [PeerID] {
        peers.filter { $0.value.configurations[handle] != nil }.keys.sorted { $0.number < $1.number }
    }

    /// Queues a characteristic's new value for all subscribers or the given ones; also stores the value if the
    /// attribute has a stored value.
    ///
    /// Returns the links that miss this value because their queues are full; `readyToUpdate` reports when such a queue
    /// has room again. The value is truncated to MTU − 3 bytes when it is sent. Core 6.0, Vol 3, Part G, 4.10.1 and
    /// 4.11.1.
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

    /// Returns the next PDU for a peer: its response, or an update that may be sent now.
    ///
    /// An indication waits until the peer has confirmed the previous one; meanwhile, notifications of other
    /// characteristics are sent.
    public mutating func nextOutgoing(for id: PeerID, mtu: Int, canNotify: Bool = true, canIndicate: Bool) -> ATTPDU? {
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

    /// Processes a peer's confirmation of its latest indication.
    public mutating func confirm(_ id: PeerID) {
        guard let handle = peers[id]?.indicated else { return }
        peers[id]?.indicated = nil
        report(.confirmed(id, handle))
    }

    /// Reports that a full queue has room again, once it is at most half full.
    mutating func reportRoom(_ id: PeerID) {
        guard let peer = peers[id], peer.wasRefusedUpdate, peer.updates.count <= limits.updates / 2 else { return }
        peers[id]?.wasRefusedUpdate = false
        report(.readyToUpdate(id))
    }
}

extension GATTServer.Peer {
    /// Returns the deadline for the owner's answer or the expiry time of the prepared writes, whichever is earlier.
    fileprivate func deadline(preparedTime: Duration) -> Duration? {
        let question = pending.flatMap { $0.question == nil ? nil : $0.deadline }
        guard let writes = prepared.deadline(after: preparedTime) else { return question }
        return question.map { min($0, writes) } ?? writes
    }
}

/// Reason why the server rejected a call by its owner.
public enum GATTServerError: Error, Equatable, Sendable {
    /// The request is unknown, was already answered, or has ended.
    case unknownRequest(GATTServer.RequestID)
    /// The answer is of a different kind from the one that the request needs.
    case wrongAnswer(GATTServer.RequestID)
    /// The value is longer than 512 bytes, or has a length that the attribute does not accept.
    case invalidLength(AttributeHandle, Int)
    /// The attribute has no stored value.
    case notStored(AttributeHandle)
    /// The attribute is not a characteristic value with notifications or indications.
    case notSubscribable(AttributeHandle)
}

extension GATTServerError: CustomStringConvertible {
    /// Human-readable description in one line.
    public var description: String {
        switch self {
        case .unknownRequest: "the request is unknown, was already answered, or has ended"
        case .wrongAnswer: "the answer does not suit the request"
        case .invalidLength(let handle, let length): "attribute \(handle) does not accept a value of \(length) bytes"
        case .notStored(let handle): "attribute \(handle) has no stored value"
        case .notSubscribable(let handle): "attribute \(handle) has neither notifications nor indications"
        }
    }
}
