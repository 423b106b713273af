// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Commands on their way to a controller, in order, one at a time, each answered within two seconds or given up, Reset
/// within one and a half.
///
/// On a raw HCI socket the answers to the kernel's own commands are seen too: what does not belong to the outstanding
/// command is ignored, except for the number of commands that the controller takes. (An answer to the kernel's command
/// of the same opcode cannot be told from ours.)
///
/// Core 6.0, Vol 4, Part E, 4.4.
public struct HCICommandQueue: Sendable {
    /// The outcome of a command.
    public enum Outcome: Hashable, Sendable {
        /// Done. The return parameters begin with the status; they are empty after a Command Status.
        case completed(HCIOpcode, returnParameters: [UInt8])
        /// Refused. An answer that lacks its status counts as `unspecifiedError`.
        case failed(HCIOpcode, HCIStatus)
        /// Not answered within `timeout`, or `resetTimeout`.
        case timedOut(HCIOpcode)
    }

    /// The most commands that may wait.
    public static let capacity = 16
    /// The longest time that an answer may take, Reset's excepted.
    public static let timeout = Duration.seconds(2)
    /// The longest time that the answer to Reset may take.
    public static let resetTimeout = Duration.milliseconds(1500)

    private var waiting: [HCICommand] = []
    private var outstanding: (opcode: HCIOpcode, sentAt: Duration)?
    private var credits = 1
    private var stalledSince: Duration?

    /// An empty queue; the controller takes one command until it says otherwise.
    public init() {}

    /// The opcode of the command that was sent and not answered.
    public var outstandingOpcode: HCIOpcode? { outstanding?.opcode }

    /// The number of commands not sent yet.
    public var waitingCount: Int { waiting.count }

    /// When `expire` or `nextCommand` must be called again, if nothing happens before.
    public var deadline: Duration? {
        if let outstanding { return outstanding.sentAt + Self.patience(outstanding.opcode) }
        guard !waiting.isEmpty, let stalledSince else { return nil }
        return stalledSince + Self.timeout
    }

    /// Puts a command at the end; false, and nothing done, when `capacity` commands wait already.
    public mutating func enqueue(_ command: HCICommand) -> Bool {
        guard waiting.count < Self.capacity else { return false }
        waiting.append(command)
        return true
    }

    /// Forgets the commands that were not sent yet.
    public mutating func removeWaiting() {
        waiting.removeAll(keepingCapacity: true)
    }

    /// The command to send now, which counts as sent; nil while one is outstanding or the controller takes none.
    ///
    /// A controller that takes none for two seconds is asked all the same: the event that allows it may have been lost.
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

    /// Takes an event; returns the outcome if it answers the outstanding command.
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

    /// Gives the outstanding command up if its time is over, and returns that.
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
