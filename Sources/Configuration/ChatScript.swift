// SPDX-License-Identifier: GPL-2.0-or-later

import Devices
package import Texts

/// Commands to a device, strictly one after another, each with its reply and its time-out (BT-6), as a pure state machine.
///
/// A reply may be split over notifications, or share one with bytes that are not of it. Bytes before a reply are skipped;
/// those behind the last one are handed back.
package struct ChatScript: Sendable {
    package static let mostCommands = 32
    /// The most bytes that are kept while they are not looked at; a notification has at most half of it.
    private static let mostBytes = 1024

    /// A reply did not come in time.
    package struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        package var command: Int
        /// How long it was waited for, at the last attempt.
        package var timeout: Duration
        /// Bytes that came and were not the reply; what they were is nobody's business (D-6).
        package var otherBytes: Int

        package init(command: Int, timeout: Duration, otherBytes: Int) {
            self.command = command
            self.timeout = timeout
            self.otherBytes = otherBytes
        }

        /// The failure in one sentence, for people.
        package var message: Message {
            let time = TimeText.text(timeout)
            return otherBytes == 0
                ? LinkFaultText.noReply.message("\(command)", time)
                : LinkFaultText.otherReply.message("\(command)", time, "\(otherBytes)")
        }

        /// The failure in one English sentence, for logs.
        package var description: String { message.english }
    }

    package enum Step: Equatable, Sendable {
        /// Write these bytes, and call `written` when that is done.
        case write([UInt8])
        /// Wait for what comes, and for the deadline.
        case wait
        /// Every command has had its reply; what came behind the last one is handed back.
        case finished([UInt8])
        case failed(Failure)
    }

    private enum State: Sendable {
        case idle
        case running(isWritten: Bool, isAnswered: Bool)
        case ended
    }

    private let commands: [Command]
    private var index = 0
    private var attempt = 1
    private var state = State.idle
    private var memory: HexTemplate.Memory = [:]
    /// The bytes received that may be the beginning of the reply.
    private var bytes: ArraySlice<UInt8> = []
    private var otherBytes = 0
    /// When `handleDeadline` wants to be called; nil while no reply is waited for.
    package private(set) var deadline: Duration?

    package init(_ commands: [Command]) {
        self.commands = commands
    }

    package mutating func begin(now: Duration) -> Step {
        guard case .idle = state else { return .wait }
        return start(now)
    }

    /// The bytes of the last `write` are written.
    package mutating func written(now: Duration) -> Step {
        guard case .running(false, let isAnswered) = state else { return .wait }
        state = .running(isWritten: true, isAnswered: isAnswered)
        return advance(now)
    }

    /// Takes bytes that the device sent.
    package mutating func receive(_ received: [UInt8], now: Duration) -> Step {
        switch state {
        case .idle:
            keep(received)
            return .wait
        case .running:
            keep(received)
            search()
            return advance(now)
        case .ended: return .wait
        }
    }

    package mutating func handleDeadline(now: Duration) -> Step {
        guard let deadline, now >= deadline, index < commands.count else { return .wait }
        let command = commands[index]
        guard attempt < command.attempts else {
            state = .ended
            self.deadline = nil
            let others = otherBytes &+ bytes.count
            return .failed(Failure(command: index + 1, timeout: command.timeout, otherBytes: others))
        }
        attempt += 1
        return start(now)
    }

    private mutating func keep(_ received: [UInt8]) {
        let taken = received.prefix(max(0, Self.mostBytes - bytes.count))
        bytes += taken
        otherBytes &+= received.count - taken.count
    }

    private mutating func start(_ now: Duration) -> Step {
        guard index < commands.count else {
            state = .ended
            deadline = nil
            defer { bytes = [] }
            return .finished(Array(bytes))
        }
        let command = commands[index]
        let output = command.send.map { $0.bytes(memory) }
        deadline = now + command.timeout
        // Bytes that came before a command was sent are no reply to it.
        if output != nil {
            otherBytes &+= bytes.count
            bytes = []
        }
        state = .running(isWritten: output == nil, isAnswered: command.expect == nil)
        guard let output else {
            search()
            return advance(now)
        }
        return .write(output)
    }

    /// Looks for the reply in what came, and drops what cannot begin it.
    private mutating func search() {
        guard case .running(let isWritten, false) = state, index < commands.count,
            let expected = commands[index].expect
        else { return }
        while !bytes.isEmpty {
            switch expected.match(bytes, &memory) {
            case .partial: return
            case .none:
                bytes = bytes.dropFirst()
                otherBytes &+= 1
            case .whole(let count):
                bytes = bytes.dropFirst(count)
                state = .running(isWritten: isWritten, isAnswered: true)
                return
            }
        }
    }

    private mutating func advance(_ now: Duration) -> Step {
        guard case .running(true, true) = state else { return .wait }
        index += 1
        attempt = 1
        otherBytes = 0
        return start(now)
    }

    package struct Command: Hashable, Sendable {
        /// The shortest and the longest time-out.
        package static let timeouts = Duration.milliseconds(10)...Duration.seconds(60)
        package static let mostAttempts = 10

        /// The bytes to write; nil where the device speaks first.
        package var send: HexTemplate?
        /// The reply to wait for; nil to go on as soon as it is written.
        package var expect: HexTemplate?
        /// How long the reply may take.
        package var timeout: Duration
        /// How often it is written before the reply is given up.
        package var attempts: Int

        package init(send: HexTemplate?, expect: HexTemplate?, timeout: Duration = .seconds(2), attempts: Int = 1) {
            self.send = send
            self.expect = expect
            self.timeout = timeout
            self.attempts = attempts
        }
    }
}
