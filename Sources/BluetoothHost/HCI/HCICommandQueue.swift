// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Queue of commands to a controller, which are sent one at a time.
///
/// The time-out for an answer is 2 s, and 1.5 s for the answer to Reset.
///
/// A raw HCI socket also delivers the answers to the kernel's own commands. An answer that does not match the
/// outstanding command is therefore ignored; only its number of allowed commands is used. An answer to a kernel command
/// with the same opcode cannot be distinguished from the answer to ours.
///
/// Core 6.0, Vol 4, Part E, 4.4.
public struct HCICommandQueue: Sendable {
    /// Outcome of a command.
    public enum Outcome: Hashable, Sendable {
        /// The command succeeded; the return parameters start with the status, or are empty after a Command Status
        /// event.
        case completed(HCIOpcode, returnParameters: [UInt8])
        /// The controller rejected the command; an answer without a status counts as `unspecifiedError`.
        case failed(HCIOpcode, HCIStatus)
        /// The controller did not answer within `timeout`, or within `resetTimeout` for Reset.
        case timedOut(HCIOpcode)
    }

    /// Maximum number of queued commands.
    public static let capacity = 16
    /// Time-out for the answer to any command except Reset.
    public static let timeout = Duration.seconds(2)
    /// Time-out for the answer to Reset.
    public static let resetTimeout = Duration.milliseconds(1500)

    private var waiting: [HCICommand] = []
    private var outstanding: (opcode: HCIOpcode, sentAt: Duration)?
    private var credits = 1
    private var stalledSince: Duration?

    /// Creates an empty queue, which assumes that the controller accepts one command.
    public init() {}

    /// Opcode of the command that was sent but not yet answered; nil if there is none.
    public var outstandingOpcode: HCIOpcode? { outstanding?.opcode }

    /// Number of commands that are queued but not yet sent.
    public var waitingCount: Int { waiting.count }

    /// Time at which `expire` or `nextCommand` must be called if no event arrives before then; nil if there is no
    /// deadline.
    public var deadline: Duration? {
        if let outstanding { return outstanding.sentAt + Self.patience(outstanding.opcode) }
        guard !waiting.isEmpty, let stalledSince else { return nil }
        return stalledSince + Self.timeout
    }

    /// Queues a command; returns false and does nothing if `capacity` commands are already queued.
    public mutating func enqueue(_ command: HCICommand) -> Bool {
        guard waiting.count < Self.capacity else { return false }
        waiting.append(command)
        return true
    }

    /// Discards the commands that have not been sent yet.
    public mutating func removeWaiting() {
        waiting.removeAll(keepingCapacity: true)
    }

    /// Returns the next command and counts it as sent; nil while a command is outstanding or the controller does not
    /// accept one.
    ///
    /// If the controller has not accepted commands for two seconds, one is sent anyway, because the event that allows
    /// it may have been lost.
    public mutating func nextCommand(now: Duration) -> HCICommand? {
        guard outstanding == nil, !waiting.isEmpty else { return nil }
        if credits == 0 {
            let since = stalledSince ?? now
            stalledSince = since
            guard now - since >= Self.timeout else { return nil }
        }
        credits = max(0, credits &- 1)
        stalledSince = nil
        let command = waiting.removeFirst()
        outstanding = (command.opcode, now)
        return command
    }

    /// Processes an event; returns the outcome if the event answers the outstanding command.
    public mutating func handle(_ event: borrowing HCIEvent, now: Duration) -> Outcome? {
        switch event {
        case .commandComplete(let packets, let opcode, let parameters):
            note(packets, now)
            guard opcode == outstanding?.opcode, opcode != .none else { return nil }
            outstanding = nil
            guard !parameters.isEmpty else { return .failed(opcode, .unspecifiedError) }
            let status = HCIStatus(rawValue: parameters[0])
            guard status == .success else { return .failed(opcode, status) }
            return .completed(opcode, returnParameters: [UInt8](copying: parameters))
        case .commandStatus(let status, let packets, let opcode):
            note(packets, now)
            guard opcode == outstanding?.opcode, opcode != .none else { return nil }
            outstanding = nil
            guard status == .success else { return .failed(opcode, status) }
            return .completed(opcode, returnParameters: [])
        default: return nil
        }
    }

    /// Returns the outcome `timedOut` if the outstanding command has timed out; otherwise nil.
    public mutating func expire(now: Duration) -> Outcome? {
        guard let command = outstanding, now - command.sentAt >= Self.patience(command.opcode) else { return nil }
        outstanding = nil
        credits = max(credits, 1)
        return .timedOut(command.opcode)
    }

    private static func patience(_ opcode: HCIOpcode) -> Duration { opcode == .reset ? resetTimeout : timeout }

    private mutating func note(_ packets: UInt8, _ now: Duration) {
        credits = Int(packets)
        stalledSince = credits == 0 ? stalledSince ?? now : nil
    }
}
