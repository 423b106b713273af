// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import LinuxIO
import SystemPackage
import Texts

/// Connection of a client to the control socket, which exchanges lines within limits on size and time.
///
/// Each line is answered before the next is read, and all other clients are served in between. A client that does not
/// follow events has `patience` after each answer to read the answer and send a whole line; otherwise, it is
/// disconnected, even if it has sent a part. A conversation ends with its last line, which closes the connection, or
/// when the client disconnects.
final class ControlConnection {
    let peer: LocalStream.Peer
    /// True once the client has requested events.
    private(set) var isFollowing = false

    /// Conversation in progress; nil if there is none.
    private var conversation: (any ControlConversation)?
    private let loop: EventLoop
    private let stream: LocalStream
    private let limits: ControlServer.Limits
    private let onLine: (ControlConnection, [UInt8]) -> Void
    private let onEnd: (ControlConnection) -> Void
    private var registration: EventLoop.Registration?
    private var interest: EventLoop.Readiness = .readable
    private let timer = LoopTimer()

    /// Bytes that have been read but not processed: less than one line plus one read buffer.
    ///
    /// A line that is too long is returned as a piece without a line end.
    private var input = LineSplitter(longestLine: ControlLine.mostBytes + 1, ends: .lineFeed)
    private var output: OutgoingBuffer
    /// Number of events skipped since the last event that was sent.
    private var missed = 0
    /// True while a line has been passed to `onLine` and has not been answered.
    private var isAnswering = false
    /// True if the client has closed its sending side.
    private var isInputOver = false
    /// True if the connection closes when the output has been flushed.
    private var isLeaving = false
    /// Timer for the next line, which fires after the loop has served all other clients.
    private let turn = LoopTimer()

    /// Starts reading.
    ///
    /// `onLine` receives each line, and must answer it with `answer`, `follow` or `converse`, immediately or later;
    /// `onEnd` is called once, after all other calls.
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
        // The output has room for the longest answer that a client accepts, and for the events queued before it.
        output = OutgoingBuffer(capacity: ControlClient.mostBytes + limits.streamBytes)
        registration = try loop.watch(self.stream.descriptor, for: interest) { [unowned self] readiness in
            ready(readiness)
        }
        startPatience()
    }

    /// Answers the pending line; `thenEnd` closes the connection afterwards.
    func answer(_ object: JSONObject, thenEnd: Bool = false) { answer(object.line, thenEnd: thenEnd) }

    func answer(_ line: [UInt8], thenEnd: Bool = false) {
        guard registration != nil else { return }
        isAnswering = false
        isLeaving = isLeaving || thenEnd
        startPatience()
        send(line)
    }

    /// Answers the request for events, and sends every event until the client disconnects.
    func follow(_ objects: [JSONObject]) {
        guard registration != nil else { return }
        isAnswering = false
        isFollowing = true
        stopPatience()
        input.removeAll()
        for object in objects { send(object.line) }
    }

    /// Answers the request for a conversation, and starts the conversation on this connection.
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

    /// Sends an event to a client that follows events, unless the client's queue is full.
    ///
    /// The next event that is sent then contains the number of skipped events.
    func publish(_ event: JSONObject) {
        guard isFollowing, registration != nil else { return }
        guard output.count < limits.streamBytes else {
            missed &+= 1
            return
        }
        var event = event
        if missed > 0 { event.add(ControlEvent.missedName, missed) }
        missed = 0
        send(event.line)
    }

    /// Disconnects the client.
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
        // Requests that a client sent before closing its sending side are still executed.
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
            // Input from a client that follows events is ignored.
            if !isFollowing { input.append(buffer.prefix(count)) }
            takeLine()
        } catch {
            end()
        }
    }

    /// Passes on the next line if one is complete and the last answer was flushed.
    private func takeLine() {
        guard registration != nil, !isAnswering, !isFollowing, !isLeaving, output.isEmpty else { return wait() }
        guard let line = input.next() else { return isInputOver ? end() : wait() }
        // A line that is too long is rejected, and the input after it cannot be parsed.
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
        // Disconnect a client that does not read fast enough.
        guard output.append(line) else { return end() }
        flush()
    }

    private func flush() {
        guard registration != nil else { return }
        do throws(Errno) {
            _ = try output.drain { bytes throws(Errno) in try stream.write(bytes) }
        } catch {
            // The client has disconnected.
            return end()
        }
        if output.isEmpty {
            if isLeaving, !isAnswering { return end() }
            if !isAnswering { takeLineLater() }
        }
        wait()
    }

    /// Registers for the events that are possible next; errors and hang-ups are always reported.
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
