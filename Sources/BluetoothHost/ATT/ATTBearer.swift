// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Attribute Protocol (ATT) bearer without its transport: decides which PDUs may be sent, and when the link must be
/// closed.
///
/// The owner passes every received PDU to `receive`, sends all PDUs that `nextOutgoing` returns, calls `handleDeadline`
/// at `deadline`, and closes the link once `failure` is set. At most one of our requests and one of our indications can
/// be unanswered at a time. The same limits apply to the peer: if it exceeds them, the bearer fails, so the queue stays
/// bounded even if the peer stops reading.
///
/// The owner answers the peer's requests with `answer`, one at a time. The bearer itself answers malformed and unknown
/// requests and the MTU exchange. Core 6.0, Vol 3, Part F, 3.3.2 and 3.3.3.
public struct ATTBearer: Sendable {
    /// MTU of an LE bearer before the MTU exchange, in bytes (Core 6.0, Vol 3, Part G, 5.2.1).
    public static let defaultMTU: UInt16 = 23
    /// MTU that is large enough for any PDU, in bytes: the longest is a prepared write of 512 bytes.
    public static let largestUsefulMTU: UInt16 = 517
    /// Time after which an unanswered transaction fails (Core 6.0, Vol 3, Part F, 3.3.3).
    public static let transactionTimeout = Duration.seconds(30)

    /// Reason why a bearer failed and its link must be closed.
    public enum Failure: Error, Equatable, Sendable {
        /// The peer did not answer the request or indication within 30 seconds.
        case transactionTimeout(ATTOpcode)
        /// The answer to our request could not be parsed.
        case malformedResponse(DecodingError)
        case responseTooLong(count: Int, mtu: UInt16)
        /// The peer sent a response or confirmation while a different one, or none, was expected.
        case unexpectedPDU(ATTOpcode, expected: ATTOpcode?)
        /// The peer sent a second request or indication before we answered the first.
        case notSequential(ATTOpcode)
        /// The owner closed the bearer, or the link was disconnected.
        case closed
    }

    /// Reason why the bearer did not accept a PDU to send.
    public enum Refusal: Error, Equatable, Sendable {
        case failed(Failure)
        /// The previous request or indication is still unanswered.
        case busy
        case tooLong(count: Int, mtu: UInt16)
        /// The queue contains the maximum number of commands and notifications.
        case queueFull
        case exchangedAlready
        /// The PDU is not of a kind that `send` accepts, or it is not an answer to the peer's unanswered request.
        case notOurs(ATTOpcode)
    }

    /// Result of processing a received PDU.
    public enum Reception: Equatable, Sendable {
        /// The peer sent a request; the owner must `answer` it.
        case request(ATTPDU)
        /// The peer sent a Write Command.
        case command(ATTPDU)
        /// The peer sent a request that the bearer answered itself.
        case answered
        case response(ATTPDU)
        case errorResponse(request: ATTOpcode, handle: AttributeHandle, error: ATTError)
        /// The peer sent an Error Response that names another request; our request has ended with an unknown outcome.
        case errorForAnotherRequest(ATTOpcode, expected: ATTOpcode, handle: AttributeHandle, error: ATTError)
        /// The peer sent a notification, or an indication whose confirmation is queued.
        case value(ReceivedValue)
        case confirmed
        /// The PDU was ignored, for example because it is empty, or an unknown or signed command.
        case ignored
        /// The PDU caused `failure`, or was received after the failure.
        case failed
    }

    /// Counters for status output and tests; each counter wraps on overflow.
    public struct Counters: Equatable, Sendable {
        /// Number of ignored PDUs, including values that were too long.
        public var ignored: UInt64 = 0
        /// Number of PDUs longer than the MTU, and of notifications and indications longer than this side's own MTU.
        public var tooLong: UInt64 = 0
        /// Number of notifications and indications that were discarded because they were longer than this side's own
        /// MTU.
        public var tooLongValues: UInt64 = 0
        /// Number of the peer's requests that were answered, including with an error.
        public var answered: UInt64 = 0
        /// Number of confirmed indications.
        public var confirmed: UInt64 = 0
        /// Number of Error Responses that did not name our request.
        public var misdirectedErrors: UInt64 = 0
    }

    struct Transaction: Sendable {
        var opcode: ATTOpcode
        var deadline: Duration
        /// False while the PDU is queued; an answer received before the PDU is sent is invalid.
        var isSent = false
    }

    /// MTU that this side announces: 23 to 517 bytes.
    public let localMTU: UInt16
    /// Maximum number of queued commands and notifications.
    public let commandCapacity: Int
    /// Maximum length of a PDU in either direction, in bytes.
    public private(set) var mtu: UInt16 = Self.defaultMTU
    /// Reason why the bearer failed; a failed bearer sends and receives nothing.
    public internal(set) var failure: Failure?
    /// Counters since the bearer was created.
    public internal(set) var counters = Counters()

    /// Our unanswered request.
    var request: Transaction?
    /// Our unconfirmed indication.
    var indication: Transaction?
    private var outgoing: [[UInt8]] = []
    private var commandsWaiting = 0
    /// True while the peer's request is unanswered or the answer is queued.
    var isAnswering = false
    /// Opcode of the peer's request that the owner must still answer.
    public internal(set) var unanswered: ATTOpcode?
    var confirmationWaiting = false
    private var didRequestMTU = false
    /// True once the peer has requested the MTU exchange, which it may do only once.
    var didAnswerMTU = false

    /// Creates a bearer for a new connection; clamps the MTU to 23 … 517 bytes.
    public init(localMTU: UInt16 = Self.largestUsefulMTU, commandCapacity: Int = 64) {
        self.localMTU = min(max(localMTU, Self.defaultMTU), Self.largestUsefulMTU)
        self.commandCapacity = max(0, commandCapacity)
    }

    /// True if the bearer accepts a request: no previous request is unanswered.
    public var canRequest: Bool { failure == nil && request == nil }

    /// True if the bearer accepts an indication: no previous indication is unconfirmed.
    public var canIndicate: Bool { failure == nil && indication == nil }

    /// True if the queue has room for a command or notification.
    public var canNotify: Bool { failure == nil && commandsWaiting < commandCapacity }

    /// Time at which `handleDeadline` must be called; nil if no answer from the peer is pending.
    public var deadline: Duration? {
        guard failure == nil else { return nil }
        guard let first = request?.deadline else { return indication?.deadline }
        guard let second = indication?.deadline else { return first }
        return min(first, second)
    }

    /// Queues a request, command, notification or indication, and starts the time-out for its answer, if it has one.
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

    /// Queues our response or Error Response to the peer's request.
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

    /// Returns the next PDU to send, in the order in which they were queued; nil if the queue is empty.
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

    /// Fails the bearer if one of our transactions has timed out.
    public mutating func handleDeadline(now: Duration) {
        if let request, now >= request.deadline { fail(.transactionTimeout(request.opcode)) }
        if let indication, now >= indication.deadline { fail(.transactionTimeout(indication.opcode)) }
    }

    /// Closes the bearer at the owner's request or after a disconnection.
    public mutating func close() {
        fail(.closed)
    }

    /// Sets `failure` and discards all queued PDUs; does nothing if the bearer has already failed.
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

    /// Queues a confirmation; the caller must ensure that no other confirmation is queued.
    mutating func queueConfirmation() {
        outgoing.append(ATTPDU.handleValueConfirmation.encoded)
    }

    /// Sets the MTU to the smaller of the two sides' values, but to at least 23 (Core 6.0, Vol 3, Part F, 3.4.2.2).
    mutating func agreeMTU(peer: UInt16) {
        mtu = max(Self.defaultMTU, min(localMTU, peer))
    }
}

extension ATTPDU {
    /// Returns true if this PDU is the response to `request`, or an Error Response that names it.
    fileprivate func answers(_ request: ATTOpcode) -> Bool {
        if case .errorResponse(let refused, _, _) = self { return refused == request }
        return opcode == request.answer
    }
}

extension ATTBearer.Failure: CustomStringConvertible {
    /// Human-readable description in one line.
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
