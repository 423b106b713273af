// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import LinuxIO
import SystemPackage
package import Texts

/// Blocking client of the control socket, for commands.
package struct ControlClient: ~Copyable {
    /// Answer of the daemon: one line of JSON.
    package struct Answer: Sendable {
        /// Line as received, without its line feed.
        package var line: String
        /// Line for programs, without the `texts` members that clients use to translate messages.
        package var plainLine: String { value.withoutForms.text }
        package var value: JSONValue
    }

    /// Default time limit for an answer; slow requests set their own.
    package static let patience = Duration.seconds(10)
    package static let mostBytes = 1024 * 1024

    package let path: String
    private let stream: LocalStream
    private var input: LineSplitter

    /// Connects to the daemon at the first of these paths where one listens.
    ///
    /// `patience` limits the retries while the daemon's queue is full. Throws `noDaemon` if no daemon listens at any
    /// path, or, if connecting failed in another way, the error for the last such path.
    package init(at paths: [String], patience: Duration = ControlClient.patience) throws(CommandFailure) {
        var failure = CommandFailure.noDaemon
        for path in paths {
            do {
                stream = try ControlSocket.connect(to: path, patience: patience)
                // Set this after the last throwing call: Swift 6.2 destroys a property twice if it is set before one.
                self.path = path
                input = LineSplitter(longestLine: Self.mostBytes + 1, ends: .lineFeed)
                return
            } catch {
                let next = CommandFailure(reachingDaemon: path, error)
                if next.kind != .noDaemon { failure = next }
            }
        }
        throw failure
    }

    /// Process id of the daemon; nil if the kernel does not report it.
    package var process: Int32? { (try? stream.peer())?.process }

    /// Sends a request and waits for the answer; throws the error reported by the daemon.
    ///
    /// `patience` limits the wait; nil means no limit.
    package mutating func ask(
        _ request: ControlRequest,
        patience: Duration? = ControlClient.patience
    ) throws(CommandFailure) -> Answer {
        let line = request.line
        guard line.utf8.count <= ControlLine.mostBytes else {
            throw CommandFailure(.usage, ControlFaultText.tooLong, "\(ControlLine.mostBytes)")
        }
        let deadline = patience.map { MonotonicClock.now + $0 }
        try write(line + "\n", until: deadline)
        guard let answer = try next(until: deadline) else {
            throw CommandFailure(.inputOutput, ControlFaultText.closed)
        }
        guard answer.value["version"]?.integer == Int64(ControlRequest.version) else {
            throw CommandFailure(.unavailable, ControlFaultText.otherVersion)
        }
        guard answer.value["ok"]?.bool == true else { throw CommandFailure(answer: answer.value) }
        return answer
    }

    /// Waits for the next line of an event stream; returns nil at the end of the stream.
    package mutating func next(until deadline: Duration? = nil) throws(CommandFailure) -> Answer? {
        while true {
            if let answer = try received() { return answer }
            guard try read(until: deadline) else { return nil }
        }
    }

    /// Returns the next complete line that has been read; nil if there is none.
    private mutating func received() throws(CommandFailure) -> Answer? {
        guard let line = input.next() else { return nil }
        guard line.isLineEnd else {
            throw CommandFailure(.inputOutput, ControlFaultText.answerTooLong, "\(Self.mostBytes)")
        }
        do {
            return Answer(line: String(decoding: line.bytes, as: UTF8.self), value: try JSONValue(line.bytes))
        } catch {
            throw CommandFailure(.inputOutput, ControlFaultText.noJSON, "\(error)")
        }
    }

    /// Sends a line of a conversation, given without its line feed.
    mutating func say(_ line: String) throws(CommandFailure) {
        try write(line + "\n", until: MonotonicClock.now + Self.patience)
    }

    /// Calls `handler` on a loop whenever lines may be available.
    func watch(on loop: EventLoop, _ handler: @escaping () -> Void) throws(CommandFailure) -> EventLoop.Registration {
        do throws(Errno) {
            return try loop.watch(stream.descriptor, for: .readable) { _ in handler() }
        } catch {
            throw CommandFailure(.inputOutput, ControlFaultText.cannotWait, "\(error)")
        }
    }

    func unwatch(_ registration: EventLoop.Registration, on loop: EventLoop) {
        loop.unwatch(registration, stream.descriptor)
    }

    /// Passes the lines received so far to `handler`, without waiting; throws an error at the end of the connection.
    mutating func takeArrived(_ handler: (Answer) -> Void) throws(CommandFailure) {
        let count = try readArrived()
        while let answer = try received() { handler(answer) }
        if count == 0 { throw CommandFailure(.inputOutput, ControlFaultText.closed, kind: .noDaemon) }
    }

    /// Sleeps between two polls; throws an error as soon as the daemon disconnects.
    package mutating func rest(for time: Duration) throws(CommandFailure) {
        let deadline = MonotonicClock.now + time
        do throws(Errno) {
            // The daemon sends nothing without a request, so a readable connection means that it has disconnected.
            guard try stream.wait(for: .readable, until: deadline) else { return }
        } catch {
            throw CommandFailure(.inputOutput, ControlFaultText.cannotWait, "\(error)")
        }
        throw CommandFailure(.unavailable, ControlFaultText.ended)
    }

    /// Waits for more input; returns false at the end of the input.
    private mutating func read(until deadline: Duration?) throws(CommandFailure) -> Bool {
        while true {
            if let count = try readArrived() { return count > 0 }
            do throws(Errno) {
                guard try stream.wait(for: .readable, until: deadline) else { break }
            } catch {
                throw CommandFailure(.inputOutput, ControlFaultText.cannotRead, "\(error)")
            }
        }
        throw Self.noAnswer
    }

    /// Reads the available input and returns its length: 0 at the end of the input, nil if none is available yet.
    private mutating func readArrived() throws(CommandFailure) -> Int? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        do throws(Errno) {
            guard case .done(let count) = try stream.descriptor.read(into: &buffer) else { return nil }
            input.append(buffer.prefix(count))
            return count
        } catch {
            if error.recovery(of: .client) == .peerGone { return 0 }
            throw CommandFailure(.inputOutput, ControlFaultText.cannotRead, "\(error)")
        }
    }

    private func write(_ text: String, until deadline: Duration?) throws(CommandFailure) {
        var rest = OutgoingBuffer(capacity: text.utf8.count)
        _ = rest.append(text)
        do throws(Errno) {
            while try !rest.drain({ bytes throws(Errno) in try stream.write(bytes) }) {
                guard try stream.wait(for: .writable, until: deadline) else { break }
            }
        } catch {
            // The daemon may have sent a reason before it closed the connection; the caller reads it next.
            if error.recovery(of: .client) == .peerGone { return }
            throw CommandFailure(.inputOutput, ControlFaultText.cannotAsk, "\(error)")
        }
        guard rest.isEmpty else { throw Self.noAnswer }
    }

    private static let noAnswer = CommandFailure(.timeout, ControlFaultText.noAnswer)
}
