// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Queue of a host's commands, each with its purpose; also checks that the controller still responds.
///
/// Only one command is outstanding at a time.
struct HostCommands: Sendable {
    enum Purpose: Hashable, Sendable {
        case initialise
        case advertise
        case connect
        case cancelConnection
        case disconnect(UInt16)
        case update(UInt16)
        case reply
        case probe
        case encrypt(UInt16)
        /// Optional command that improves the connection with this handle; it may fail.
        case optional(UInt16)
    }

    typealias Answer = (outcome: HCICommandQueue.Outcome, purpose: Purpose)

    /// Queue length at which optional commands and replies are discarded.
    static let capacity = 64
    /// Maximum number of queued commands, which exceeds the needs of all connections and attempts.
    ///
    /// If a controller causes more commands, the host fails.
    static let limit = 256

    private var queue = HCICommandQueue()
    private var waiting: [(command: HCICommand, purpose: Purpose)] = []
    /// Purpose of the command in `queue`, which holds only one command at a time.
    private var current: Purpose?
    /// Optional commands that the controller did not answer.
    private(set) var unanswered: Set<HCIOpcode> = []
    /// Time of the last packet from the controller or the last command to it, whichever is later.
    private var lastTalk = Duration.zero
    /// True while a liveness probe is unanswered.
    private var isProbing = false

    var isAwaitingReset: Bool { queue.outstandingOpcode == .reset }
    /// True if the queue accepts only essential commands.
    var isCrowded: Bool { waiting.count >= Self.capacity }
    var storedBytes: Int { waiting.reduce(0) { $0 &+ $1.command.parameters.count } }

    /// Returns true while a command with this purpose is unanswered.
    func isUnderWay(_ purpose: Purpose) -> Bool { current == purpose && queue.outstandingOpcode != nil }

    /// Queues a command; returns false if the queue already contains `limit` commands.
    mutating func enqueue(_ command: HCICommand, _ purpose: Purpose) -> Bool {
        guard waiting.count < Self.limit else { return false }
        waiting.append((command, purpose))
        return true
    }

    /// Returns the next command of the host or the scanner; nil while a command of either is unanswered.
    mutating func next(_ scanner: inout HostScanner, now: Duration) -> HCICommand? {
        guard queue.outstandingOpcode == nil, !scanner.isWaitingForAnswer else { return nil }
        if queue.waitingCount == 0, !waiting.isEmpty {
            let (command, purpose) = waiting.removeFirst()
            // The queue is empty, so there is room.
            if queue.enqueue(command) { current = purpose }
        }
        let own = queue.nextCommand(now: now)
        guard own != nil || queue.waitingCount == 0 else { return nil }
        let command = own ?? scanner.nextCommand(now: now)
        // The command's own time-out now applies instead of the liveness probe.
        if command != nil { noteTalk(now) }
        return command
    }

    /// Processes an event; returns the answer if the event answers the outstanding command.
    mutating func handle(_ event: borrowing HCIEvent, now: Duration) -> Answer? {
        answer(queue.handle(event, now: now))
    }

    mutating func expire(now: Duration) -> Answer? { answer(queue.expire(now: now)) }

    private mutating func answer(_ outcome: HCICommandQueue.Outcome?) -> Answer? {
        guard let outcome, let purpose = current else { return nil }
        current = nil
        if purpose == .probe { isProbing = false }
        return (outcome, purpose)
    }

    mutating func noteUnanswered(_ opcode: HCIOpcode) { unanswered.insert(opcode) }

    mutating func noteTalk(_ now: Duration) {
        lastTalk = now
    }

    /// Returns the time at which the outstanding command times out or the scanner retries a command; nil if neither is
    /// pending.
    ///
    /// A command that is queued behind an unanswered one has no deadline of its own.
    func deadline(_ scanner: HostScanner) -> Duration? {
        if scanner.isWaitingForAnswer { return scanner.deadline }
        return queue.deadline ?? scanner.deadline
    }

    /// Time at which a liveness probe must be sent if the controller stays silent; nil while a probe is unanswered.
    var probeTime: Duration? { isProbing ? nil : lastTalk + LowEnergyHost.silence }

    mutating func noteProbe() { isProbing = true }
}
