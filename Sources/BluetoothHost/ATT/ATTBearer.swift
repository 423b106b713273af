// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// One ATT bearer without its transport: the rules of who may send when, and of when the link has to be closed.
///
/// The owner passes every arriving PDU to `receive`, sends all that `nextOutgoing` returns, calls `handleDeadline` when
/// `deadline` has come, and closes the link once `failure` is set. At most one request and one indication of ours await
/// their answers, each in a slot of its own; a peer that breaks the same rule towards us ends the bearer. So what waits
/// to be sent is bounded, whether the peer reads or not.
///
/// Requests of the peer are for the owner to `answer`, one at a time; those that cannot be read or that nobody knows,
/// and the exchange of the MTU, are answered here. Core 6.0, Vol 3, Part F, 3.3.2 and 3.3.3.
public struct ATTBearer: Sendable {
    /// The MTU of a bearer on LE before an exchange (Core 6.0, Vol 3, Part G, 5.2.1).
    public static let defaultMTU: UInt16 = 23
    /// The MTU that carries every PDU with the longest value: a prepared write of 512 bytes.
    public static let largestUsefulMTU: UInt16 = 517
    /// The time after which a transaction without an answer has failed (Core 6.0, Vol 3, Part F, 3.3.3).
    public static let transactionTimeout = Duration.seconds(30)

    /// The reason why a bearer cannot be used any more; the link has to be closed.
    public enum Failure: Error, Equatable, Sendable {
        /// 30 seconds passed without an answer to the request or indication.
        case transactionTimeout(ATTOpcode)
        /// The answer to our request cannot be read.
        case malformedResponse(DecodingError)
        case responseTooLong(count: Int, mtu: UInt16)
        /// A response or confirmation came while another, or none, was due.
        case unexpectedPDU(ATTOpcode, expected: ATTOpcode?)
        /// The peer sent a second request or indication before our answer to the first had left.
        case notSequential(ATTOpcode)
        /// The owner closed the bearer, or the link is gone.
        case closed
    }

    /// The reason why a PDU of ours was not taken.
    public enum Refusal: Error, Equatable, Sendable {
        case failed(Failure)
        /// A transaction of this kind is not finished.
        case busy
        case tooLong(count: Int, mtu: UInt16)
        /// Too many commands wait to be sent.
        case queueFull
        case exchangedAlready
        /// The PDU is neither request, command, notification nor indication; or no response to what was asked.
        case notOurs(ATTOpcode)
    }

    /// The kind of an arriving PDU.
    public enum Reception: Equatable, Sendable {
        /// A request of the peer, which the owner has to `answer`.
        case request(ATTPDU)
        /// A Write Command of the peer.
        case command(ATTPDU)
        /// A request of the peer whose answer waits to be sent.
        case answered
        case response(ATTPDU)
        case errorResponse(request: ATTOpcode, handle: AttributeHandle, error: ATTError)
        /// The end of our request by an Error Response that names another one: what became of ours is not known.
        case errorForAnotherRequest(ATTOpcode, expected: ATTOpcode, handle: AttributeHandle, error: ATTError)
        /// A notification; its value begins at the PDU's byte 3.
        case notification(AttributeHandle)
        /// An indication, whose confirmation waits to be sent; its value begins at the PDU's byte 3.
        case indication(AttributeHandle)
        case confirmed
        /// A PDU without consequence: empty, an unknown or signed command, or one that is to be ignored.
        case ignored
        /// `failure` is set now, or was before.
        case failed
    }

    /// Counts for status and tests; each number wraps.
    public struct Counters: Equatable, Sendable {
        /// PDUs that were ignored, the values that were too long among them.
        public var ignored: UInt64 = 0
        /// PDUs longer than the MTU; notifications and indications longer than this side's own MTU.
        public var tooLong: UInt64 = 0
        /// Notifications and indications longer than this side's own MTU, which were not delivered.
        public var tooLongValues: UInt64 = 0
        /// Requests of the peer that were answered, errors included.
        public var answered: UInt64 = 0
        /// Indications that were confirmed.
        public var confirmed: UInt64 = 0
        /// Error Responses that named another request than ours.
        public var misdirectedErrors: UInt64 = 0
    }

    struct Transaction: Sendable {
        var opcode: ATTOpcode
        var deadline: Duration
        /// False while the PDU waits here; no answer can have come before.
        var isSent = false
    }

    /// The MTU that this side announces: 23 to 517 bytes.
    public let localMTU: UInt16
    /// The most commands and notifications that wait to be sent.
    public let commandCapacity: Int
    /// The longest PDU that either side may send now, in bytes.
    public private(set) var mtu: UInt16 = Self.defaultMTU
    /// Set once, for ever: nothing more is sent or heard.
    public internal(set) var failure: Failure?
    /// The counts so far.
    public internal(set) var counters = Counters()

    /// The request of ours that awaits its response.
    var request: Transaction?
    /// The indication of ours that awaits its confirmation.
    var indication: Transaction?
    private var outgoing: [[UInt8]] = []
    private var commandsWaiting = 0
    /// A request of the peer is unanswered, or its answer waits to be sent.
    var isAnswering = false
    /// The request of the peer that the owner has not answered.
    public internal(set) var unanswered: ATTOpcode?
    var confirmationWaiting = false
    private var didRequestMTU = false
    /// The peer has asked for our MTU, which it may do once.
    var didAnswerMTU = false

    /// A bearer on a fresh connection; an MTU outside 23 to 517 is moved to the nearer end.
    public init(localMTU: UInt16 = Self.largestUsefulMTU, commandCapacity: Int = 64) {
        self.localMTU = min(max(localMTU, Self.defaultMTU), Self.largestUsefulMTU)
        self.commandCapacity = max(0, commandCapacity)
    }

    /// True when no request of ours awaits its response.
    public var canRequest: Bool { failure == nil && request == nil }

    /// True when no indication of ours awaits its confirmation.
    public var canIndicate: Bool { failure == nil && indication == nil }

    /// True when there is room for a command or notification.
    public var canNotify: Bool { failure == nil && commandsWaiting < commandCapacity }

    /// The time at which `handleDeadline` must be called; nil while nothing of ours awaits an answer.
    public var deadline: Duration? {
        guard failure == nil else { return nil }
        guard let first = request?.deadline else { return indication?.deadline }
        guard let second = indication?.deadline else { return first }
        return min(first, second)
    }

    /// Takes a request, command, notification or indication of ours; its transaction begins now.
    public mutating func send(_ pdu: ATTPDU, now: Duration) throws(Refusal) {
        if let failure { throw .failed(failure) }
        let opcode = pdu.opcode
        let bytes = pdu.encoded
        guard bytes.count <= Int(mtu) else { throw .tooLong(count: bytes.count, mtu: mtu) }
        switch opcode.kind {
        case .request:
            guard request == nil else { throw .busy }
            if opcode == .exchangeMTURequest {
                guard !didRequestMTU else { throw .exchangedAlready }
                didRequestMTU = true
            }
            request = Transaction(opcode: opcode, deadline: now + Self.transactionTimeout)
        case .indication:
            guard indication == nil else { throw .busy }
            indication = Transaction(opcode: opcode, deadline: now + Self.transactionTimeout)
        case .command, .notification:
            guard commandsWaiting < commandCapacity else { throw .queueFull }
            commandsWaiting &+= 1
        case .response, .confirmation, nil:
            throw .notOurs(opcode)
        }
        outgoing.append(bytes)
    }

    /// Takes the response to the peer's request, or its refusal.
    public mutating func answer(_ pdu: ATTPDU) throws(Refusal) {
        if let failure { throw .failed(failure) }
        guard let unanswered, pdu.answers(unanswered) else { throw .notOurs(pdu.opcode) }
        let bytes = pdu.encoded
        guard bytes.count <= Int(mtu) else { throw .tooLong(count: bytes.count, mtu: mtu) }
        finishAnswer(bytes)
    }

    mutating func finishAnswer(_ bytes: [UInt8]) {
        unanswered = nil
        counters.answered &+= 1
        outgoing.append(bytes)
    }

    /// The next PDU for the transport, in the order in which PDUs were queued; nil when there is none.
    public mutating func nextOutgoing() -> [UInt8]? {
        guard failure == nil, !outgoing.isEmpty else { return nil }
        let bytes = outgoing.removeFirst()
        switch bytes.first.flatMap({ ATTOpcode(rawValue: $0).kind }) {
        case .response: isAnswering = false
        case .confirmation: confirmationWaiting = false
        case .command, .notification: commandsWaiting &-= 1
        case .request: request?.isSent = true
        case .indication: indication?.isSent = true
        case nil: break
        }
        return bytes
    }

    /// Ends the bearer when a transaction of ours has lasted too long.
    public mutating func handleDeadline(now: Duration) {
        if let request, now >= request.deadline { fail(.transactionTimeout(request.opcode)) }
        if let indication, now >= indication.deadline { fail(.transactionTimeout(indication.opcode)) }
    }

    /// Ends the bearer for a reason outside it.
    public mutating func close() {
        fail(.closed)
    }

    /// Records the first failure and drops every PDU that waits.
    mutating func fail(_ reason: Failure) {
        guard failure == nil else { return }
        failure = reason
        request = nil
        indication = nil
        outgoing = []
        commandsWaiting = 0
        isAnswering = false
        unanswered = nil
        confirmationWaiting = false
    }

    /// Queues a confirmation; the caller has made sure that none waits.
    mutating func queueConfirmation() {
        outgoing.append(ATTPDU.handleValueConfirmation.encoded)
    }

    /// Takes the smaller MTU of the two sides; one below 23 counts as 23 (Core 6.0, Vol 3, Part F, 3.4.2.2).
    mutating func agreeMTU(peer: UInt16) {
        mtu = max(Self.defaultMTU, min(localMTU, peer))
    }
}

extension ATTPDU {
    /// True for the response to a request, or an Error Response that names it.
    fileprivate func answers(_ request: ATTOpcode) -> Bool {
        if case .errorResponse(let refused, _, _) = self { return refused == request }
        return opcode == request.answer
    }
}

extension ATTBearer.Failure: CustomStringConvertible {
    /// One line for people.
    public var description: String {
        switch self {
        case .transactionTimeout(let opcode): "no answer to \(opcode)"
        case .malformedResponse(let error): "\(error)"
        case .responseTooLong(let count, let mtu): "response of \(count) bytes, MTU \(mtu)"
        case .unexpectedPDU(let opcode, let expected):
            "unexpected \(opcode)" + (expected.map { ", expected \($0)" } ?? "")
        case .notSequential(let opcode): "\(opcode) before the answer to the one before"
        case .closed: "closed"
        }
    }
}
