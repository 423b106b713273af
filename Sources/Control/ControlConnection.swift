// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import LinuxIO
import SystemPackage
import Texts

/// One client of the control socket: lines in, lines out, within bounds of size and time.
///
/// A line is answered before the next is read, and the next one's turn comes after everybody else's. Until a client follows events, it has `patience` after each answer to send a
/// whole line and to take what was answered; then it is let go, whatever it has sent by then. A conversation ends with its
/// last line, which ends the connection, or with the connection.
final class ControlConnection {
    let peer: LocalStream.Peer
    /// True from the request for events on.
    private(set) var isFollowing = false

    /// The conversation that the client has begun; nil before and after it.
    private var conversation: (any ControlConversation)?
    private let loop: EventLoop
    private let stream: LocalStream
    private let limits: ControlServer.Limits
    private let onLine: (ControlConnection, [UInt8]) -> Void
    private let onEnd: (ControlConnection) -> Void
    private var registration: EventLoop.Registration?
    private var interest: EventLoop.Readiness = .readable
    private let timer = LoopTimer()

    /// The bytes that were read and not taken yet: less than a line and a buffer.
    ///
    /// A line that is too long comes as a piece without an end.
    private var input = LineSplitter(longestLine: ControlLine.mostBytes + 1, ends: .lineFeed)
    private var output: OutgoingBuffer
    /// The events that were left out since the last one that was not.
    private var missed = 0
    /// A line was handed on, and its answer is outstanding.
    private var isAnswering = false
    /// The client sends nothing more.
    private var isInputOver = false
    /// The connection ends once the output has gone.
    private var isLeaving = false
    /// The next line's turn, which comes when the loop has served everybody else.
    private let turn = LoopTimer()

    /// Begins to read.
    ///
    /// `onLine` takes each line and answers it with `answer` or `follow`, at once or later; `onEnd` is called once, and
    /// nothing after it.
    init(
        _ stream: consuming LocalStream,
        peer: LocalStream.Peer,
        limits: ControlServer.Limits,
        on loop: EventLoop,
        onLine: @escaping (ControlConnection, [UInt8]) -> Void,
        onEnd: @escaping (ControlConnection) -> Void
    ) throws(Errno) {
        self.stream = stream
        self.peer = peer
        self.limits = limits
        self.loop = loop
        self.onLine = onLine
        self.onEnd = onEnd
        // The longest answer that a client takes, and what waits of the events before it.
        output = OutgoingBuffer(capacity: ControlClient.mostBytes + limits.streamBytes)
        registration = try loop.watch(self.stream.descriptor, for: interest) { [unowned self] readiness in
            ready(readiness)
        }
        startPatience()
    }

    /// Answers the line that was handed on; with `thenEnd` as the last word.
    func answer(_ object: JSONObject, thenEnd: Bool = false) { answer(object.line, thenEnd: thenEnd) }

    func answer(_ line: [UInt8], thenEnd: Bool = false) {
        guard registration != nil else { return }
        isAnswering = false
        isLeaving = isLeaving || thenEnd
        startPatience()
        send(line)
    }

    /// Answers the request for events: the answer, then every event until the client goes.
    func follow(_ objects: [JSONObject]) {
        guard registration != nil else { return }
        isAnswering = false
        isFollowing = true
        stopPatience()
        input.removeAll()
        for object in objects { send(object.line) }
    }

    /// Answers the request for a conversation: the answer, then its lines, which the client answers.
    func converse(_ conversation: any ControlConversation, _ answer: JSONObject) {
        guard registration != nil else { return conversation.cancel() }
        isAnswering = false
        self.conversation = conversation
        stopPatience()
        send(answer.line)
        conversation.begin { [weak self] line, isLast in self?.say(line, isLast: isLast) }
    }

    private func say(_ line: JSONObject, isLast: Bool) {
        guard registration != nil else { return }
        if isLast {
            conversation = nil
            isLeaving = true
            startPatience()
        }
        send(line.line)
    }

    /// Sends an event to a client that follows them, unless too much waits: then the next that is sent says how many are
    /// missing.
    func publish(_ event: JSONObject) {
        guard isFollowing, registration != nil else { return }
        guard output.count < limits.streamBytes else {
            missed &+= 1
            return
        }
        var event = event
        if missed > 0 { event.add("missed", missed) }
        missed = 0
        send(event.line)
    }

    /// Lets the client go.
    func end() {
        guard let registration else { return }
        self.registration = nil
        stopPatience()
        turn.cancel()
        loop.unwatch(registration, stream.descriptor)
        let broken = conversation
        conversation = nil
        onEnd(self)
        broken?.cancel()
    }

    // MARK: In

    private func ready(_ readiness: EventLoop.Readiness) {
        if readiness.contains(.writable) { flush() }
        // The requests that a client has sent before it closed its end are still carried out.
        if isReading, !readiness.isDisjoint(with: [.readable, .hangUp]) { read() }
        if !isReading, !turn.isSet, !readiness.isDisjoint(with: [.hangUp, .error]) { end() }
    }

    private var isReading: Bool {
        !isInputOver && !isAnswering && !isLeaving && !turn.isSet && (isFollowing || output.isEmpty)
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: ControlLine.mostBytes)
        do throws(Errno) {
            guard case .done(let count) = try stream.descriptor.read(into: &buffer) else { return }
            isInputOver = count == 0
            // A client that follows events has nothing more to say.
            if !isFollowing { input.append(buffer.prefix(count)) }
            takeLine()
        } catch {
            end()
        }
    }

    /// Hands on the next line, if there is one and the last one's answer has gone.
    private func takeLine() {
        guard registration != nil, !isAnswering, !isFollowing, !isLeaving, output.isEmpty else { return wait() }
        guard let line = input.next() else { return isInputOver ? end() : wait() }
        // A line that is too long is refused by its length, and nothing behind it can be understood.
        isLeaving = !line.isLineEnd
        if let conversation { return hear(line.bytes, conversation) }
        isAnswering = true
        stopPatience()
        onLine(self, line.bytes)
        wait()
    }

    private func hear(_ line: [UInt8], _ conversation: any ControlConversation) {
        do throws(ControlFault) {
            try conversation.take(line)
        } catch {
            send(ControlServer.refusal(of: error))
        }
        guard registration != nil else { return }
        takeLineLater()
        wait()
    }

    private func takeLineLater() {
        guard !turn.isSet, !isFollowing else { return }
        turn.set(on: loop, at: .zero) { [unowned self] in
            takeLine()
        }
    }

    // MARK: Out

    private func send(_ line: [UInt8]) {
        // Nobody waits for more than fits.
        guard output.append(line) else { return end() }
        flush()
    }

    private func flush() {
        guard registration != nil else { return }
        do throws(Errno) {
            _ = try output.drain { bytes throws(Errno) in try stream.write(bytes) }
        } catch {
            // Whoever asked has gone.
            return end()
        }
        if output.isEmpty {
            if isLeaving, !isAnswering { return end() }
            if !isAnswering { takeLineLater() }
        }
        wait()
    }

    /// Waits for what can happen next; errors and the other end's going are always reported.
    private func wait() {
        guard let registration else { return }
        var next: EventLoop.Readiness = []
        if isReading { next.insert(.readable) }
        if !output.isEmpty { next.insert(.writable) }
        guard next != interest else { return }
        do throws(Errno) {
            try loop.change(registration, stream.descriptor, to: next)
            interest = next
        } catch {
            end()
        }
    }

    // MARK: Time

    private func startPatience() {
        stopPatience()
        timer.set(on: loop, after: limits.patience) { [unowned self] in
            end()
        }
    }

    private func stopPatience() {
        timer.cancel()
    }
}
