// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The commands of a host with their purposes, one under way at a time, and the signs of life of the controller.
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
        /// For a connection, which goes on whatever becomes of it.
        case optional(UInt16)
    }

    typealias Answer = (outcome: HCICommandQueue.Outcome, purpose: Purpose)

    /// The most commands that wait for the controller.
    static let capacity = 64
    /// More commands than all connections and attempts together can need: a controller that asks for more is given up.
    static let limit = 256

    private var queue = HCICommandQueue()
    private var waiting: [(command: HCICommand, purpose: Purpose)] = []
    /// The purpose of the command in the queue, which holds one at a time.
    private var current: Purpose?
    /// The optional commands that the controller left without an answer.
    private(set) var unanswered: Set<HCIOpcode> = []
    /// The time of the last packet from the controller, or of the last command to it.
    private var lastTalk = Duration.zero
    /// True from the question for a sign of life to its answer.
    private var isProbing = false

    var isAwaitingReset: Bool { queue.outstandingOpcode == .reset }
    /// True when only commands that nothing works without are taken.
    var isCrowded: Bool { waiting.count >= Self.capacity }
    var storedBytes: Int { waiting.reduce(0) { $0 &+ $1.command.parameters.count } }

    /// True while the controller has a command with this purpose, and has not answered it.
    func isUnderWay(_ purpose: Purpose) -> Bool { current == purpose && queue.outstandingOpcode != nil }

    /// Puts a command at the end; false when more than `limit` would wait.
    mutating func enqueue(_ command: HCICommand, _ purpose: Purpose) -> Bool {
        guard waiting.count < Self.limit else { return false }
        waiting.append((command, purpose))
        return true
    }

    /// One command at a time is under way, the scanner's included.
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
        // From here on the command's own time counts.
        if command != nil { noteTalk(now) }
        return command
    }

    /// Takes an event; returns the answer to the command under way if it is one.
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

    /// The time at which the command under way is given up, or a refused one is sent again.
    ///
    /// A command that waits for the answer to another one has no deadline of its own.
    func deadline(_ scanner: HostScanner) -> Duration? {
        if scanner.isWaitingForAnswer { return scanner.deadline }
        return queue.deadline ?? scanner.deadline
    }

    /// The time at which a silent controller is asked for a sign of life; nil while the answer is awaited.
    var probeTime: Duration? { isProbing ? nil : lastTalk + LowEnergyHost.silence }

    mutating func noteProbe() { isProbing = true }
}
