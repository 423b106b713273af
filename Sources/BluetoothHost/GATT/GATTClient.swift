// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Client side of one connection, without its transport: runs procedures one after another over the bearer, and reports
/// their results as events.
///
/// Because both roles share one bearer, the methods that receive and send also accept a `GATTServer`. If no server is
/// passed, a server without attributes answers the peer's requests.
///
/// The owner passes every received PDU to `receive`, sends all PDUs that `nextOutgoing` returns, processes all events
/// that `nextEvent` returns, calls `handleDeadline` at `deadline`, and closes the link once `failure` is set. Every
/// procedure ends, even if the server misbehaves: its requests, attributes, value bytes and time are limited, and the
/// server's handles must ascend. Core 6.0, Vol 3, Part G, 4.
public struct GATTClient: Sendable {
    /// Limits of the procedures and the queues.
    public struct Limits: Equatable, Sendable {
        /// Maximum number of requests that one procedure sends.
        public var requests = 1024
        /// Maximum number of attributes that one procedure collects.
        public var attributes = 512
        /// Time after which a procedure sends no more requests; its last request has its own time-out of 30 s.
        public var procedureTime = Duration.seconds(120)
        /// Maximum number of procedures that are queued, running, or finished with an unread result.
        public var procedures = 64
        /// Maximum number of queued commands.
        public var commands = 64

        /// Creates limits with the default values.
        public init() {}
    }

    /// Identifier of a procedure, unique on its connection.
    public struct ProcedureID: Hashable, Sendable {
        let number: UInt64
    }

    /// Result of a successful procedure.
    public enum Outcome: Equatable, Sendable {
        case mtu(UInt16)
        /// Primary services, in ascending order of handles.
        case services([GATTService])
        /// Included services, in ascending order of handles.
        case includedServices([GATTIncludedService])
        /// Characteristics, in ascending order of handles.
        case characteristics([GATTCharacteristic])
        /// Descriptors, in ascending order of handles.
        case descriptors([GATTDescriptor])
        case value([UInt8])
        /// Values that were read by their type, each truncated to 253 bytes.
        case values([ATTPDU.HandleValue])
        /// The write or subscription succeeded.
        case done
        /// The client receives values without having subscribed, because the characteristic has no client configuration
        /// descriptor.
        case listening
    }

    /// Event that reports the end of a procedure.
    public struct Event: Equatable, Sendable {
        /// Procedure that ended.
        public var procedure: ProcedureID
        /// Result of the procedure, or the reason why it failed.
        public var result: Result<Outcome, GATTError>
    }

    /// Result of processing a received PDU.
    public enum Reception: Equatable, Sendable {
        /// The PDU belonged to a procedure or a request; it may have caused a PDU to send, an event, or a failure.
        case handled
        /// The PDU was a value of any attribute, subscribed or not; if it was an indication, its confirmation is
        /// queued.
        case value(ReceivedValue)
        case ignored
    }

    /// Subscription to a characteristic's values.
    public struct Subscription: Hashable, Sendable {
        /// Handle of the characteristic's value.
        public var value: AttributeHandle
        /// Method by which the values are sent: notifications or indications.
        public var kind: GATTSubscriptionKind
    }

    /// Maximum length of an attribute value, in bytes (Core 6.0, Vol 3, Part F, 3.2.9).
    public static let longestValue = 512
    /// Maximum length of a value that is read, in bytes; it is greater than `longestValue` because some servers exceed
    /// the specification.
    public static let longestRead = 4096
    /// Maximum number of values in one reliable write.
    public static let mostReliableWrites = 32

    struct Running: Sendable {
        var id: ProcedureID
        var procedure: GATTAnyProcedure
        /// Subscription to remove if the procedure fails.
        var onFailure: Subscription?
        /// Subscription to remove if the procedure succeeds.
        var onSuccess: Subscription?
        var requests = 0
        var started = Duration.zero
    }

    /// Limits of the procedures and the queues.
    public let limits: Limits
    /// Current subscriptions; recorded before they are written to the server, so that the first value is not missed.
    public internal(set) var subscriptions: [Subscription] = []

    var bearer: ATTBearer
    private var lastNumber: UInt64 = 0
    private var running: Running?
    private var waiting: [Running] = []
    private var events: [Event] = []
    var didAskForMTU = false

    /// Creates a client for a new connection; clamps the MTU to 23 … 517 bytes.
    public init(localMTU: UInt16 = ATTBearer.largestUsefulMTU, limits: Limits = Limits()) {
        self.limits = limits
        bearer = ATTBearer(localMTU: localMTU, commandCapacity: limits.commands)
    }

    /// Maximum length of a PDU in either direction, in bytes.
    public var mtu: UInt16 { bearer.mtu }

    /// Reason why the link must be closed; nil if the bearer has not failed.
    ///
    /// The failure is permanent, and every procedure ends with it.
    public var failure: ATTBearer.Failure? { bearer.failure }

    /// Time at which `handleDeadline` must be called; nil if no response is pending.
    public var deadline: Duration? { bearer.deadline }

    /// Counters of the bearer.
    public var counters: ATTBearer.Counters { bearer.counters }

    /// True if no procedure is running or queued.
    public var isIdle: Bool { running == nil && waiting.isEmpty }

    /// Returns the next result, or nil if there is none.
    public mutating func nextEvent() -> Event? {
        events.isEmpty ? nil : events.removeFirst()
    }

    /// Processes a PDU that is not for the server: passes a response to the running procedure, and starts the next
    /// procedure.
    mutating func take(_ reception: ATTBearer.Reception, now: Duration) -> Reception {
        switch reception {
        case .value(let value): return .value(value)
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

    /// Fails the bearer if a response has timed out.
    public mutating func handleDeadline(now: Duration) {
        bearer.handleDeadline(now: now)
        startNext(now)
    }

    /// Ends every procedure with the bearer's failure, because the link is disconnected or must be closed.
    public mutating func close() {
        bearer.close()
        startNext(.zero)
    }

    /// Queues a procedure; starts it immediately if no other procedure is running.
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

    /// Advances the running procedure by one step, and carries out its next action.
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

    /// Processes a PDU received from a peer for which there is no server.
    ///
    /// Processing a notification takes only a few comparisons: it neither allocates memory nor reads the clock.
    public mutating func receive(_ bytes: Span<UInt8>, now: @autoclosure () -> Duration) -> Reception {
        let reception = bearer.receive(bytes, now: now())
        if case .value(let value) = reception, value.kind == .notifications { return .value(value) }
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

    /// Processes a PDU received from a peer that `server` serves.
    ///
    /// PDUs for the server are passed to it, and may cause server events.
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

    /// Returns the next PDU to send, or nil if the queue is empty.
    public mutating func nextOutgoing() -> [UInt8]? {
        bearer.nextOutgoing()
    }

    /// Returns the next PDU that the client or the server has to send, or nil if there is none.
    ///
    /// The server's notifications and indications stay in its own queue until all other PDUs have been sent.
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
            // This happens only if the MTU decreased after the request. The request must still be answered.
            guard let opcode = bearer.unanswered else { return }
            try? bearer.answer(.errorResponse(request: opcode, handle: .invalid, error: .unlikelyError))
        }
    }
}

extension GATTError {
    /// Converts the bearer's refusal to the error of a procedure.
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
