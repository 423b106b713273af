// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// ATT bearer without its transport: the rules of which side may send when, and of when the link has to be closed.
///
/// The owner passes every received PDU to `receive`, sends all PDUs that `nextOutgoing` returns, calls `handleDeadline`
/// at `deadline`, and closes the link once `failure` is set. At most one of our requests and one of our indications
/// await their answers, in separate slots; a peer that breaks the same rule ends the bearer. The queue is therefore
/// bounded, even if the peer stops reading.
///
/// The owner answers the peer's requests with `answer`, one at a time; malformed and unknown requests and the MTU
/// exchange are answered by the bearer. Core 6.0, Vol 3, Part F, 3.3.2 and 3.3.3.
public struct ATTBearer: Sendable {
    /// MTU of an LE bearer before an exchange (Core 6.0, Vol 3, Part G, 5.2.1).
    public static let defaultMTU: UInt16 = 23
    /// MTU that fits every PDU with the longest value: a prepared write of 512 bytes.
    public static let largestUsefulMTU: UInt16 = 517
    /// Time after which an unanswered transaction has failed (Core 6.0, Vol 3, Part F, 3.3.3).
    public static let transactionTimeout = Duration.seconds(30)

    /// Reason why a bearer has failed and its link has to be closed.
    public enum Failure: Error, Equatable, Sendable {
        /// Time-out of 30 seconds without an answer to the request or indication.
        case transactionTimeout(ATTOpcode)
        /// Answer to our request that cannot be parsed.
        case malformedResponse(DecodingError)
        case responseTooLong(count: Int, mtu: UInt16)
        /// Response or confirmation that was not expected, or not the expected one.
        case unexpectedPDU(ATTOpcode, expected: ATTOpcode?)
        /// Second request or indication of the peer before our answer to the first was sent.
        case notSequential(ATTOpcode)
        /// Bearer closed by the owner, or link disconnected.
        case closed
    }

    /// Reason why a PDU of ours was rejected.
    public enum Refusal: Error, Equatable, Sendable {
        case failed(Failure)
        /// Unfinished transaction of the same kind.
        case busy
        case tooLong(count: Int, mtu: UInt16)
        /// Too many queued commands.
        case queueFull
        case exchangedAlready
        /// PDU that is neither a request, command, notification nor indication, or not a response to the pending
        /// request.
        case notOurs(ATTOpcode)
    }

    /// Kind of a received PDU.
    public enum Reception: Equatable, Sendable {
        /// Request of the peer that the owner has to `answer`.
        case request(ATTPDU)
        /// Write Command of the peer.
        case command(ATTPDU)
        /// Request of the peer whose answer is queued.
        case answered
        case response(ATTPDU)
        case errorResponse(request: ATTOpcode, handle: AttributeHandle, error: ATTError)
        /// Error Response that names another request and ends ours, with unknown outcome.
        case errorForAnotherRequest(ATTOpcode, expected: ATTOpcode, handle: AttributeHandle, error: ATTError)
        /// Notification, or indication whose confirmation is queued.
        case value(ReceivedValue)
        case confirmed
        /// PDU without effect: empty, an unknown or signed command, or a PDU to be ignored.
        case ignored
        /// PDU that caused `failure`, or came after it.
        case failed
    }

    /// Counters for status and tests; each counter wraps.
    public struct Counters: Equatable, Sendable {
        /// Ignored PDUs, including values that were too long.
        public var ignored: UInt64 = 0
        /// PDUs longer than the MTU, and notifications and indications longer than this side's own MTU.
        public var tooLong: UInt64 = 0
        /// Notifications and indications longer than this side's own MTU, which were not delivered.
        public var tooLongValues: UInt64 = 0
        /// Requests of the peer that were answered, including errors.
        public var answered: UInt64 = 0
        /// Confirmed indications.
        public var confirmed: UInt64 = 0
        /// Error Responses that named another request than ours.
        public var misdirectedErrors: UInt64 = 0
    }

    struct Transaction: Sendable {
        var opcode: ATTOpcode
        var deadline: Duration
        /// False while the PDU is queued, when no answer can be valid.
        var isSent = false
    }

    /// MTU that this side announces: 23 to 517 bytes.
    public let localMTU: UInt16
    /// Maximum number of queued commands and notifications.
    public let commandCapacity: Int
    /// Maximum length of a PDU in either direction, in bytes.
    public private(set) var mtu: UInt16 = Self.defaultMTU
    /// Reason of the bearer's failure; once it is set, nothing more is sent or received.
    public internal(set) var failure: Failure?
    /// Counters since the bearer was created.
    public internal(set) var counters = Counters()

    /// Our request that awaits its response.
    var request: Transaction?
    /// Our indication that awaits its confirmation.
    var indication: Transaction?
    private var outgoing: [[UInt8]] = []
    private var commandsWaiting = 0
    /// True while a request of the peer is unanswered or its answer is queued.
    var isAnswering = false
    /// Request of the peer that the owner has not answered.
    public internal(set) var unanswered: ATTOpcode?
    var confirmationWaiting = false
    private var didRequestMTU = false
    /// True after the peer's MTU request, which is allowed once.
    var didAnswerMTU = false

    /// Creates a bearer for a new connection; an MTU outside 23 to 517 is clamped.
    public init(localMTU: UInt16 = Self.largestUsefulMTU, commandCapacity: Int = 64) {
        self.localMTU = min(max(localMTU, Self.defaultMTU), Self.largestUsefulMTU)
        self.commandCapacity = max(0, commandCapacity)
    }

    /// True if none of our requests awaits its response.
    public var canRequest: Bool { failure == nil && request == nil }

    /// True if none of our indications awaits its confirmation.
    public var canIndicate: Bool { failure == nil && indication == nil }

    /// True if there is room for a command or notification.
    public var canNotify: Bool { failure == nil && commandsWaiting < commandCapacity }

    /// Time at which `handleDeadline` must be called; nil while none of our transactions is pending.
    public var deadline: Duration? {
        guard failure == nil else { return nil }
        guard let first = request?.deadline else { return indication?.deadline }
        guard let second = indication?.deadline else { return first }
        return min(first, second)
    }

    /// Queues a request, command, notification or indication, and starts the time-out of its transaction.
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

    /// Queues the response, or the Error Response, to the peer's request.
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

    /// Returns the next PDU for the transport, in the order in which PDUs were queued; nil if there is none.
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

    /// Closes the bearer for an external reason.
    public mutating func close() {
        fail(.closed)
    }

    /// Records the first failure and discards all queued PDUs.
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

    /// Queues a confirmation; the caller ensures that none is queued.
    mutating func queueConfirmation() {
        outgoing.append(ATTPDU.handleValueConfirmation.encoded)
    }

    /// Applies the smaller MTU of the two sides; a value below 23 counts as 23 (Core 6.0, Vol 3, Part F, 3.4.2.2).
    mutating func agreeMTU(peer: UInt16) {
        mtu = max(Self.defaultMTU, min(localMTU, peer))
    }
}

extension ATTPDU {
    /// Returns true for the response to a request, or for an Error Response that names it.
    fileprivate func answers(_ request: ATTOpcode) -> Bool {
        if case .errorResponse(let refused, _, _) = self { return refused == request }
        return opcode == request.answer
    }
}

extension ATTBearer.Failure: CustomStringConvertible {
    /// One-line description for people.
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
