// SPDX-License-Identifier: GPL-2.0-or-later

package import Configuration

/// Queue of commands to a connected device (BT-6); they are executed one after another.
///
/// Each command may expect a reply within a time-out. The queue is a pure state machine. The bytes of a reply are
/// removed from the received bytes; all other bytes are returned in order. Bytes that may begin a reply are held until
/// more bytes arrive or the time-out passes.
package struct CommandQueue: Sendable {
    /// Maximum number of commands, including the current one.
    package static let mostCommands = 32

    package enum Outcome: Equatable, Sendable {
        /// The command was answered; the bytes are the reply, and are empty if the command expects none.
        case answered([UInt8])
        /// The reply to the last attempt did not arrive in time.
        case unanswered
        case notWritten
        /// The link ended, before or after the command was written.
        case lost(isWritten: Bool)
    }

    /// The outcome of a command, and the command's number.
    package struct End: Equatable, Sendable {
        package var number: UInt64
        package var outcome: Outcome
    }

    /// Steps that the owner must perform, in this order.
    package struct Steps: Equatable, Sendable {
        /// Received bytes that are not part of a reply.
        package var others: [UInt8] = []
        package var ends: [End] = []
        /// Bytes to write; the owner must then call `written` or `notWritten`.
        package var write: [UInt8]?
    }

    private struct Running: Sendable {
        var number: UInt64
        var command: ChatScript.Command
        var attempt = 1
        var isWritten = false
        var reply: [UInt8]?
        var kept: ArraySlice<UInt8> = []
        var deadline: Duration
    }

    private var running: Running?
    private var waiting: [(number: UInt64, command: ChatScript.Command)] = []
    private var lastNumber: UInt64 = 0

    package init() {}

    /// True while the queue waits for a reply; during this time, received bytes must be passed to `receive`.
    package var isAwaiting: Bool { running.map { $0.command.expect != nil && $0.reply == nil } ?? false }

    /// Time at which `handleDeadline` must be called; nil while the queue does not wait for a reply.
    package var deadline: Duration? { isAwaiting ? running?.deadline : nil }

    /// Adds a command; returns the command's number and the steps to perform next, or nil if the queue is full.
    package mutating func add(_ command: ChatScript.Command, now: Duration) -> (number: UInt64, steps: Steps)? {
        guard waiting.count + (running == nil ? 0 : 1) < Self.mostCommands else { return nil }
        lastNumber &+= 1
        waiting.append((lastNumber, command))
        var steps = Steps()
        begin(&steps, now)
        return (lastNumber, steps)
    }

    package mutating func written(now: Duration) -> Steps {
        running?.isWritten = true
        var steps = Steps()
        advance(&steps, now)
        return steps
    }

    package mutating func notWritten(now: Duration) -> Steps {
        var steps = Steps()
        end(.notWritten, &steps, now)
        return steps
    }

    package mutating func receive(_ received: [UInt8], now: Duration) -> Steps {
        var steps = Steps()
        guard isAwaiting, let expected = running?.command.expect else {
            steps.others = received
            return steps
        }
        var bytes = (running?.kept ?? []) + received
        var memory = HexTemplate.Memory()
        search: while !bytes.isEmpty {
            switch expected.match(bytes, &memory) {
            case .partial: break search
            case .none: steps.others += [bytes.removeFirst()]
            case .whole(let count):
                running?.reply = Array(bytes.prefix(count))
                steps.others += bytes.dropFirst(count)
                bytes = []
            }
        }
        running?.kept = bytes
        advance(&steps, now)
        return steps
    }

    package mutating func handleDeadline(now: Duration) -> Steps {
        var steps = Steps()
        guard let deadline, now >= deadline, let running else { return steps }
        guard running.attempt < running.command.attempts else {
            end(.unanswered, &steps, now)
            return steps
        }
        steps.others = Array(running.kept)
        self.running?.kept = []
        self.running?.attempt += 1
        write(&steps, now)
        return steps
    }

    /// Ends all commands because the link has ended.
    ///
    /// Returns the commands' outcomes, in order, and the held bytes.
    package mutating func removeAll() -> Steps {
        var steps = Steps()
        if let running {
            steps.others = Array(running.kept)
            steps.ends.append(End(number: running.number, outcome: .lost(isWritten: running.isWritten)))
        }
        steps.ends += waiting.map { End(number: $0.number, outcome: .lost(isWritten: false)) }
        running = nil
        waiting = []
        return steps
    }

    private mutating func begin(_ steps: inout Steps, _ now: Duration) {
        guard running == nil, !waiting.isEmpty else { return }
        let (number, command) = waiting.removeFirst()
        running = Running(number: number, command: command, deadline: now)
        write(&steps, now)
    }

    private mutating func write(_ steps: inout Steps, _ now: Duration) {
        guard let command = running?.command else { return }
        running?.isWritten = false
        running?.deadline = now + command.timeout
        steps.write = command.send?.bytes() ?? []
    }

    private mutating func advance(_ steps: inout Steps, _ now: Duration) {
        guard let running, running.isWritten, !isAwaiting else { return }
        end(.answered(running.reply ?? []), &steps, now)
    }

    private mutating func end(_ outcome: Outcome, _ steps: inout Steps, _ now: Duration) {
        guard let running else { return }
        steps.others += running.kept
        steps.ends.append(End(number: running.number, outcome: outcome))
        self.running = nil
        begin(&steps, now)
    }
}
