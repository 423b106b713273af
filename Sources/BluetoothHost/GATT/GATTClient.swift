// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// The client's side of one connection, without its transport: procedures are asked for, run one after another over the
/// bearer, and end as events.
///
/// The bearer being one for both roles, a `GATTServer` can be given to the methods that receive and send; without one,
/// requests of the peer are answered by a server that has no attributes.
///
/// The owner passes every arriving PDU to `receive`, sends all that `nextOutgoing` returns, takes all that `nextEvent`
/// returns, calls `handleDeadline` when `deadline` has come, and closes the link once `failure` is set. Every procedure
/// ends, whatever the server does: requests, attributes, value bytes and time are limited, and handles only run
/// upwards. Core 6.0, Vol 3, Part G, 4.
public struct GATTClient: Sendable {
    /// The limits of a procedure's cost and of what may wait.
    public struct Limits: Equatable, Sendable {
        /// The most requests that one procedure makes.
        public var requests = 1024
        /// The most attributes that one procedure collects.
        public var attributes = 512
        /// The time after which a procedure makes no further request; the last one has its own 30 s.
        public var procedureTime = Duration.seconds(120)
        /// The most procedures that wait, run, or have results nobody has taken.
        public var procedures = 64
        /// The most commands that wait to be sent.
        public var commands = 64

        /// The defaults of each field.
        public init() {}
    }

    /// The number of a procedure on its connection.
    public struct ProcedureID: Hashable, Sendable {
        let number: UInt64
    }

    /// The result of a procedure that succeeded.
    public enum Outcome: Equatable, Sendable {
        case mtu(UInt16)
        /// Primary services, by rising handles.
        case services([GATTService])
        /// Included services, by rising handles.
        case includedServices([GATTIncludedService])
        /// Characteristics, by rising handles.
        case characteristics([GATTCharacteristic])
        /// Descriptors, by rising handles.
        case descriptors([GATTDescriptor])
        case value([UInt8])
        /// Values that were read by their type, each at most 253 bytes of it.
        case values([ATTPDU.HandleValue])
        /// The write or subscription is done.
        case done
        /// The subscription is made here, and nothing was written: the characteristic has no client configuration
        /// descriptor.
        case listening
    }

    /// A procedure has ended.
    public struct Event: Equatable, Sendable {
        /// The procedure.
        public var procedure: ProcedureID
        /// Its result, or the reason of its failure.
        public var result: Result<Outcome, GATTError>
    }

    /// The kind of an arriving PDU; the value of a notification or indication begins at the PDU's byte 3.
    public enum Reception: Equatable, Sendable {
        /// A PDU of a procedure or a request; there may be more to send, an event, or a failure.
        case handled
        case notification(AttributeHandle)
        /// An indication of this handle, subscribed to or not; its confirmation waits to be sent.
        case indication(AttributeHandle)
        case ignored
    }

    /// A characteristic whose values are wanted.
    public struct Subscription: Hashable, Sendable {
        /// The handle of the characteristic's value.
        public var value: AttributeHandle
        /// The way its values are sent.
        public var kind: GATTSubscriptionKind
    }

    /// The longest value that an attribute can have (Core 6.0, Vol 3, Part F, 3.2.9).
    public static let longestValue = 512
    /// The longest value that is read: some servers have longer ones than the specification allows.
    public static let longestRead = 4096
    /// The most values of one reliable write.
    public static let mostReliableWrites = 32

    struct Running: Sendable {
        var id: ProcedureID
        var procedure: GATTAnyProcedure
        /// The subscriptions that are removed when the procedure fails, and when it succeeds.
        var onFailure: Subscription?
        var onSuccess: Subscription?
        var requests = 0
        var started = Duration.zero
    }

    /// The limits in force.
    public let limits: Limits
    /// The subscriptions, recorded before the server is told, so that the first value counts.
    public internal(set) var subscriptions: [Subscription] = []

    var bearer: ATTBearer
    private var lastNumber: UInt64 = 0
    private var running: Running?
    private var waiting: [Running] = []
    private var events: [Event] = []
    var didAskForMTU = false

    /// A client on a fresh connection; an MTU outside 23 to 517 is moved to the nearer end.
    public init(localMTU: UInt16 = ATTBearer.largestUsefulMTU, limits: Limits = Limits()) {
        self.limits = limits
        bearer = ATTBearer(localMTU: localMTU, commandCapacity: limits.commands)
    }

    /// The longest PDU that either side may send now, in bytes.
    public var mtu: UInt16 { bearer.mtu }

    /// Set once, for ever: the link has to be closed.
    ///
    /// Every procedure has ended with this failure.
    public var failure: ATTBearer.Failure? { bearer.failure }

    /// The time at which `handleDeadline` must be called; nil while no answer is awaited.
    public var deadline: Duration? { bearer.deadline }

    /// The bearer's counts.
    public var counters: ATTBearer.Counters { bearer.counters }

    /// True when nothing runs and nothing waits to run.
    public var isIdle: Bool { running == nil && waiting.isEmpty }

    /// The next result; nil when there is none.
    public mutating func nextEvent() -> Event? {
        events.isEmpty ? nil : events.removeFirst()
    }

    /// Takes what the bearer has said of an arriving PDU and is nobody else's: lets the running procedure take its answer,
    /// and starts the next.
    mutating func take(_ reception: ATTBearer.Reception, now: Duration) -> Reception {
        switch reception {
        case .notification(let handle): return .notification(handle)
        case .indication(let handle): return .indication(handle)
        case .ignored: return .ignored
        case .answered, .request, .command, .confirmed: return .handled
        case .response(let pdu):
            advance(now, .response(pdu))
        case .errorResponse(let request, let handle, let error):
            advance(now, .refusal(GATTRefusal(request: request, named: request, handle: handle, error: error)))
        case .errorForAnotherRequest(let opcode, let expected, let handle, let error):
            let refusal = GATTRefusal(request: expected, named: opcode, handle: handle, error: error)
            advance(now, .refusal(refusal))
        case .failed: break
        }
        startNext(now)
        return .handled
    }

    /// Ends the bearer when an answer has been awaited too long.
    public mutating func handleDeadline(now: Duration) {
        bearer.handleDeadline(now: now)
        startNext(now)
    }

    /// Ends everything, because the link is gone or has to go: each procedure ends with the failure.
    public mutating func close() {
        bearer.close()
        startNext(.zero)
    }

    /// Puts a procedure behind those that wait, and runs it when it is the first.
    mutating func submit(
        _ procedure: GATTAnyProcedure,
        now: Duration,
        onFailure: Subscription? = nil,
        onSuccess: Subscription? = nil
    ) throws(GATTError) -> ProcedureID {
        if let failure { throw .bearer(failure) }
        let unfinished = (running == nil ? 0 : 1) &+ waiting.count &+ events.count
        guard unfinished < limits.procedures else { throw .queueFull(limit: limits.procedures) }
        lastNumber &+= 1
        let id = ProcedureID(number: lastNumber)
        waiting.append(Running(id: id, procedure: procedure, onFailure: onFailure, onSuccess: onSuccess))
        startNext(now)
        return id
    }

    private mutating func startNext(_ now: Duration) {
        if let failure {
            while running != nil || !waiting.isEmpty {
                if running == nil { running = waiting.removeFirst() }
                end(.failure(.bearer(failure)))
            }
            return
        }
        while running == nil, !waiting.isEmpty {
            running = waiting.removeFirst()
            running?.started = now
            advance(now, .beginning)
        }
    }

    /// Lets the running procedure take a step, and does what the step asks for.
    private mutating func advance(_ now: Duration, _ input: GATTProcedureInput) {
        guard var current = running else { return }
        do throws(GATTError) {
            let wanted = try current.procedure.step(input, mtu: Int(bearer.mtu))
            running = current
            switch wanted {
            case .finish(let outcome): end(.success(outcome))
            case .send(let pdu): try request(pdu, now)
            }
        } catch {
            end(.failure(error))
        }
    }

    private mutating func request(_ pdu: ATTPDU, _ now: Duration) throws(GATTError) {
        guard let current = running else { return }
        guard current.requests < limits.requests else { throw .tooManyRequests(limit: limits.requests) }
        guard now - current.started <= limits.procedureTime else { throw .tookTooLong(limit: limits.procedureTime) }
        do throws(ATTBearer.Refusal) {
            try bearer.send(pdu, now: now)
        } catch {
            throw GATTError(error)
        }
        running?.requests &+= 1
    }

    private mutating func end(_ result: Result<Outcome, GATTError>) {
        guard let ended = running else { return }
        running = nil
        let dropped: Subscription? =
            switch result {
            case .success: ended.onSuccess
            case .failure: ended.onFailure
            }
        if let dropped { subscriptions.removeAll { $0 == dropped } }
        events.append(Event(procedure: ended.id, result: result))
    }

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

extension GATTError {
    /// The bearer's fault as a procedure's error.
    init(_ refusal: ATTBearer.Refusal) {
        switch refusal {
        case .failed(let failure): self = .bearer(failure)
        case .busy, .notOurs: self = .queueFull(limit: 1)
        case .tooLong(_, let mtu): self = .valueTooLong(limit: max(0, Int(mtu) &- 3))
        case .queueFull: self = .queueFull(limit: 0)
        case .exchangedAlready: self = .exchangedAlready
        }
    }
}
