// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// A server for any number of links, without their bearers: requests come in as PDUs, and each gets one response.
///
/// The owner connects and disconnects peers, passes their requests and commands to `receive`, takes all that
/// `nextEvent` returns, answers the events that want it, sends all that `nextOutgoing` returns, and calls
/// `handleDeadline` when `deadline` has come. `GATTClient` does the part between the bearer and the server. Core 6.0,
/// Vol 3, Part F, 3.4 and Part G, 4.
public struct GATTServer: Sendable {
    /// The limits of what is kept for peers.
    public struct Limits: Equatable, Sendable {
        /// The most prepared writes of one peer.
        public var preparedWrites = 128
        /// The most bytes of one peer's prepared writes.
        public var preparedBytes = 4096
        /// The time after a peer's last prepared write after which they are all void.
        public var preparedTime = Duration.seconds(30)
        /// The most notifications and indications that wait for one peer.
        public var updates = 64
        /// The time in which the owner has to answer an event; the peer waits no longer than 30 s for the response.
        public var answerTime = Duration.seconds(20)
        /// The most events that wait; requests are refused, and commands dropped, while so many do.
        public var events = 1024

        /// The defaults of each field.
        public init() {}
    }

    /// One link, for as long as it lasts.
    public struct PeerID: Hashable, Sendable {
        let number: UInt64
    }

    /// A question to the owner.
    public struct RequestID: Hashable, Sendable {
        let number: UInt64
    }

    /// A part of a value that a peer wants to write, from `offset` on.
    public struct Write: Equatable, Sendable {
        /// The attribute.
        public var handle: AttributeHandle
        /// The part's beginning in the value: 0 to 65,535.
        public var offset: Int
        /// The part, at most 512 bytes with what is before it.
        public var value: [UInt8]
    }

    /// News and questions for the owner.
    public enum Event: Equatable, Sendable {
        /// A peer reads a dynamic value from `offset` on; `respond` with all of it, or `refuse`.
        case read(RequestID, PeerID, AttributeHandle, offset: Int)
        /// A peer writes dynamic values, all or none; `accept` or `refuse`.
        case write(RequestID, PeerID, [Write])
        /// The question is void: the peer has gone, or the time is over.
        case requestEnded(RequestID)
        /// A peer wrote a dynamic value without wanting to hear of it.
        case command(PeerID, AttributeHandle, [UInt8])
        /// A peer wrote a stored value; its new contents.
        case written(PeerID, AttributeHandle, [UInt8])
        /// A peer has subscribed to a characteristic's values, or has changed the kind of its subscription.
        case subscribed(PeerID, AttributeHandle, GATTSubscriptionKind)
        case unsubscribed(PeerID, AttributeHandle)
        /// There is room again for a peer that an update was refused for.
        case readyToUpdate(PeerID)
        case confirmed(PeerID, AttributeHandle)
    }

    /// A value that waits to be sent to a peer.
    struct Update: Sendable {
        var handle: AttributeHandle
        var value: [UInt8]
    }

    struct Pending: Sendable {
        var request: ATTPDU
        var mtu: Int
        var question: (id: RequestID, handle: AttributeHandle)?
        /// The owner's answers so far.
        var supplied: [AttributeHandle: Result<[UInt8], ATTError>] = [:]
        /// The writes that are carried out when the owner accepts.
        var plan: GATTWritePlan?
        var deadline: Duration
    }

    struct Peer: Sendable {
        var security: GATTLinkSecurity
        /// The bits of each client characteristic configuration, by the characteristic value's handle; none is zero.
        var configurations: [AttributeHandle: UInt16] = [:]
        var prepared = GATTPreparedQueue()
        var pending: Pending?
        /// The response, until it is taken.
        var response: ATTPDU?
        var updates: [Update] = []
        var wasRefusedUpdate = false
        var indicated: AttributeHandle?
    }

    /// The attributes that are served.
    public let database: GATTServerDatabase
    /// The limits in force.
    public let limits: Limits

    var stored: [AttributeHandle: [UInt8]]
    var peers: [PeerID: Peer] = [:]
    private var events: [Event] = []
    private var lastNumber: UInt64 = 0

    /// A server of a database, with nobody connected.
    public init(_ database: GATTServerDatabase, limits: Limits = Limits()) {
        self.database = database
        self.limits = limits
        stored = database.initialValues
    }

    /// Begins to serve a fresh link.
    public mutating func connect(security: GATTLinkSecurity = GATTLinkSecurity()) -> PeerID {
        let id = PeerID(number: nextNumber())
        peers[id] = Peer(security: security)
        return id
    }

    /// Forgets a link: its prepared writes, its subscriptions and what waits for it.
    public mutating func disconnect(_ id: PeerID) {
        guard let peer = peers.removeValue(forKey: id) else { return }
        if let question = peer.pending?.question { report(.requestEnded(question.id)) }
        for handle in peer.configurations.keys.sorted() { report(.unsubscribed(id, handle)) }
    }

    /// Notes that a link's security has changed.
    public mutating func setSecurity(_ security: GATTLinkSecurity, of id: PeerID) {
        peers[id]?.security = security
    }

    /// The next event; nil when there is none.
    public mutating func nextEvent() -> Event? {
        events.isEmpty ? nil : events.removeFirst()
    }

    /// The time at which `handleDeadline` must be called; nil while nothing runs out.
    public var deadline: Duration? {
        peers.values.compactMap { $0.deadline(preparedTime: limits.preparedTime) }.min()
    }

    /// Answers by Unlikely Error the requests that the owner has not answered in time, and voids prepared writes that
    /// are too old.
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

    /// A stored value; nil for an attribute that has none.
    public func value(of handle: AttributeHandle) -> [UInt8]? {
        stored[handle]
    }

    /// Replaces a stored value; nobody is told.
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

    /// Gives the peer's request its response.
    mutating func finish(_ id: PeerID, _ response: ATTPDU) {
        peers[id]?.pending = nil
        peers[id]?.response = response
    }

    /// Gives the peer's request its refusal.
    mutating func finish(_ id: PeerID, _ error: ATTError, _ handle: AttributeHandle) {
        guard let opcode = peers[id]?.pending?.request.opcode else { return }
        finish(id, .errorResponse(request: opcode, handle: handle, error: error))
    }

    /// The links that want a characteristic's values.
    public func subscribers(of handle: AttributeHandle) -> [PeerID] {
        peers.filter { $0.value.configurations[handle] != nil }.keys.sorted { $0.number < $1.number }
    }

    /// Queues a characteristic's new value for its subscribers, or for the chosen ones among them, and keeps it when it
    /// is a stored one.
    ///
    /// Returns the links whose queues are full and which therefore miss this value; `readyToUpdate` tells of each when
    /// there is room again. A value is cut to MTU − 3 bytes when it leaves. Core 6.0, Vol 3, Part G, 4.10.1 and 4.11.1.
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

extension GATTServer.Peer {
    /// The time at which the question to the owner or the prepared writes run out.
    fileprivate func deadline(preparedTime: Duration) -> Duration? {
        let question = pending.flatMap { $0.question == nil ? nil : $0.deadline }
        guard let writes = prepared.deadline(after: preparedTime) else { return question }
        return question.map { min($0, writes) } ?? writes
    }
}

/// The reason why a call of the owner's was refused.
public enum GATTServerError: Error, Equatable, Sendable {
    /// The question does not exist, or is answered already, or void.
    case unknownRequest(GATTServer.RequestID)
    /// The answer is not of the kind that was asked for.
    case wrongAnswer(GATTServer.RequestID)
    /// The value is longer than 512 bytes, or has a length that the attribute does not take.
    case invalidLength(AttributeHandle, Int)
    /// The server keeps no value for this attribute.
    case notStored(AttributeHandle)
    /// This is no characteristic's value that can be notified or indicated.
    case notSubscribable(AttributeHandle)
}
