// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Commands of a host with their purposes, one outstanding at a time, and the liveness of the controller.
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
        /// Command for a connection that does not depend on its success.
        case optional(UInt16)
    }

    typealias Answer = (outcome: HCICommandQueue.Outcome, purpose: Purpose)

    /// Maximum number of queued commands before optional ones are discarded.
    static let capacity = 64
    /// Maximum number of queued commands, more than all connections and attempts need; a controller that causes more
    /// fails.
    static let limit = 256

    private var queue = HCICommandQueue()
    private var waiting: [(command: HCICommand, purpose: Purpose)] = []
    /// Purpose of the command in the queue, which holds one command at a time.
    private var current: Purpose?
    /// Optional commands that the controller has left unanswered.
    private(set) var unanswered: Set<HCIOpcode> = []
    /// Time of the last packet from the controller, or of the last command to it.
    private var lastTalk = Duration.zero
    /// True from a liveness probe to its answer.
    private var isProbing = false

    var isAwaitingReset: Bool { queue.outstandingOpcode == .reset }
    /// True if the queue accepts only essential commands.
    var isCrowded: Bool { waiting.count >= Self.capacity }
    var storedBytes: Int { waiting.reduce(0) { $0 &+ $1.command.parameters.count } }

    /// Returns true while a command with this purpose is sent and not answered.
    func isUnderWay(_ purpose: Purpose) -> Bool { current == purpose && queue.outstandingOpcode != nil }

    /// Queues a command; returns false if `limit` would be exceeded.
    mutating func enqueue(_ command: HCICommand, _ purpose: Purpose) -> Bool {
        guard waiting.count < Self.limit else { return false }
        waiting.append((command, purpose))
        return true
    }

    /// Returns the next command, so that only one is outstanding, including the scanner's commands.
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
        // From now on the command's own time-out applies.
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

    /// Returns the time at which the outstanding command times out, or the scanner retries a refused one; nil for none.
    ///
    /// A command that waits for the answer to another one has no deadline of its own.
    func deadline(_ scanner: HostScanner) -> Duration? {
        if scanner.isWaitingForAnswer { return scanner.deadline }
        return queue.deadline ?? scanner.deadline
    }

    /// Time of the next liveness probe of a silent controller; nil while an answer is pending.
    var probeTime: Duration? { isProbing ? nil : lastTalk + LowEnergyHost.silence }

    mutating func noteProbe() { isProbing = true }
}
