// SPDX-License-Identifier: GPL-2.0-or-later

import Devices
package import Texts

/// State machine that sends commands to a device one at a time, each with its reply and its time-out (BT-6).
///
/// A reply may be split across notifications, or share a notification with other bytes. Bytes before a reply are
/// skipped; bytes after the last reply are returned.
package struct ChatScript: Sendable {
    package static let mostCommands = 32
    /// Maximum number of buffered bytes, twice the maximum length of a notification.
    private static let mostBytes = 1024

    /// Error for a reply that was not received in time.
    package struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        package var command: Int
        /// Time limit of the last attempt.
        package var timeout: Duration
        /// Number of received bytes that were not part of the reply; their contents are not reported (D-6).
        package var otherBytes: Int

        package init(command: Int, timeout: Duration, otherBytes: Int) {
            self.command = command
            self.timeout = timeout
            self.otherBytes = otherBytes
        }

        /// Failure as one sentence for people.
        package var message: Message {
            let time = TimeText.text(timeout)
            return otherBytes == 0
                ? LinkFaultText.noReply.message("\(command)", time)
                : LinkFaultText.otherReply.message("\(command)", time, "\(otherBytes)")
        }

        /// Failure as one English sentence for logs.
        package var description: String { message.english }
    }

    package enum Step: Equatable, Sendable {
        /// Write these bytes, and then call `written`.
        case write([UInt8])
        /// Wait for input, or for the deadline.
        case wait
        /// Every command was answered; the bytes after the last reply are returned.
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
    /// Received bytes that may be the beginning of the reply.
    private var bytes: ArraySlice<UInt8> = []
    private var otherBytes = 0
    /// Time at which to call `handleDeadline`; nil while no command is running.
    package private(set) var deadline: Duration?

    package init(_ commands: [Command]) {
        self.commands = commands
    }

    package mutating func begin(now: Duration) -> Step {
        guard case .idle = state else { return .wait }
        return start(now)
    }

    /// Records that the bytes of the last `write` have been written.
    package mutating func written(now: Duration) -> Step {
        guard case .running(false, let isAnswered) = state else { return .wait }
        state = .running(isWritten: true, isAnswered: isAnswered)
        return advance(now)
    }

    /// Handles bytes from the device.
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
        // Bytes received before a command was sent cannot be its reply.
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

    /// Searches the received bytes for the reply, and drops bytes that cannot begin it.
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
        /// Permitted time-outs.
        package static let timeouts = Duration.milliseconds(10)...Duration.seconds(60)
        package static let mostAttempts = 10

        /// Bytes to write; nil if the device sends first.
        package var send: HexTemplate?
        /// Reply to wait for; nil to continue as soon as the bytes are written.
        package var expect: HexTemplate?
        /// Maximum duration of one attempt, from the start of the write to the end of the reply.
        package var timeout: Duration
        /// Maximum number of attempts; if all of them fail, so does the script.
        package var attempts: Int

        package init(send: HexTemplate?, expect: HexTemplate?, timeout: Duration = .seconds(2), attempts: Int = 1) {
            self.send = send
            self.expect = expect
            self.timeout = timeout
            self.attempts = attempts
        }
    }
}
