// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Control
import Daemon
import Devices
import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Texts
import TextsSupport

/// Simulated daemon that answers requests as specified by the test.
final class ScriptedHandler: ControlHandler {
    /// Received requests.
    var requests: [ControlRequest] = []
    /// Returns the answer to a request; nil to store the reply for later.
    var answer: (ControlRequest) -> Result<JSONObject, CommandFailure>? = { request in
        var object = JSONObject()
        object.add("did", request.line)
        return .success(object)
    }
    /// Pending replies.
    var replies: [(Result<JSONObject, CommandFailure>) -> Void] = []
    var currentEvents: [JSONObject] = []
    /// Conversations that were started.
    var conversations: [ScriptedConversation] = []
    /// Called after each request.
    var onRequest: () -> Void = {}

    func handle(_ request: ControlRequest, reply: @escaping (Result<JSONObject, CommandFailure>) -> Void) {
        requests.append(request)
        if let result = answer(request) { reply(result) } else { replies.append(reply) }
        onRequest()
    }
}

extension ScriptedHandler {
    func conversation(for request: PairingRequest) throws(CommandFailure) -> any ControlConversation {
        guard conversations.allSatisfy(\.isOver) else { throw CommandFailure(.timeout, "busy") }
        let conversation = ScriptedConversation { [weak self] in self?.onRequest() }
        conversations.append(conversation)
        return conversation
    }
}

/// Conversation whose lines are sent by the test.
final class ScriptedConversation: ControlConversation {
    /// Sends a line.
    private(set) var say: (JSONObject, Bool) -> Void = { _, _ in }
    /// Lines received from the client.
    private(set) var heard: [String] = []
    private(set) var isCancelled = false
    private(set) var isOver = false
    private let onChange: () -> Void

    init(_ onChange: @escaping () -> Void) { self.onChange = onChange }

    func begin(_ say: @escaping (JSONObject, Bool) -> Void) {
        self.say = { [unowned self] line, isLast in
            isOver = isOver || isLast
            say(line, isLast)
        }
    }

    /// Accepts all lines except `bad`.
    func take(_ line: [UInt8]) throws(ControlFault) {
        let words = try ControlLine.words(line)
        heard.append(String(decoding: line, as: UTF8.self))
        onChange()
        if words == [Array("bad".utf8)] { _ = try ControlRequest(line: line) }
    }

    func cancel() {
        (isCancelled, isOver) = (true, true)
        onChange()
    }
}

/// Client of a control server on the same event loop.
final class ControlPeer {
    private let loop: EventLoop
    private let stream: LocalStream
    private var registration: EventLoop.Registration?
    private var rest: [UInt8] = []
    private var bytes: [UInt8] = []
    /// False for a client that does not read.
    private let isReading: Bool
    /// True once the server has closed the connection.
    private(set) var isClosed = false
    /// Number of bytes sent.
    private(set) var sent = 0
    /// Called after every event.
    var onChange: () -> Void = {}

    init(_ path: String, on loop: EventLoop, isReading: Bool = true) throws {
        self.loop = loop
        self.isReading = isReading
        stream = try LocalStream(connectingTo: path)
        registration = try loop.watch(stream.descriptor, for: isReading ? .readable : []) { [unowned self] readiness in
            ready(readiness)
        }
    }

    deinit { close() }

    /// Number of complete lines received, counted incrementally because conditions are checked after every event.
    private(set) var lineCount = 0
    /// Complete lines received.
    var lines: [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .map(String.init)
    }

    /// The lines as JSON values.
    var values: [JSONValue] { lines.compactMap { try? JSONValue(Array($0.utf8)) } }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        rest += bytes
        try write()
    }

    func finishWriting() throws { try stream.finishWriting() }

    /// Maximum number of bytes that the kernel buffers for the server, plus or minus one write (SO_SNDBUF).
    var sendBuffer: Int {
        var size: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(stream.descriptor.unownedNumber, SOL_SOCKET, SO_SNDBUF, &size, &length)
        return Int(size)
    }

    /// Reads everything that is available.
    func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isClosed {
            do throws(Errno) {
                guard case .done(let count) = try stream.descriptor.read(into: &buffer) else { return }
                bytes += buffer.prefix(count)
                lineCount += buffer.prefix(count).count { $0 == 0x0A }
                isClosed = count == 0
            } catch {
                isClosed = true
            }
        }
    }

    /// Closes the connection.
    func close() {
        if let registration { loop.unwatch(registration, stream.descriptor) }
        registration = nil
        shutdown(stream.descriptor.unownedNumber, Int32(SHUT_RDWR))
    }

    private func ready(_ readiness: EventLoop.Readiness) {
        if readiness.contains(.writable) { try? write() }
        if isReading || readiness.contains(.hangUp) { read() }
        if isClosed { close() }
        onChange()
    }

    private func write() throws {
        do throws(Errno) {
            while !rest.isEmpty, case .done(let count) = try stream.write(rest) {
                rest.removeFirst(count)
                sent += count
            }
        } catch {
            // The server has closed the connection; its earlier messages can still be read.
            rest = []
        }
        if let registration {
            var interest: EventLoop.Readiness = isReading ? .readable : []
            if !rest.isEmpty { interest.insert(.writable) }
            try loop.change(registration, stream.descriptor, to: interest)
        }
    }
}

/// Control server with its handler and clients on one event loop.
final class ControlBench {
    let directory: TestDirectory
    let loop: EventLoop
    let handler = ScriptedHandler()
    let server: ControlServer
    private var peers: [ControlPeer] = []
    private var condition: () -> Bool = { true }

    var path: String { directory("control") }

    init(allowsKeys: Bool = true, limits: ControlServer.Limits = ControlServer.Limits()) throws {
        directory = try TestDirectory()
        loop = try EventLoop()
        server = try ControlServer(
            at: directory("control"),
            allowsKeys: allowsKeys,
            limits: limits,
            on: loop,
            handler: handler
        )
        // The server cancels its conversations when it is released together with the bench.
        handler.onRequest = { [weak self] in self?.check() }
    }

    func connect(isReading: Bool = true) throws -> ControlPeer {
        let peer = try ControlPeer(path, on: loop, isReading: isReading)
        peer.onChange = { [unowned self] in check() }
        peers.append(peer)
        return peer
    }

    /// Runs the loop until a client or the handler meets the condition; returns false after `limit`.
    func run(until condition: @escaping () -> Bool, limit: Duration = .seconds(20)) throws -> Bool {
        if condition() { return true }
        self.condition = condition
        // The condition may have captured the bench.
        defer { self.condition = { true } }
        let timer = loop.schedule(at: MonotonicClock.now + limit) { [unowned self] in loop.stop() }
        try loop.run()
        loop.cancel(timer)
        return condition()
    }

    /// Runs the loop long enough for an unwanted event to occur.
    func run(for time: Duration) throws {
        _ = try run(until: { false }, limit: time)
    }

    private func check() {
        if condition() { loop.stop() }
    }
}
